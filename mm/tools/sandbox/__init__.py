"""How a wasm module runs: engine, host functions, one call, and what is said about it."""
