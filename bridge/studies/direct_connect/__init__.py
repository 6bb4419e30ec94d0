"""The published experiments with direct-connect topologies, repeated."""

from __future__ import annotations

from bridge.studies.direct_connect import (
    cost_model,
    data_parallel,
    experts,
    hypercubes,
    large,
    pareto,
    popular,
    testbed,
    tori,
)
from bridge.studies.framework.model import Study

INTRODUCTION = """\
This page repeats experiments of L. Zhao et al., "Efficient direct-connect topologies for collective
communications" (NSDI 2025; "the paper" on this page). [Schedules on direct-connect
topologies](direct_connect.md) explains how to simulate such topologies, and `docs/glossary.md`
explains the terms. To make this page, run

```sh
cosim study direct-connect --scale full --page docs/reproduction_direct_connect.md
```

- **The testbed** (Figures 6, 12, 13 and 14, and training in Figure 8) and **the supercomputer**
  (Figure 11) are simulated: every packet travels over ns-3's TCP. Of the hosts, only the PCIe limit
  of the supercomputer's is modelled. A message costs a rank no time, and a reduction neither.
- **Large clusters** (Figures 8, 9, 15 and 18, Tables 4 and 7) are computed, as in the paper: an
  all-reduce takes 2·(α·steps + T_B) with the exact loads of its schedule, and an all-to-all takes
  the time of the best multi-commodity flow. Every all-to-all time here is that of a flow that was
  found. The *gap* says by how much the optimum may be lower; link lengths prove it.
- α is 10 µs, and B is 100 Gb/s, divided among 4 links of 25 Gb/s.
- The published text that is compared with states many claims without their numbers ("beats
  ShiftedRing by a significant margin"). Such claims are scored as orders.
"""

STUDY = Study(
    "direct-connect",
    "Direct-connect topologies: the published experiments",
    INTRODUCTION,
    (
        testbed.ALL_REDUCES,
        testbed.HALVES,
        cost_model.EXPERIMENT,
        hypercubes.EXPERIMENT,
        tori.EXPERIMENT,
        data_parallel.EXPERIMENT,
        pareto.EXPERIMENT,
        large.ALL_REDUCE_AND_ALL_TO_ALL,
        large.KAUTZ,
        popular.EXPERIMENT,
        experts.EXPERIMENT,
    ),
)
