"""Choose the algorithm of a collective by its size, its group and its network.

The candidates are those between which NCCL chooses: ring and trees for reductions, all ranks at
once where a scale-up switch joins them, the switches where these reduce, and point-to-point
messages for an all-to-all. NCCL adds the latency of the steps to the bytes over the bandwidth, and
takes the algorithm with the least time. So does this module, with the latency and the rate of the
paths between neighbours.

Source: S. Jeaugey, "Massively scale your deep learning training with NCCL 2.4", NVIDIA (2019);
R. Thakur, R. Rabenseifner, W. Gropp, "Optimization of collective communication operations in
MPICH", Int. J. High Performance Computing Applications 19 (2005).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from frontend.collectives.algorithms.double_binary_tree import filling
from frontend.collectives.algorithms.in_network import estimate_ps
from frontend.collectives.program.composition import AnyProgram
from frontend.collectives.program.program import CollectiveError, lengths
from frontend.collectives.registry import ALGORITHMS, OPERATIONS, Algorithm, segments_of
from frontend.collectives.setting import Setting

_PS_BITS = 8 * 10**12  # picoseconds of a byte at 1 bit/s

CANDIDATES: dict[str, tuple[str, ...]] = {
    "all_reduce": ("ring", "dbt", "direct", "hierarchical_optimal"),
    "reduce_scatter": ("ring", "direct", "hierarchical"),
    "all_gather": ("ring", "direct", "hierarchical"),
    "all_to_all": ("direct",),
    "broadcast": ("ring", "dbt"),
    "reduce": ("ring", "dbt"),
    "gather": ("direct",),
    "scatter": ("direct",),
    "barrier": ("dissemination",),
}
"""The algorithms that are compared for each operation; of equal times, the first is taken."""


def _candidates(setting: Setting) -> tuple[str, ...]:
    """Return the algorithms that are compared: NCCL's tuner compares its own."""
    if setting.given.tuning == "nccl" and setting.operation in ALGORITHMS["nccl"].operations:
        return ("nccl",)
    return CANDIDATES[setting.operation]


class _Hop(NamedTuple):
    """The slowest path between neighbours of a group."""

    latency_ps: float
    rate_bps: int

    def time_ps(self, steps: float, size: float) -> float:
        """Return the time of `steps` messages one after the other, and of `size` bytes."""
        return steps * self.latency_ps + size * _PS_BITS / self.rate_bps


def _hop(setting: Setting, ranks: Sequence[int]) -> _Hop:
    network, members = setting.network(), np.asarray(ranks, np.int64)
    paths = network.paths(members, np.roll(members, -1))
    hops = lengths(paths.begin)
    path = np.repeat(np.arange(hops.size), hops)
    latency = np.bincount(path, network.latency_ps[paths.links], hops.size).max()
    rate = int(network.rate_bps[paths.links].min(initial=2**62))
    return _Hop(float(latency) + setting.hop_ps, rate)


def _at_once(setting: Setting, hop: _Hop) -> _Hop:
    """Return the latency, and the rate of a member that sends to all others at the same time."""
    network, members = setting.network(), np.asarray(setting.ranks, np.int64)
    others = members[1:]
    paths = network.paths(np.full(others.size, members[0]), others)
    links, shares = np.unique(paths.links, return_counts=True)
    slowest = float((shares / network.rate_bps[links]).max(initial=0)) or 1 / hop.rate_bps
    return _Hop(hop.latency_ps, round(others.size / slowest))


def _share(setting: Setting, hops: int, trees: int = 2) -> float:
    """Return the part of the data that a segment has, in a pipeline that some hops fill."""
    given, chunks = setting.given.segments, setting.chunks
    return 1 / chunks / segments_of(given, chunks, setting.chunk_bytes, trees, filling=hops)


