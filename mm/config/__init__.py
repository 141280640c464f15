"""What the user wrote: the agent file, read and checked."""
