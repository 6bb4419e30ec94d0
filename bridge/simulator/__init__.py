"""One run: the compiled simulator, `run`, `compile` and `replay`, `Network`, and hooks."""
