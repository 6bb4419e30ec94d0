"""The scenario's schema: one topic a file; `python -m frontend.schema` writes the JSON Schema."""

from frontend.schema.scenario import Scenario

__all__ = ["Scenario"]
