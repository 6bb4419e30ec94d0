"""The study that introduced TopoOpt."""

from __future__ import annotations

from bridge.studies.framework import Study
from bridge.studies.topoopt import (
    all_to_all,
    compute,
    cost,
    dedicated,
    degree,
    failures,
    heatmaps,
    packets,
    path_lengths,
    prototype,
    reconfiguration,
    shared,
    sip_ml,
    technologies,
)

INTRODUCTION = """\
This page repeats the simulations of W. Wang et al., *TopoOpt: Co-optimizing network topology and
parallelization strategy for distributed training jobs* (NSDI 2023; "the paper"), Sections 2 to 7
and the appendices. It compares each claim of the paper with the measurement here. Read
`docs/topoopt.md` first: it explains the architectures and the jobs. `docs/glossary.md` explains the
terms. To make this page, run

```sh
make reproduce    # and cosim study topoopt --scale full --page docs/reproduction_topoopt.md
```

`--figure 11` makes only one figure. If you stop a run, the same command resumes it. The jobs are
`scenarios/topoopt_*.yaml`, with the sizes of Appendix D. d is the number of interfaces of a server
and B the bandwidth of each.

The paper leaves some parameters open. We chose:

- **Compute** is the roofline model of an A100 at its peak in TF32, in all experiments; the paper
  measured its operators. Models that compute longer gain less from a network. One section compares
  with the rates that the paper's published measurements have.
- **Gradients** count once, as in the paper's shares and bandwidth taxes: all-reduces have half of
  their bytes.
- **Strategies** are searched for each network, on TopoOpt in turn with the topology, with the
  budget and the kinds of division of the paper's published scripts. Sections 5.4 and 5.6 have the
  strategies that the paper names.
- **Messages** are flows that share links fairly, without packets. The last experiment compares them
  with TCP packets.
- **All-reduces** use TopoOpt's rings, and on other networks one ring in the order of the servers'
  numbers. Each operator's gradients are reduced on their own. An iteration ends when the last
  all-reduce is done.
- **Circuits** that change are chosen for the data that waits: every 50 ms in OCS-reconfig, and
  every 125 µs in SiP-ML, for which the paper gives no interval (a section varies it). A run starts
  from uniform circuits, which no demand has asked for; the tables show the iterations after the
  first. Circuits are one-way, so acknowledgements take a control network beside them, with the
  latency and the rate of a circuit. The hops of a ring are flows that carry all of its bytes at the
  same time; a section compares rounds.
- **The Fat-tree** has the bandwidth of the paper's published scripts that is nearest to the same
  cost as TopoOpt. Tables have the interpolated bandwidth of equal cost beside it. A hash of each
  flow chooses its path.
"""

STUDY = Study(
    "topoopt",
    "TopoOpt: topologies made for a training job",
    INTRODUCTION,
    (
        heatmaps.EXPERIMENT,
        technologies.EXPERIMENT,
        cost.EXPERIMENT,
        dedicated.EXPERIMENTS[0],
        compute.EXPERIMENT,
        all_to_all.EXPERIMENT,
        path_lengths.EXPERIMENT,
        shared.EXPERIMENT,
        reconfiguration.EXPERIMENT,
        prototype.EXPERIMENT,
        failures.EXPERIMENT,
        dedicated.EXPERIMENTS[1],
        degree.EXPERIMENT,
        sip_ml.EXPERIMENT,
        packets.EXPERIMENT,
    ),
)
