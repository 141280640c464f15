"""What was said: stored, paired, searched, resumed."""
