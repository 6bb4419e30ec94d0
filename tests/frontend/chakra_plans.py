"""Reads small Chakra traces as plans, nodes, or a sentence that refuses them."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from frontend import load_scenario
from frontend.errors import ScenarioError
from frontend.nodes import NodeColumns
from frontend.resolve import resolve
from frontend.workloads import Plan
from tests.frontend.chakra_files import Rank
from tests.frontend.chakra_files import scenario as made


def plan(folder: Path, ranks: list[Rank], **changes: Any) -> Plan:
    return resolve(load_scenario(made(folder, ranks, **changes))).plan


def nodes(folder: Path, ranks: list[Rank], rank: int = 0, **changes: Any) -> NodeColumns:
    return plan(folder, ranks, **changes).tables[rank][1]


def refusal(folder: Path, ranks: list[Rank], **changes: Any) -> str:
    with pytest.raises(ScenarioError) as error:
        plan(folder, ranks, **changes)
    sentence = str(error.value)
    assert "\n" not in sentence
    return sentence


def two(build: Callable[[Rank, int], Any], **settings: Any) -> list[Rank]:
    """Return two ranks that a function builds."""
    ranks = [Rank(**settings), Rank(**settings)]
    for number, rank in enumerate(ranks):
        build(rank, number)
    return ranks


def pair(**values: Any) -> list[Rank]:
    """Return a rank that sends, and one that receives."""
    ranks = [Rank(), Rank()]
    ranks[0].send(1, 64, **values)
    ranks[1].receive(0, 64)
    return ranks


def collectives(*sizes: list[int], **values: Any) -> list[Rank]:
    ranks = [Rank() for _ in sizes]
    for rank, own in zip(ranks, sizes, strict=True):
        for size in own:
            rank.collective("all_reduce", size, **values)
    return ranks
