"""Workload kinds: each entry has the kind's model, its checks, and a method that builds the plan.

To add a kind, write a module with an entry and add it to the list below, or name the entry in the
entry points `cosim.workloads` of your own package (docs/extending.md).
"""

from frontend.workloads import chakra, collective, dlrm, goal, llm, moe, training
from frontend.workloads.plan import Plan
from frontend.workloads.registry import WORKLOADS, WorkloadKind

for _kind in (
    collective.KIND,
    dlrm.KIND,
    moe.KIND,
    training.KIND,
    llm.KIND,
    chakra.KIND,
    goal.KIND,
):
    WORKLOADS.register(_kind)

__all__ = ["WORKLOADS", "Plan", "WorkloadKind"]
