"""A key with a value of another type is refused in a sentence, whichever key it is."""

from __future__ import annotations

from copy import deepcopy
from pathlib import Path
from typing import TYPE_CHECKING, Any

from frontend import ScenarioError, load_scenario
from frontend.schema.files import read_yaml

if TYPE_CHECKING:
    from collections.abc import Iterator

SCENARIOS = Path(__file__).parents[2] / "scenarios"

OTHERS: tuple[Any, ...] = ({"x": 1}, [[]], -1.5, True)


def paths(node: Any, above: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """Yield the path of each key and of each item of a list."""
    items = node.items() if isinstance(node, dict) else enumerate(node)
    for key, value in items:
        yield (*above, key)
        if isinstance(value, dict | list):
            yield from paths(value, (*above, key))


def with_value(content: dict[str, Any], path: tuple[Any, ...], value: Any) -> dict[str, Any]:
    changed = deepcopy(content)
    block: Any = changed
    for key in path[:-1]:
        block = block[key]
    block[path[-1]] = value
    return changed


def test_no_key_takes_a_value_of_another_type_by_surprise() -> None:
    seen, refused = set(), 0
    for file in sorted(SCENARIOS.glob("*.yaml")):
        content = read_yaml(file.read_text())
        kinds = str([content.get(block, {}).get("kind") for block in ("topology", "workload")])
        for path in paths(content):
            key = (kinds, *("item" if isinstance(part, int) else part for part in path))
            if key in seen:
                continue
            seen.add(key)
            for value in OTHERS:
                try:
                    load_scenario(with_value(content, path, value))
                except ScenarioError:
                    refused += 1
    assert refused > 0.8 * len(OTHERS) * len(seen)
