"""The published experiments with direct-connect topologies, repeated."""

from __future__ import annotations

from bridge.studies.direct_connect import (
    cost_model,
    data_parallel,
    experts,
    generation,
    hypercubes,
    large,
    optimality,
    pareto,
    popular,
    testbed,
    tori,
)
from bridge.studies.framework import Study

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
- **Large clusters** (Figures 8, 9 and 15, Tables 4 and 7) are computed, as in the paper: an
  all-reduce takes 2·(α·steps + T_B) with the exact loads of its schedule, and an all-to-all takes
  the time of the best multi-commodity flow. An all-to-all time here is that of a flow that was
  found. The *gap* says by how much the optimum may be lower; link lengths prove it. Only for the
  double binary tree, it is a lower bound by cuts.
- **Schedules** (Figures 10 and 18, Tables 5, 6 and 8) are generated here, and their steps and loads
  are exact.
- α is 10 µs, and B is 100 Gb/s, divided among 4 links of 25 Gb/s.
- The published text that is compared with states many claims without their numbers ("beats
  ShiftedRing by a significant margin"). Such claims are scored as orders. Where the text has lost a
  number of a table, nothing is compared with it.
"""

STUDY = Study(
    "direct-connect",
    "Direct-connect topologies: the published experiments",
    INTRODUCTION,
    (
        testbed.ALL_REDUCES,
        testbed.REDUCE_SCATTERS_AND_ALL_GATHERS,
        cost_model.EXPERIMENT,
        hypercubes.EXPERIMENT,
        generation.EXPERIMENT,
        tori.EXPERIMENT,
        data_parallel.EXPERIMENT,
        pareto.EXPERIMENT,
        large.EXPERIMENT,
        optimality.EXPERIMENT,
        popular.EXPERIMENT,
        experts.EXPERIMENT,
    ),
)
