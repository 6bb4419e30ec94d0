"""The parts of a scenario as pydantic models: one topic a file. They hold what the file says."""
