"""MCP servers to test with, each run as a process of its own."""
