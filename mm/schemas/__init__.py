"""JSON Schema: references, wire names, validation and the conversion rule."""
