"""Runs cases in child processes, because a wrong answer may be a crash or take for ever."""

from __future__ import annotations

import json
import os
import select
import signal
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import IO

from tests.fuzz import oracle
from tests.fuzz.cases import Case

Name = tuple[str, int, int]
"""Kind, seed and index of a case."""

LATE_S = 100
"""Seconds after which a process that waits is ended. Its CPU time has a limit of its own."""

Maker = Callable[[str, int, int], Case]


@dataclass(frozen=True)
class Verdict:
    """What came of a case.

    Attributes
    ----------
    name : tuple
        Its kind, seed and index.
    status : int
        Its exit status; minus the number of the signal that ended it.
    wrong : str
        What is wrong with the answer; empty if nothing is.
    seconds : float
        How much CPU time it took; all the time, if it did not end by itself.
    """

    name: Name
    status: int
    wrong: str
    seconds: float


class Workers:
    """Child processes that run cases.

    Parameters
    ----------
    make : callable
        Makes a case from its name.
    count : int
        The number of processes.
    program : path, optional
        The program that runs streams, in place of `cosim replay`.
    """

    def __init__(self, make: Maker, count: int, program: Path | None = None) -> None:
        self._make = make
        self._count = count
        self._program = program

    def run(self, names: Iterator[Name]) -> Iterator[Verdict]:
        """Run cases, and return what came of each, as they end."""
        idle = [self._start() for _ in range(self._count)]
        busy: dict[int, _Worker] = {}
        try:
            while True:
                while idle:
                    name = next(names, None)
                    if name is None:
                        break
                    worker = idle.pop()
                    worker.give(name)
                    busy[worker.answers.fileno()] = worker
                if not busy:
                    return
                ready, _, _ = select.select(list(busy), [], [], 0.1)
                late = [f for f, w in busy.items() if w.elapsed > LATE_S and f not in ready]
                for file in [*ready, *late]:
                    worker = busy.pop(file)
                    verdict = worker.verdict(late=file in late)
                    idle.append(worker if worker.lives else self._start())
                    yield verdict
        finally:
            for worker in [*idle, *busy.values()]:
                worker.end()

    def _start(self) -> _Worker:
        return _Worker(self._make, self._program)


class _Worker:
    """A child process, which is a copy of this one and so has everything imported."""

    MOST_CASES = 300
    """Cases after which a new process takes over, so that no memory adds up."""

    def __init__(self, make: Maker, program: Path | None) -> None:
        theirs, mine = os.pipe()
        answers, answering = os.pipe()
        self.log = os.memfd_create("log")
        self.pid = os.fork()
        if self.pid == 0:
            os.close(mine)
            os.close(answers)
            os.dup2(self.log, 2)
            status = 1
            try:
                _work(make, program, os.fdopen(theirs), os.fdopen(answering, "w"))
                status = 0
            finally:
                os._exit(status)
        os.close(theirs)
        os.close(answering)
        self.requests: IO[str] = os.fdopen(mine, "w")
        self.answers: IO[str] = os.fdopen(answers)
        self.cases = 0
        self.lives = True
        self.name: Name = ("", 0, 0)
        self.began = 0.0

    @property
    def elapsed(self) -> float:
        """Seconds since the case was given."""
        return time.monotonic() - self.began

    def give(self, name: Name) -> None:
        """Let it run a case."""
        self.name, self.began = name, time.monotonic()
        os.ftruncate(self.log, 0)
        os.lseek(self.log, 0, os.SEEK_SET)
        self.requests.write(json.dumps(name) + "\n")
        self.requests.flush()

    def verdict(self, *, late: bool) -> Verdict:
        """Return what came of the case; a process that is late is ended."""
        if late:
            os.kill(self.pid, signal.SIGKILL)
            self._reap()
            wrong = f"does not end within {LATE_S} s"
            return Verdict(self.name, -signal.SIGKILL, wrong, self.elapsed)
        line = self.answers.readline()
        if not line:
            size = os.fstat(self.log).st_size
            said = os.pread(self.log, 300, max(size - 300, 0)).decode(errors="replace")
            status = self._reap()
            name = signal.Signals(-status).name if status < 0 else f"status {status}"
            wrong = f"the process ended by {name}: {said}"
            return Verdict(self.name, status, wrong, self.elapsed)
        said_status, wrong, seconds = json.loads(line)
        self.cases += 1
        if self.cases == self.MOST_CASES:
            self.end()
        return Verdict(self.name, said_status, wrong, seconds)

    def end(self) -> None:
        """End the process."""
        if self.lives:
            os.kill(self.pid, signal.SIGKILL)
            self._reap()

    def _reap(self) -> int:
        _, status = os.waitpid(self.pid, 0)
        self.lives = False
        self.requests.close()
        self.answers.close()
        os.close(self.log)
        return os.waitstatus_to_exitcode(status)


def _work(make: Maker, program: Path | None, requests: IO[str], answers: IO[str]) -> None:
    for line in requests:
        if program is None:
            oracle.limit()
        case = make(*json.loads(line))
        before = _cpu_seconds()
        status, wrong = judge(case, program)
        answers.write(json.dumps([status, wrong, _cpu_seconds() - before]) + "\n")
        answers.flush()


def _cpu_seconds() -> float:
    """Return the CPU time of this process and of those that it started and that have ended."""
    return sum(os.times()[:4])


def judge(case: Case, program: Path | None = None) -> tuple[int, str]:
    """Run a case in this process; return its exit status, and what is wrong."""
    given = oracle.answer(case, program)
    wrong = oracle.wrong(case, given)
    if not wrong and case.reference:
        other = oracle.answer(replace(case, arguments=case.reference), program)
        wrong = oracle.different(given, other)
    return given.status, wrong
