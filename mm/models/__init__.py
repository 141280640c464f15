"""How to ask a model. Knows tools only as offers."""
