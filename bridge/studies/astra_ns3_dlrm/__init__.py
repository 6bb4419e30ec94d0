"""The study of DLRM over TCP that introduced ASTRA-SIM with ns-3 as its network."""

from __future__ import annotations

from bridge.studies.astra_ns3_dlrm import all_reduce, parameters, topology, variations
from bridge.studies.astra_ns3_dlrm.fit import FIT
from bridge.studies.framework import Study

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

What the paper says, and how it is read here:

- **MB** are 2²⁰ bytes, in matrices, buffers and windows. The paper's largest weights are "8 MB" and
  "16.2 MB"; at two bytes an element, 2048² and 4160 · 2048 of them are 8 and 16.25 MiB. A port has
  "512 KB" of the "64 MB" of 128 ports. The analytical line alone counts a megabyte as 10⁶ bytes
  (1.28 ms for 8 MB), so a time over it contains a factor of 1.05.
- **Chunks** are those of Table IV: 1024 on flat systems and 128 on hierarchical ones, with 64 in
  flight. This holds for small layers, too: the last top layer has 1024 chunks of 4 bytes. The first
  version of ASTRA-sim divides in the same way (`Sys::determine_chunk_size`).
- **All-to-alls** of DLRM are one chunk. The table does not say whether its numbers hold for them.
  The last section has them in 128 chunks.
- **Exposed communication** is the time for which a later pass over a layer waits. After the last
  weight updates nothing follows, so the wait for them belongs to no layer. All tables also show the
  numbers with this wait; with it, no system computes for the share of time that the paper states.
- **Injection latency** is the time that a node takes for each message that it receives (Section
  IV.C). In a scenario, the latency applies at both ends of a message, so the scenario has half of
  it.
- **Updates** of weights and embeddings take no time; the last section has slower ones.
- **Compute** is a roofline model of 60 TFLOPS and 900 GB/s, at its peak.
- **TCP** is NewReno with SACK, an ACK for every segment, and timeouts of at least 50 ms (the
  paper's value). Connections are established before the run.

The paper leaves more parameters open. **These values are fitted**: a
[search](reproduction_parameters.md) over the claims about 8, 16 and 32 MB chose them, because with
them the most of these claims hold.

- **An initial window of 4 segments.** This never was a default of ns-3, which had one segment until
  version 3.31 and has ten since. RFC 3390 allows three segments of 1448 bytes.
- **The same order of peers** for all ranks in A2A: each rank sends to rank 0 first, then to rank 1,
  and so on. ASTRA-sim of September 2020 (`AllToAll.cc`) begins with the next rank, and then no two
  packets ever meet and nothing is lost (`--parameter order=rotated`). Why packets meet in the paper
  is unknown. The all-to-alls of DLRM begin with the next rank.
- **An MTU of 1500 with timestamps.** The paper's own numbers point to it: 1.37 times the analytical
  time at 81 % utilization are 1.11 times the analytical bytes. Two to the 20th bytes for each
  megabyte, 1556 bytes on the wire for 1448 of data, and 127 of 128 peers give 1.12; an MTU of 9000
  gives at most 1.06.

[Another page](reproduction_other_set.md) compares the claims with those of the set that this study
used before.
"""

STUDY = Study(
    "astra-ns3-dlrm",
    "DLRM training over TCP: the experiments of the ASTRA-SIM + ns-3 study",
    INTRODUCTION,
    (
        all_reduce.EXPERIMENT,
        topology.EXPERIMENT,
        variations.INJECTION,
        variations.BUFFER,
        variations.SCHEDULING,
        parameters.EXPERIMENT,
    ),
    FIT,
)
