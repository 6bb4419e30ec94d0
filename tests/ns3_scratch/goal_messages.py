"""A workload of given messages, as GOAL."""

from __future__ import annotations

from pathlib import Path
from typing import Any


def messages(folder: Path, ranks: int, sends: list[tuple[int, int, int]]) -> dict[str, Any]:
    """Return a workload in which ranks send messages at once: source, target and bytes of each."""
    lines = [f"num_ranks {ranks}"]
    for rank in range(ranks):
        lines.append(f"rank {rank} {{")
        for number, (source, target, size) in enumerate(sends):
            if source == rank:
                lines.append(f"s{number}: send {size}b to {target} tag {number}")
            if target == rank:
                lines.append(f"r{number}: recv {size}b from {source} tag {number}")
        lines.append("}")
    file = folder / "messages.goal"
    file.write_text("\n".join(lines) + "\n")
    return {"kind": "goal", "file": str(file)}
