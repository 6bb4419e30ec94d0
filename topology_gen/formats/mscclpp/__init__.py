"""MSCCL++ execution plans: the JSON that microsoft/mscclpp's executor runs.

The schema is that of version 0.8 (2025): `src/core/executor/execution_plan.cc` and
`docs/dsl` of that repository, with channels, remote buffers and operations by name.
"""

from topology_gen.formats.mscclpp.read import read_plan
from topology_gen.formats.mscclpp.write import write_plan

__all__ = ["read_plan", "write_plan"]
