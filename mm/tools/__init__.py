"""What a tool is, and how each kind of tool runs."""
