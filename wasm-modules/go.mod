module wasm-modules

go 1.21