def _times(setting: Setting) -> dict[str, float]:
    """Return the estimated time of each candidate in picoseconds, without contention."""
    size = len(setting.ranks)
    data = float(setting.chunks * setting.chunk_bytes)
    hop = _hop(setting, setting.ranks)
    shards = data * (size - 1) / size
    depth = filling(size)
    part = data * _share(setting, depth)
    link = data * _share(setting, size - 2, trees=1)
    at_once = _at_once(setting, hop)
    whole = {
        "ring": hop.time_ps(2 * (size - 1), 2 * shards),
        "dbt": hop.time_ps(2 * depth, 2 * data + 2 * depth * part),
        "direct": at_once.time_ps(2, 2 * shards),
    }
    shard = {"ring": hop.time_ps(size - 1, shards), "direct": at_once.time_ps(1, shards)}
    local = _local_size(setting)
    if local is not None:
        inside = replace(setting, ranks=setting.ranks[:local])
        up = _at_once(inside, _hop(inside, inside.ranks))
        out = _hop(setting, setting.ranks[::local])
        far = filling(size // local)
        shard_part = data * _share(replace(setting, chunk_bytes=setting.chunk_bytes // local), far)
        whole["hierarchical_optimal"] = up.time_ps(2, 2 * data * (local - 1) / local) + out.time_ps(
            2 * far, (2 * data + 2 * far * shard_part) / local
        )
        steps = size // local - 1
        shard["hierarchical"] = up.time_ps(1, data * (local - 1) / local) + out.time_ps(
            steps, data * steps / size
        )
    rooted = {
        "ring": hop.time_ps(size - 1, data + (size - 2) * link),
        "dbt": hop.time_ps(depth + 1, data + depth * part),
    }
    of_ranks = {
        "all_reduce": whole,
        "reduce_scatter": shard,
        "all_gather": shard,
        "broadcast": rooted,
        "reduce": rooted,
    }[setting.operation]
    return of_ranks | estimate_ps(setting)


def estimated_ps(setting: Setting, algorithm: object = "auto") -> float:
    """Return the estimated time of a collective in picoseconds, without contention.

    Parameters
    ----------
    setting : Setting
        An all-reduce, reduce-scatter, all-gather, broadcast, reduce or all-to-all.
    algorithm : object
        Its algorithm. One for which there is no estimate counts as the best candidate.
    """
    size = len(setting.ranks)
    if size == 1:
        return 0.0
    if setting.operation == "all_to_all":
        data = setting.chunks * setting.chunk_bytes * (size - 1) / size
        return _at_once(setting, _hop(setting, setting.ranks)).time_ps(1, data)
    times = _times(setting)
    if isinstance(algorithm, str) and algorithm in times:
        return times[algorithm]
    return min(_without_collisions(setting, times).values())


def _without_collisions(setting: Setting, times: dict[str, float]) -> dict[str, float]:
    """Return the times without `direct` where links are shared: its messages would collide."""
    if setting.dimension == "scale_up":
        return times
    return {name: time for name, time in times.items() if name != "direct"}


def _local_size(setting: Setting) -> int | None:
    """Return the members in each super-node, if there are several in each of several."""
    if setting.layout.super_node is None:
        return None
    try:
        local = setting.local_size
    except CollectiveError:
        return None
    return local if 1 < local < len(setting.ranks) else None


def _compared(setting: Setting) -> dict[str, float]:
    """Return the times of the candidates that fit, the best one first; empty if one is left."""
    candidates = _candidates(setting)
    if len(candidates) == 1 or len(setting.ranks) == 1:
        return {}
    times = _without_collisions(setting, _times(setting))
    if len(times) == 1:
        return {}
    return {name: times[name] for name in sorted(times, key=lambda name: times[name])}


def _chosen(setting: Setting) -> str:
    return _first(_compared(setting), setting)


def _first(times: Mapping[str, float], setting: Setting) -> str:
    """Return the best of the candidates that were compared, or the only one."""
    return next(iter(times), _candidates(setting)[0])


def _choose(setting: Setting) -> dict[str, Any]:
    name = _chosen(setting)
    options = ALGORITHMS[name].choose(setting)
    return {"algorithm": name, "options": tuple(sorted(options.items()))}


def _members(setting: Setting, options: Mapping[str, Any]) -> Sequence[int]:
    members = ALGORITHMS[options["algorithm"]].members
    return setting.ranks if members is None else members(setting, dict(options["options"]))


def _explain(setting: Setting) -> str:
    """Return the estimated times of the candidates, or why there is only one."""
    times = _compared(setting)
    name = _first(times, setting)
    own = ALGORITHMS[name].explain
    if own is not None:
        return own(setting)
    if not times:
        return f"{name}: the only candidate for this operation and group"
    hop = _hop(setting, setting.ranks)
    estimates = ", ".join(f"{name} {time / 1e6:.4g} µs" for name, time in times.items())
    return (
        f"{estimates}; {len(setting.ranks)} ranks, {hop.latency_ps / 1e6:.4g} µs and "
        f"{hop.rate_bps / 1e9:.4g} Gbit/s between neighbours"
    )


def _check(setting: Setting) -> None:
    """Accept settings in which the chosen candidate works; the network decides only if needed."""
    if len(setting.ranks) == 1:
        return
    names = _candidates(setting)
    if any(_problem(name, setting) for name in names):
        name = _chosen(setting)
        problem = _problem(name, setting)
        if problem is not None:
            problem.args = (f"auto chooses {name}: {problem}",)
            raise problem


def _problem(name: str, setting: Setting) -> CollectiveError | None:
    """Return why a candidate does not work in a setting, or None."""
    check = ALGORITHMS[name].check
    try:
        if check is not None:
            check(setting)
    except CollectiveError as error:
        return error
    return None


def _build(
    operation: str,
    group_size: int,
    *,
    algorithm: str = "",
    options: tuple[tuple[str, Any], ...] = (),
) -> AnyProgram:
    """Return the program of an algorithm with its options; the first candidate by default."""
    name = algorithm or CANDIDATES[operation][0]
    return ALGORITHMS[name].build(operation, group_size, **dict(options))


_BUILDERS: dict[str, Callable[..., AnyProgram]] = {
    operation: partial(_build, operation) for operation in OPERATIONS
}

ALGORITHM = Algorithm(
    "auto",
    "the algorithm with the least estimated time for the size and the group, as NCCL chooses",
    _BUILDERS,
    choose=_choose,
    check=_check,
    explain=_explain,
    members=_members,
)
