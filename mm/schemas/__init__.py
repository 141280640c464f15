"""JSON Schema: references, wire names, validation, and schemas told in words."""
