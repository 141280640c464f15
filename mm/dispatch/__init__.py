"""The journey of one tool call, one file a step."""
