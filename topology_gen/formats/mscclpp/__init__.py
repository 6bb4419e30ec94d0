"""MSCCL++ execution plans, the JSON that the executor of microsoft/mscclpp runs.

The schema is that of version 0.8 (2025), defined by `src/core/executor/execution_plan.cc` and
`docs/dsl` of that repository. Channels, remote buffers and operations have names.
"""

from topology_gen.formats.mscclpp.read import read_plan
from topology_gen.formats.mscclpp.write import write_plan

__all__ = ["read_plan", "write_plan"]
