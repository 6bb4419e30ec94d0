"""Find deadlocks and races from the order that dependencies, messages and phases impose on steps.

A step comes after its dependencies. A receive comes after its SEND. A step comes after all steps of
the same member in earlier phases. The check assumes no other order: messages of a pair may arrive
in any order, and members may start a phase at different times. Stricter executors only have fewer
executions.
"""

from __future__ import annotations

import numpy as np

from frontend.collectives.program.program import Flags, Ints, Op, Problem, Program, ranges

_SHOWN = 8
_BATCH_WORDS = 1 << 22  # limit for the reachability sets in memory, in 64-bit words


class HappensBefore:
    """The order of a well-formed program's steps.

    Parameters
    ----------
    program : Program
        A program without structure problems.

    Attributes
    ----------
    level : array
        For each step, the length of the longest chain of steps before it; -1 if it never runs.
    """

    def __init__(self, program: Program) -> None:
        self._program = program
        source, target, self._nodes = _edges(program)
        order = np.argsort(source, kind="stable")
        self._next = target[order]
        self._next_begin = np.searchsorted(source[order], np.arange(self._nodes + 1))
        order = np.argsort(target, kind="stable")
        self._last = source[order]
        self._last_begin = np.searchsorted(target[order], np.arange(self._nodes + 1))
        self._levels: list[Ints] = []
        self._level = np.full(self._nodes, -1, np.int64)
        self._run()
        self.level = self._level[: program.steps]

    def _run(self) -> None:
        """Assign a level to every step that can run, one level after another."""
        missing = np.diff(self._last_begin)
        front = np.flatnonzero(missing == 0)
        while front.size:
            self._level[front] = len(self._levels)
            self._levels.append(front)
            begin = self._next_begin[front]
            lengths = self._next_begin[front + 1] - begin
            reached = self._next[np.repeat(begin, lengths) + ranges(lengths)]
            np.subtract.at(missing, reached, 1)
            front = np.unique(reached[missing[reached] == 0])

    def deadlock(self) -> Problem | None:
        """Return a cycle of steps that wait for each other, if some steps can never run."""
        program = self._program
        stuck = np.flatnonzero(self.level < 0)
        if not stuck.size:
            return None
        cycle: list[int] = []
        node = int(stuck[0])
        while node not in cycle:  # each stuck step has a stuck predecessor, so this finds a cycle
            cycle.append(node)
            before = self._last[self._last_begin[node] : self._last_begin[node + 1]]
            node = int(before[self._level[before] < 0][0])
        circle = [s for s in cycle[cycle.index(node) :] if s < program.steps]
        chain = " waits for ".join(program.describe(s) for s in [*circle[:_SHOWN], circle[0]])
        waiting = np.unique(program.members()[stuck])
        names = ", ".join(map(str, waiting[:_SHOWN])) + (" …" if waiting.size > _SHOWN else "")
        return Problem(
            "deadlock",
            f"{stuck.size} steps never run, of members {names}: {chain}",
            tuple(map(int, stuck)),
        )

    def races(self) -> list[Problem]:
        """Return the pairs of steps that access the same units in no fixed order, if one writes.

        Two reductions into the same units may run in either order. Without races, all executions
        have the same result.
        """
        first, second = _conflicts(self._program, self.level)
        unordered = ~self._ordered(first, second)
        return [
            Problem(
                "race",
                f"{self._program.describe(a)} and {self._program.describe(b)} touch the same units "
                "in no fixed order",
                (a, b),
            )
            for a, b in zip(first[unordered].tolist(), second[unordered].tolist(), strict=True)
        ]

    def _ordered(self, first: Ints, second: Ints) -> Flags:
        """Return for each pair whether the first step comes before the second."""
        phase = self._program.phase
        ordered = phase[first] < phase[second]
        # Most pairs are on one chain. First follow unique successors from the first step, then
        # unique predecessors from the second. The remaining pairs have few distinct ends.
        pending = np.flatnonzero(~ordered)
        up = _Forest(self._next, self._next_begin, self._level, 1)
        found = up.is_ancestor(second[pending], first[pending])
        ordered[pending[found]] = True
        pending = pending[~found]
        tops = up.root[first[pending]]
        down = _Forest(self._last, self._last_begin, self._level, -1)
        found = down.is_ancestor(tops, second[pending])
        ordered[pending[found]] = True
        pending, tops = pending[~found], tops[~found]
        pairs, inverse = np.unique(
            np.stack((tops, down.root[second[pending]])), axis=1, return_inverse=True
        )
        ordered[pending] = self._reaches(pairs[0], pairs[1])[inverse.reshape(-1)]
        return ordered

    def _reaches(self, first: Ints, second: Ints) -> Flags:
        """Return for each pair of nodes whether a path leads from the first to the second."""
        result = np.zeros(first.size, np.bool_)
        sources, index = np.unique(first, return_inverse=True)
        batch = 64 * max(1, _BATCH_WORDS // max(self._nodes, 1))
        for begin in range(0, sources.size, batch):
            part = sources[begin : begin + batch]
            bits = np.zeros((self._nodes, -(-part.size // 64)), np.uint64)
            column = np.arange(part.size)
            bits[part, column // 64] = np.left_shift(np.uint64(1), (column % 64).astype(np.uint64))
            for nodes in self._levels[int(self._level[part].min()) + 1 :]:
                start = self._last_begin[nodes]
                lengths = self._last_begin[nodes + 1] - start
                before = self._last[np.repeat(start, lengths) + ranges(lengths)]
                cuts = np.cumsum(lengths) - lengths
                bits[nodes] |= np.bitwise_or.reduceat(bits[before], cuts, axis=0)
            asked = np.flatnonzero((index >= begin) & (index < begin + part.size))
            column = index[asked] - begin
            shift = (column % 64).astype(np.uint64)
            result[asked] = (bits[second[asked], column // 64] >> shift) & np.uint64(1) != 0
        return result


class _Forest:
    """A forest in which the parent of a node is its only neighbour in one direction.

    A node with several neighbours or none is a root. `sign` is 1 if parents have higher levels than
    their children, and -1 if they have lower levels.
    """

    def __init__(self, neighbour: Ints, begin: Ints, level: Ints, sign: int) -> None:
        nodes = begin.size - 1
        single = np.diff(begin) == 1
        parent = np.arange(nodes)
        parent[single] = neighbour[begin[:-1][single]]
        self._jumps = [parent]  # ancestors 1, 2, 4 … levels up
        while True:
            jump = self._jumps[-1]
            further = jump[jump]
            if np.array_equal(further, jump):
                break
            self._jumps.append(further)
        self.root = self._jumps[-1]
        self._height = sign * level

    def is_ancestor(self, above: Ints, below: Ints) -> Flags:
        """Return for each pair whether `above` is on the path from `below` to its root."""
        at = below.copy()
        for jump in reversed(self._jumps):  # move up without passing `above`
            ahead = jump[at]
            at = np.where(self._height[ahead] <= self._height[above], ahead, at)
        found: Flags = at == above
        return found


def _edges(program: Program) -> tuple[Ints, Ints, int]:
    """Return the edges of the order and its number of nodes: steps, then N·(phases-1) barriers."""
    sends = np.flatnonzero(program.op == Op.SEND)
    steps, size = program.steps, program.group_size
    sources = [program.dep.astype(np.int64), sends]
    targets = [program.dependents(), program.target[sends].astype(np.int64)]
    barriers = len(program.phase_dimension) - 1
    member, phase = program.members(), program.phase.astype(np.int64)
    if barriers:  # barrier p of a member lies between phases p and p+1
        before, after = np.flatnonzero(phase < barriers), np.flatnonzero(phase > 0)
        grid = steps + np.arange(size * barriers).reshape(size, barriers)
        sources += [before, grid[member[after], phase[after] - 1], grid[:, :-1].reshape(-1)]
        targets += [grid[member[before], phase[before]], after, grid[:, 1:].reshape(-1)]
    return np.concatenate(sources), np.concatenate(targets), steps + size * barriers


def _conflicts(program: Program, level: Ints) -> tuple[Ints, Ints]:
    """Return the pairs of steps whose order matters, ordered by `level`.

    The accesses to a unit form epochs: several reads, several reductions, or one write. If
    consecutive epochs are ordered, all epochs are.
    """
    read, reduce, write = range(3)
    op = program.op
    offset, count, target = (
        getattr(program, name).astype(np.int64) for name in ("offset", "count", "target")
    )
    parts = [
        (np.flatnonzero((op == Op.SEND) | (op == Op.COPY) | (op == Op.REDUCE)), offset, read),
        (np.flatnonzero(op == Op.RECV_REDUCE), offset, reduce),
        (np.flatnonzero(op == Op.REDUCE), target, reduce),
        (np.flatnonzero(op == Op.RECV), offset, write),
        (np.flatnonzero(op == Op.COPY), target, write),
    ]
    step = np.concatenate([np.repeat(s, count[s]) for s, _, _ in parts])
    cell = np.concatenate([np.repeat(at[s], count[s]) + ranges(count[s]) for s, at, _ in parts])
    cell += program.members()[step] * program.space
    kind = np.concatenate([np.full(int(count[s].sum()), k) for s, _, k in parts])
    order = np.lexsort((step, kind, level[step], cell))
    step, cell, kind = step[order], cell[order], kind[order]

    fresh = np.ones(step.size, np.bool_)
    fresh[1:] = (np.diff(cell) != 0) | (np.diff(kind) != 0) | (kind[1:] == write)
    begin = np.flatnonzero(fresh)
    size = np.diff(np.append(begin, step.size))
    epoch = np.cumsum(fresh) - 1
    later = np.flatnonzero((epoch > 0) & (cell == cell[begin[epoch - 1]]))
    before = epoch[later] - 1
    second = np.repeat(step[later], size[before])
    first = step[np.repeat(begin[before], size[before]) + ranges(size[before])]
    keys = np.unique(first[first != second] * program.steps + second[first != second])
    return keys // max(program.steps, 1), keys % max(program.steps, 1)
