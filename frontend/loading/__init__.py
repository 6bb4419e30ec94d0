"""Read a scenario: YAML with line numbers, overrides, and one sentence for each error."""
