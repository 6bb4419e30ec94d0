"""The study of DLRM over TCP that introduced ASTRA-SIM with ns-3 as its network."""

from __future__ import annotations

from bridge.studies.astra_ns3_dlrm import (
    all_reduce,
    buffer,
    injection,
    parameters,
    scheduling,
    topology,
)
from bridge.studies.astra_ns3_dlrm.fit import FIT
from bridge.studies.framework.model import Study

INTRODUCTION = """\
This page repeats the experiments of S. Rashidi et al., *Scalable Distributed Training of
Recommendation Models: An ASTRA-SIM + NS3 case-study with TCP/IP transport* (HOTI 2020; "the
paper"), Section IV, Figs. 7 to 16. It compares each claim of the paper with the measurement here.
`docs/glossary.md` explains the terms. To make this page, run

```sh
make reproduce    # cosim study astra-ns3-dlrm --scale full --page docs/reproduction.md
```

The study takes about an hour of CPU time. `--figure 13` makes only one figure. If you stop a run,
the same command resumes it. The scenarios are `scenarios/all_reduce.yaml`, `dlrm_hier.yaml`,
`dlrm_hier_opt.yaml`, `dlrm_flat100.yaml` and `dlrm_flat800.yaml`.

The names of the paper:

- **A2A** and **DBT** are all-reduce algorithms: `direct` (each rank exchanges data with all others)
  and `dbt` (double binary tree).
- **flat100** and **flat800** are systems of 128 GPUs on one switch, with links of 100 and 800 Gb/s.
- **hier** and **hierOpt** are systems of super-nodes: GPUs behind fast scale-up switches, with one
  scale-out switch between the super-nodes. hierOpt uses an all-reduce that sends less data between
  super-nodes.
- **64 MB** and **1 GB** are the sizes of the switch buffer.
- The **analytical** time (or line) is the time in which each rank's link carries twice the data at
  its full rate.

The paper leaves some parameters open. We varied one at a time, chose the values that reproduce its
claims best, and used them in all experiments; the last section varies each of them.
[Another page](reproduction_parameters.md) searches for the one set of them with which the most
claims about the step from 8 to 16 MB hold. Its best set holds 11 of these 14 claims, the set used
here 8. [A third page](reproduction_other_set.md) has every claim of the study with both sets: 44 of
55 hold with the other set, and 37 with the one used here.

- **Exposed communication** is the time for which a later pass over a layer waits. After the last
  weight updates nothing follows, so the wait for them belongs to no layer; the tables show the time
  to the last update in a column of its own. If this wait counted, hier and flat100 would compute
  for 16 % of the time instead of 27 %.
- **Updates** of weights and embeddings take no time. With this, all shares of compute are within
  10 % of the paper's.
- **Injection latency** is the time that a node takes for each message that it receives (Section
  IV.C). In a scenario, the latency applies at both ends of a message, so the scenario has half of
  it.
- **Chunks** of the all-reduces of DLRM: 1024 (flat) and 128 (hierarchical), as in Table IV, but not
  smaller than 1 KiB, which the table does not mention. This changes the two smallest layers only.
  Without it, the last top layer has 1024 chunks of 4 bytes, and its all-reduce is no longer the
  shortest (Observation 1); flat800 then computes for 77.6 % of the time. With 4 KiB, it does for
  87.2 %.
- **All-to-alls** are one chunk. The table does not say whether its numbers hold for them, too; 1024
  chunks would be messages of 32 bytes. With 128 chunks, hierOpt computes for 83.1 % of the time
  instead of 76.1 %.
- **A2A** uses 128 chunks, and each rank sends to its peers in a random order of its own. **DBT**
  uses 1024 chunks and does not divide them. Both numbers of chunks are in Table IV.
- **TCP** is NewReno with SACK, an MTU of 9000, an initial window of 10 segments, an ACK for every
  segment, and timeouts of at least 50 ms (the paper's value). Connections are established before
  the run.
- **Compute** is a roofline model of 60 TFLOPS and 900 GB/s, at its peak.
"""

STUDY = Study(
    "astra-ns3-dlrm",
    "DLRM training over TCP: the experiments of the ASTRA-SIM + ns-3 study",
    INTRODUCTION,
    (
        all_reduce.EXPERIMENT,
        topology.EXPERIMENT,
        injection.EXPERIMENT,
        buffer.EXPERIMENT,
        scheduling.EXPERIMENT,
        parameters.EXPERIMENT,
    ),
    FIT,
)
