"""Reading a scenario: YAML with line numbers, overrides, and one sentence for an error."""
