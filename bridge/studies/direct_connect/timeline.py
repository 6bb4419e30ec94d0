"""An iteration of training whose collectives take given times."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from frontend.workloads.plan import NodeType, Plan
from topology_gen.finder.costs import Collective

#: Time of a collective of a number of bytes, in microseconds.
TimeUs = Callable[[Collective, int], float]


class Breakdown(NamedTuple):
    """The time of an iteration and its parts, in milliseconds."""

    iteration: float
    compute: float
    all_to_all: float

    @property
    def all_reduce(self) -> float:
        """The rest: the time in which the computation waits for all-reduces."""
        return self.iteration - self.compute - self.all_to_all

    @property
    def all_to_all_share(self) -> float:
        """The share of the all-to-alls."""
        return self.all_to_all / self.iteration


def breakdown(plan: Plan, time_us: TimeUs) -> Breakdown:
    """Return the iteration of a plan in which all ranks do the same.

    A rank has one compute stream, which runs its operators in their order. Collectives start when
    the nodes that they wait for are done. All ranks agree, so one rank stands for all.

    Parameters
    ----------
    plan : Plan
        The plan of one iteration, whose all-to-alls never overlap other work, such as that of
        ``kind: moe``.
    time_us : callable
        Time of each collective.
    """
    ends: list[float] = []
    stream = computed = exchanged = 0.0
    for node in plan.nodes:
        start = max((ends[other] for other in node.dependencies), default=0.0)
        if node.type == NodeType.COMPUTE:
            took = node.duration_ps / 1e6
            stream = max(start, stream) + took
            computed += took
            ends.append(stream)
            continue
        issue = plan.issues[node.collective]
        operation: Collective = "all_to_all" if issue.operation == "all_to_all" else "all_reduce"
        took = time_us(operation, issue.bytes)
        if operation == "all_to_all":
            exchanged += took
        ends.append(start + took)
    return Breakdown(max(ends) / 1000, computed / 1000, exchanged / 1000)
