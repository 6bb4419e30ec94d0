"""One execution of a program in a random legal order, message by message.

Slower than `check` and shares nothing with it but the pre- and postconditions: what `check` accepts
must come out right in every such execution.
"""

from __future__ import annotations

import random
from collections import deque
from collections.abc import Iterator

from frontend.collectives.program.program import Op, Problem, Program
from frontend.collectives.verify.contents import Contents, precondition, result_problems

Units = list[tuple[int, int]]  # origin of each unit, and its set of members as bits


class Interleaving:
    """Runs steps and deliveries one at a time, each chosen at random from the possible ones.

    A step may run when those it depends on have, and all of the member's steps in earlier phases.
    Messages of an ordered pair arrive in the order in which they were sent; a receive may run
    (and writes) any time after its message arrived.

    Parameters
    ----------
    program : Program
        Without structure problems.
    seed : int
        Of the choices.
    """

    def __init__(self, program: Program, seed: int) -> None:
        self._program = program
        self._random = random.Random(seed)
        self._state = _unpack(precondition(program))
        self._member = program.members().tolist()
        self._waits = [set(self._dependencies(step)) for step in range(program.steps)]
        self._waiting: list[list[int]] = [[] for _ in range(program.steps)]
        for step, waits in enumerate(self._waits):
            for other in waits:
                self._waiting[other].append(step)
        self._left = [[0] * len(program.phase_dimension) for _ in range(program.group_size)]
        for step, phase in enumerate(program.phase.tolist()):
            self._left[self._member[step]][phase] += 1
        self._wires: dict[tuple[int, int], deque[int]] = {}
        self._messages: dict[int, Units] = {}
        self._arrived: set[int] = set()
        self._done: set[int] = set()
        self.problems: list[Problem] = []

    def _dependencies(self, step: int) -> list[int]:
        begin, end = self._program.dep_begin[step : step + 2].tolist()
        return [int(d) for d in self._program.dep[begin:end]]

    def run(self) -> list[Problem]:
        """Run until no step is possible, and return the problems."""
        program = self._program
        ready = [step for step in range(program.steps) if self._may_run(step)]
        while True:
            wires = [pair for pair, wire in self._wires.items() if wire]
            if not ready and not wires:
                break
            choice = self._random.randrange(len(ready) + len(wires))
            if choice < len(ready):
                ready[choice], ready[-1] = ready[-1], ready[choice]
                ready.extend(self._complete(ready.pop()))
            else:
                receive = self._wires[wires[choice - len(ready)]].popleft()
                self._arrived.add(receive)
                if self._may_run(receive):
                    ready.append(receive)
        if len(self._done) < program.steps:
            stuck = sorted(set(range(program.steps)) - self._done)
            words = ", ".join(program.describe(step) for step in stuck[:5])
            return [Problem("deadlock", f"{len(stuck)} steps never ran: {words}", tuple(stuck))]
        return self.problems + result_problems(program, _pack(self._state, program))

    def _may_run(self, step: int) -> bool:
        program, op = self._program, self._program.op[step]
        return (
            not self._waits[step]
            and not any(self._left[self._member[step]][: program.phase[step]])
            and (op not in (Op.RECV, Op.RECV_REDUCE) or step in self._arrived)
        )

    def _complete(self, step: int) -> Iterator[int]:
        """Run a step, and yield the steps that it enables."""
        program = self._program
        member, phase = self._member[step], int(program.phase[step])
        self._effect(step, member)
        self._done.add(step)
        self._left[member][phase] -= 1
        candidates = list(self._waiting[step])
        for other in candidates:
            self._waits[other].discard(step)
        if not self._left[member][phase]:
            begin, end = program.step_begin[member : member + 2].tolist()
            candidates = [
                s for s in range(begin, end) if program.phase[s] > phase or s in candidates
            ]
        yield from (s for s in candidates if s not in self._done and self._may_run(s))

    def _effect(self, step: int, member: int) -> None:
        program, units = self._program, self._state[member]
        op = Op(int(program.op[step]))
        first, count = int(program.offset[step]), int(program.count[step])
        target = int(program.target[step])
        here = slice(first, first + count)
        if op is Op.SEND:
            self._messages[target] = units[here]
            self._wires.setdefault((member, int(program.peer[step])), deque()).append(target)
        elif op is Op.RECV:
            units[here] = self._messages.pop(step)
        elif op is Op.COPY:
            units[target : target + count] = units[here]
        else:
            into, data = (
                (first, self._messages.pop(step)) if op is Op.RECV_REDUCE else (target, units[here])
            )
            for address, (origin, members) in enumerate(data, into):
                old_origin, old_members = units[address]
                if origin != old_origin:
                    self._report("mixed", step)
                if members & old_members:
                    self._report("double", step)
                units[address] = (old_origin, members | old_members)

    def _report(self, kind: str, step: int) -> None:
        self.problems.append(Problem(kind, self._program.describe(step), (step,)))


def _unpack(contents: Contents) -> list[Units]:
    return [
        [
            (origin, sum(word << (64 * i) for i, word in enumerate(words)))
            for origin, words in zip(origins, members, strict=True)
        ]
        for origins, members in zip(
            contents.origin.tolist(), contents.members.tolist(), strict=True
        )
    ]


def _pack(state: list[Units], program: Program) -> Contents:
    contents = precondition(program)
    words = contents.members.shape[-1]
    low = (1 << 64) - 1
    for member, units in enumerate(state):
        for unit, (origin, members) in enumerate(units):
            contents.origin[member, unit] = origin
            contents.members[member, unit] = [members >> (64 * i) & low for i in range(words)]
    return contents
