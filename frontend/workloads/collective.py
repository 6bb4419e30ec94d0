"""One collective over all ranks, started by all at time 0."""

from frontend.schema.workload import CollectiveWorkload
from frontend.workloads.plan import Plan


def plan(workload: CollectiveWorkload) -> Plan:
    """Return a plan of one node; its layer and collective are named by the operation."""
    name = workload.operation
    result = Plan(layers=(name,))
    result.collective(
        name, name, 0, workload.operation, workload.algorithm, workload, workload.bytes
    )
    return result
