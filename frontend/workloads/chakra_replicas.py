"""Copies of the traced ranks that train with other data: a small trace stands for a large job.

Copy q of rank i is rank q·n + i of n traced ranks. A group over which gradients are reduced grows:
it has the members of all copies. Every other group is there once for each copy, and messages stay
inside a copy. All collectives of a group that grows keep their buffers: gradients and weights are
as large, and each rank sends as much in an all-to-all. So do the durations of all computations, as
each copy has as many samples.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace

import numpy as np

from frontend.errors import ScenarioError
from frontend.formats.chakra.collectives import Matching
from frontend.nodes import NodeColumns, NodeType
from frontend.workloads.plan import Issue, Ranks

_GROWS = re.compile(r"(?i)(?<![a-z])(default|world|data|dp|ddp|fsdp|hsdp)(?![a-z])")
"""Words in the description of a group of data parallelism: PyTorch, Megatron-LM, torchtitan."""


def growing(
    matching: Matching, described: Sequence[Mapping[str, str]], named: Collection[str] | None
) -> set[int]:
    """Return the groups that grow with the copies, by their index in `matching.groups`.

    Parameters
    ----------
    matching : Matching
        The collectives of the traced ranks.
    described : sequence of mapping
        For each rank, what it says of groups (`pg_desc`), by name.
    named : collection of str, optional
        The names of the groups that grow; None: go by the descriptions. The group of all ranks,
        which has no name, grows then.

    Raises
    ------
    ScenarioError
        The traces do not say enough: a group has no description, no group has one of these names,
        or none grows.
    """
    names = {name or "0" for name, _ in matching.groups}
    if named is not None and (unknown := sorted(set(named) - names)):
        raise ScenarioError(
            f"workload.data_groups: value {unknown[0]}: expected process groups with collectives, "
            f"which are {', '.join(sorted(names)) or 'none'}"
        )
    found = set()
    for number, (name, ranks) in enumerate(matching.groups):
        text = described[ranks[0]].get(name, "" if name else "default")
        if named is None and not text:
            raise ScenarioError(
                f"workload.data_groups: value null: expected the process groups that reduce "
                f"gradients, as the traces do not describe group {name} of rank {ranks[0]}"
            )
        if (_GROWS.search(text) is not None) if named is None else ((name or "0") in named):
            found.add(number)
    if not found:
        raise ScenarioError(
            "workload.replicas: expected 1, because no process group of the traces reduces "
            "gradients: copies would have nothing to do with each other"
        )
    return found


def with_copies(
    issues: Sequence[Issue], grows: Sequence[bool], ranks: int, replicas: int
) -> list[Issue]:
    """Return the collectives of all copies.

    Parameters
    ----------
    issues : sequence of Issue
        The collectives of the traced ranks.
    grows : sequence of bool
        Whether the group of each grows.
    ranks, replicas : int
        Number of traced ranks, and of copies.
    """
    made = []
    for issue, larger in zip(issues, grows, strict=True):
        own = issue.ranks or tuple(range(ranks))
        every = tuple(copy * ranks + rank for copy in range(replicas) for rank in own)
        size = issue.bytes
        if larger and issue.operation == "barrier":
            size *= replicas  # a byte for each rank
        whole = larger and issue.ranks is None
        made.append(
            issue._replace(
                bytes=size, ranks=None if whole else every, groups=1 if larger else replicas
            )
        )
    return made


def of_all_copies(
    rank: int, nodes: NodeColumns, ranks: int, replicas: int
) -> tuple[Ranks, NodeColumns]:
    """Return the ranks that do what a traced rank does, and their nodes.

    Parameters
    ----------
    rank, nodes : int, NodeColumns
        The traced rank, and its nodes.
    ranks, replicas : int
        Number of traced ranks, and of copies.
    """
    every = ranks * replicas
    message = (nodes.type == NodeType.SEND) | (nodes.type == NodeType.RECV)
    distance = (nodes.peer.astype(np.int64) - rank) % every
    peer = np.where(message, distance, 0).astype(np.uint32)
    return tuple(range(rank, every, ranks)), replace(nodes, peer=peer, peer_modulus=every)
