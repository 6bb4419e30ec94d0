"""Jobs that run on a cluster: how far they are, and what happens to them next."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from random import Random
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from frontend.goodput import Period

_NEVER_PS = 10**30
"""A job that stands still goes on when the speeds change."""


class Load(NamedTuple):
    """What a job does to links."""

    links: NDArray[np.int64]
    part: NDArray[np.float64]
    """For each link, the part of the time for which the job alone keeps it busy."""


@dataclass
class Running:
    """A job that runs, and does not fail by itself."""

    members: tuple[int, ...]
    start_ps: int
    alone_ps: int
    load: Load
    is_simulated: bool
    left_ps: int
    """What is left of `alone_ps`."""
    kept_every_ps: int = 0
    """What it does between two checkpoints, which take no time; 0: it has none."""
    restart_ps: int = 0
    """Time from a start after an interruption until it goes on."""
    speed: float = 1.0
    failures: int = 0
    restarts_ps: list[tuple[int, int]] = field(default_factory=list)
    """When it restarted: from failures until it trained again."""
    restarts: bool = False
    failed_ps: int = 0
    """Since when it restarts."""
    phase_ps: int = 0
    """What is left of the restart."""

    def resume(self, left_ps: int) -> None:
        """Go on, as the job starts, with what an earlier start has left."""
        self.left_ps = left_ps
        if self.restart_ps:
            self._begin_restart(self.start_ps, self.restart_ps)

    def interrupt(self, now: int) -> int:
        """End because ranks are lost, and return what is left since the last checkpoint."""
        self._end_restart(now)
        if not self.kept_every_ps:
            return self.alone_ps
        done = self.alone_ps - self.left_ps
        return self.alone_ps - done // self.kept_every_ps * self.kept_every_ps

    @property
    def communicates(self) -> bool:
        """Whether it loads links now."""
        return not self.restarts

    def advance(self, time_ps: int) -> None:
        """Let the job run for some time."""
        if self.restarts:
            self.phase_ps -= time_ps
        else:
            self.left_ps -= self._work_ps(time_ps)

    def next_ps(self, now: int) -> int:
        """Return when something happens to the job if its speed stays what it is."""
        return now + (self.phase_ps if self.restarts else self._time_ps(self.left_ps))

    def proceed(self, now: int) -> bool:
        """Let this happen now, and return whether the job has ended."""
        if self.restarts:
            self._end_restart(now)
            return False
        return self.left_ps == 0

    def _begin_restart(self, now: int, time_ps: int) -> None:
        if not self.restarts:
            self.failed_ps = now
        self.restarts, self.phase_ps = True, time_ps

    def _end_restart(self, now: int) -> None:
        if self.restarts and now > self.failed_ps:
            self.restarts_ps.append((self.failed_ps, now))
        self.restarts = False

    def _work_ps(self, time_ps: int) -> int:
        """Return what of `left_ps` is done in some time."""
        return time_ps if self.speed == 1 else min(self.left_ps, round(time_ps * self.speed))

    def _time_ps(self, work_ps: int) -> int:
        if self.speed == 0:
            return _NEVER_PS
        return work_ps if self.speed == 1 else -int(-work_ps // self.speed)


@dataclass
class Failing(Running):
    """A job that writes checkpoints, and goes on from the last complete one when it fails.

    It trains for the interval, stops for the stall, and trains again while the checkpoint is
    written; `phase_ps` is what is left of each. A failure at any time is followed by a restart. See
    `frontend.goodput`.
    """

    period: Period = field(kw_only=True)
    interval_ps: int = field(kw_only=True)
    draw: Random = field(kw_only=True)
    fails_ps: int = 0
    """When it fails next."""
    trains: bool = True
    kept_ps: int = 0
    """`left_ps` in the last complete checkpoint."""
    written: tuple[int, int] | None = None
    """`left_ps` in the checkpoint that is being written, and when it is complete."""

    def __post_init__(self) -> None:
        self.kept_ps, self.phase_ps = self.left_ps, self.interval_ps
        self._draw_failure(self.start_ps)

    def resume(self, left_ps: int) -> None:
        self.left_ps = self.kept_ps = left_ps
        self._restart(self.start_ps)

    def interrupt(self, now: int) -> int:
        self._complete_checkpoint(now)
        self._end_restart(now)
        return self.kept_ps

    def fail(self, now: int) -> None:
        """Go on from the last complete checkpoint."""
        self._complete_checkpoint(now)
        self.failures += 1
        self.left_ps, self.written = self.kept_ps, None
        self._restart(now)

    @property
    def communicates(self) -> bool:
        return self.trains

    def advance(self, time_ps: int) -> None:
        work = self._work_ps(time_ps) if self.trains else 0
        self.left_ps -= work
        self.phase_ps = max(0, self.phase_ps - (work if self.trains else time_ps))

    def next_ps(self, now: int) -> int:
        phase = min(self.phase_ps, self.left_ps) if self.trains else self.phase_ps
        return min(self.fails_ps, now + (self._time_ps(phase) if self.trains else phase))

    def proceed(self, now: int) -> bool:
        self._complete_checkpoint(now)
        if self.trains and self.left_ps == 0:
            return True
        if self.fails_ps <= now:
            self.fail(now)
            self._draw_failure(now)
        elif self.phase_ps == 0 and self.trains:
            self.trains, self.restarts, self.phase_ps = False, False, ps(self.period.stall_s)
        elif self.phase_ps == 0:
            if not self.restarts:
                self.written = self.left_ps, now + ps(self.period.write_s)
            self._end_restart(now)
            self.trains, self.phase_ps = True, self.interval_ps
        return False

    def _complete_checkpoint(self, now: int) -> None:
        if self.written is not None and self.written[1] <= now:
            self.kept_ps, self.written = self.written[0], None

    def _restart(self, now: int) -> None:
        self.trains = False
        self._begin_restart(now, ps(self.period.restart_s))

    def _draw_failure(self, now: int) -> None:
        self.fails_ps = now + ps(self.draw.expovariate(self.period.failures_per_s))


def ps(seconds: float) -> int:
    """Return a time in picoseconds."""
    return round(seconds * 10**12)


def speeds(loads: Sequence[Load], links: int, classes: Sequence[int] | None = None) -> list[float]:
    """Return the speeds of jobs, relative to what they are alone.

    They are the max-min fair ones with which no link is busy for more than all of the time. Jobs of
    a traffic class share what higher classes leave, which can be nothing.

    Parameters
    ----------
    loads : sequence of Load
        What each job does to links if it runs at the speed 1.
    links : int
        Number of links of the network.
    classes : sequence of int, optional
        The traffic class of each job; None if all have the same.

    Examples
    --------
    >>> import numpy as np
    >>> whole = Load(np.array([0]), np.array([1.0]))
    >>> light = Load(np.array([0, 1]), np.array([0.25, 1.0]))
    >>> speeds([whole, light, Load(np.array([2]), np.array([1.0]))], 3)
    [0.8, 0.8, 1.0]
    >>> speeds([whole, light], 2, [0, 1])
    [0.75, 1.0]
    """
    room, found = np.ones(links), [1.0] * len(loads)
    of_job = classes or [0] * len(loads)
    for level in sorted(set(of_job), reverse=True):
        own = [job for job, one in enumerate(of_job) if one == level]
        for job, speed in zip(own, _fair_speeds([loads[job] for job in own], room), strict=True):
            found[job] = speed
            room[loads[job].links] -= loads[job].part * speed
        room = np.maximum(room, 0.0)
    return found


def _fair_speeds(loads: Sequence[Load], free: NDArray[np.float64]) -> list[float]:
    """Return the max-min fair speeds of jobs on links that are free for a part of the time."""
    links, result = len(free), np.ones(len(loads))
    total = np.zeros(links)
    for load in loads:
        total[load.links] += load.part
    if (total <= free).all():
        return result.tolist()
    job = np.repeat(np.arange(len(loads)), [len(load.links) for load in loads])
    link = np.concatenate([load.links for load in loads])
    part = np.concatenate([load.part for load in loads])
    crowded = (total[link] > free[link]) & (part > 0)
    job, link, part = job[crowded], link[crowded], part[crowded]
    is_open, room = np.ones(len(loads), np.bool_), free.copy()
    while True:
        mine = is_open[job]
        asked = np.bincount(link[mine], part[mine], links)
        limit = np.where(asked > 0, room / np.where(asked > 0, asked, 1), np.inf)
        speed = limit.min()
        if speed >= 1:
            return result.tolist()
        at = limit <= speed * (1 + 1e-12)
        slowed = np.zeros(len(loads), np.bool_)
        slowed[job[mine & at[link]]] = True
        result[slowed] = speed
        taken = slowed[job]
        room -= np.bincount(link[taken], part[taken] * speed, links)
        is_open &= ~slowed
