"""The tools that mm implements itself, one topic a file."""
