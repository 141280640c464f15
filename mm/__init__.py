"""mm: an agent for the terminal that turns programs you already have into typed tools for a language model."""

__version__ = "0.1.0"
