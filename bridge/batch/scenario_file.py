"""The file in which a search writes the scenario that it found."""

from __future__ import annotations

from io import StringIO
from typing import Any

from ruamel.yaml import YAML
from ruamel.yaml.comments import CommentedSeq

SCENARIO_FILE = "scenario.yaml"


def scenario_yaml(data: dict[str, Any]) -> bytes:
    """Return a scenario as YAML, with mappings as blocks and lists on one line."""
    yaml = YAML()
    yaml.width = 100
    stream = StringIO()
    yaml.dump(_laid_out(data), stream)
    return stream.getvalue().encode()


def _laid_out(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _laid_out(item) for key, item in value.items()}
    if isinstance(value, list):
        line = CommentedSeq(map(_laid_out, value))
        line.fa.set_flow_style()
        return line
    return value
