"""Where the rows of embedding tables are: shards on ranks, or on super-nodes.

A table with many look-ups is cut into shards of equal size. Each shard looks up its own rows of all
samples and has a sum of them for each sample. So shards share the look-ups of a table, but the sums
are as many as the shards. The search halves the busiest shards step by step, places all of them
from the busiest to the least busy where there is the least to do, and keeps the best placement.

Source: the planner of NVIDIA's submissions to MLPerf Training, `sharding/planner.py` of
mlcommons/training_results_v5.0 (`auto`, and `hier_auto` for super-nodes).
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from frontend.errors import ScenarioError
from frontend.schema.workload import DlrmWorkload, Sharding

ROUNDS = 20
"""Times that shards are cut."""


class Placement(NamedTuple):
    """Where tables are."""

    shards: tuple[tuple[int, ...], ...]
    """For each place, a rank or a super-node: the tables of its shards."""
    splits: dict[int, int]
    """Number of shards of each table."""
    replicated: tuple[int, ...]
    """Tables that are on all ranks."""


def look_ups(workload: DlrmWorkload) -> tuple[int, ...]:
    """Return the rows that a sample looks up in each table."""
    pooling = workload.embedding.pooling
    return (pooling,) * workload.embedding.tables if isinstance(pooling, int) else pooling


def row_bytes(workload: DlrmWorkload) -> int:
    """Return the bytes of a row with its optimizer states, each of which is read and written."""
    embedding = workload.embedding
    element = embedding.element or workload.element
    return embedding.dimension * element * max(1, embedding.update_accesses // 2)


def place(workload: DlrmWorkload, places: int, ranks_each: int) -> Placement:
    """Return where the tables of a workload are.

    Parameters
    ----------
    workload : DlrmWorkload
        A workload with `sharding`.
    places : int
        Number of ranks, or of super-nodes.
    ranks_each : int
        Ranks of a place.

    Raises
    ------
    ScenarioError
        If the tables do not fit.
    """
    sharding, rows = workload.embedding.sharding, workload.embedding.rows
    assert sharding is not None
    assert rows is not None
    size = row_bytes(workload)
    replicated = tuple(
        table for table, count in enumerate(rows) if count < sharding.replicated_rows
    )
    others = [table for table in range(len(rows)) if table not in replicated]
    room = int(sharding.memory) - size * sum(rows[table] for table in replicated)
    search = _Search(look_ups(workload), rows, places, room * ranks_each / size, sharding)
    everywhere = dict.fromkeys(others, places)
    found = [search.placed(everywhere, [*others] * places)]
    tried = [everywhere]
    splits = dict.fromkeys(others, 1)
    order = search.ordered(others, splits)
    for _ in range(ROUNDS if others else 0):
        shards = search.placed(splits, order)
        if isinstance(shards, int):
            table: int | None = shards  # it has no place for a shard
        else:
            found.append(shards)
            tried.append(dict(splits))
            table = next((one for one in order if 2 * splits[one] <= places), None)
        if table is None or 2 * splits[table] > places:
            break
        splits[table] *= 2
        others = [one for one in order if one != table] + [table] * splits[table]
        order = search.ordered(others, splits)
    fitting = [
        (search.most(shards, splits), number)
        for number, (shards, splits) in enumerate(zip(found, tried, strict=True))
        if not isinstance(shards, int)
    ]
    if not fitting:
        raise ScenarioError(
            "workload.embedding.sharding.memory: expected more, because the shards of the tables "
            "do not fit"
        )
    _, best = min(fitting)
    shards = found[best]
    assert not isinstance(shards, int)
    return Placement(tuple(map(tuple, shards)), tried[best], replicated)


class _Search:
    """Places shards; `splits` has the number of shards of each table."""

    def __init__(
        self,
        look_ups: tuple[int, ...],
        rows: tuple[int, ...],
        places: int,
        room: float,
        sharding: Sharding,
    ) -> None:
        self.look_ups, self.rows, self.places = look_ups, rows, places
        self.room, self.sharding = room, sharding

    def placed(self, splits: dict[int, int], order: list[int]) -> list[list[int]] | int:
        """Return the tables of each place; or the table of a shard that fits nowhere.

        `order` has the table of each shard, in the order in which they are placed.
        """
        shards: list[list[int]] = [[] for _ in range(self.places)]
        costs, used = np.zeros(self.places), np.zeros(self.places)
        for table in order:
            rows = self.rows[table] / splits[table]
            free = (
                place
                for place in np.argsort(costs, kind="stable").tolist()
                if table not in shards[place] and used[place] + rows <= self.room
            )
            place = next(free, None)
            if place is None:
                return table
            shards[place].append(table)
            used[place] += rows
            costs[place] += self._cost(table, splits)
        return shards

    def ordered(self, tables: list[int], splits: dict[int, int]) -> list[int]:
        """Return the tables of shards by their look-ups, the most first, the last of equals first.

        Who is first among equals decides where they go, so this is as in the source.
        """
        return sorted(tables, key=lambda table: self.look_ups[table] / splits[table])[::-1]

    def most(self, shards: list[list[int]], splits: dict[int, int]) -> float:
        """Return the cost of the place that has the most to do."""
        return max(sum(self._cost(table, splits) for table in tables) for tables in shards)

    def _cost(self, table: int, splits: dict[int, int]) -> float:
        return self.look_ups[table] / splits[table] + self.sharding.table_cost
