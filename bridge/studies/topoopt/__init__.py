"""The study that introduced TopoOpt."""

from __future__ import annotations

from bridge.studies.framework.model import Study
from bridge.studies.topoopt import (
    all_to_all,
    cost,
    dedicated,
    degree,
    packets,
    path_lengths,
    reconfiguration,
    shared,
)

INTRODUCTION = """\
The simulations of W. Wang et al., *TopoOpt: Co-optimizing network topology and parallelization
strategy for distributed training jobs* (NSDI 2023), Section 5 and Appendix H, made by

```sh
make reproduce    # and cosim study topoopt --scale full --page docs/reproduction_topoopt.md
```

`--figure 11` makes one figure, and a run that was stopped goes on where it was. The jobs are
`scenarios/topoopt_*.yaml`, with the sizes of Appendix D. A number *holds* if it is within a factor
of 1.5 of the paper's, a statement in words if the measurement agrees.

What the paper leaves open:

- **Compute** is the roofline of an A100 at its peak in TF32; the paper measured its operators.
  Models that compute longer gain less from a network: VGG and ResNet50 here.
- **Strategies**: the paper's search ends at hybrid or pure data parallelism, so that of these two
  each point has the one that is estimated to be faster on its network.
- **Messages** are flows that share links fairly, without packets; the last experiment compares them
  with TCP's packets.
- **All-reduces** go round TopoOpt's rings, and elsewhere round one ring by the servers' numbers, an
  operator's gradients at a time. An iteration ends when the last of them is done.
- **Circuits** that change do so for what waits every 50 ms in OCS-reconfig and every 1 ms in
  SiP-ML, whose interval is not given; at first they are those for the whole iteration. They go one
  way: on OCS-reconfig acknowledgements may come back over all servers, so that TCP's window is
  16 MB there instead of 1 MB.
- **The Fat-tree** costs what TopoOpt costs; every flow takes the path of its hash.
"""

STUDY = Study(
    "topoopt",
    "TopoOpt: topologies made for a training job",
    INTRODUCTION,
    (
        cost.EXPERIMENT,
        dedicated.EXPERIMENTS[0],
        all_to_all.EXPERIMENT,
        path_lengths.EXPERIMENT,
        shared.EXPERIMENT,
        reconfiguration.EXPERIMENT,
        dedicated.EXPERIMENTS[1],
        degree.EXPERIMENT,
        packets.EXPERIMENT,
    ),
)
