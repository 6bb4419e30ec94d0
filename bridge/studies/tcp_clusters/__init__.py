"""Measurements of clusters over TCP that others have published, predicted."""

from __future__ import annotations

from bridge.studies.framework import Study
from bridge.studies.tcp_clusters import all_reduce, drop, hosts

INTRODUCTION = """\
This page compares cosim with measurements of real clusters over TCP. The parameters of the hosts
come from measurements between two machines only (OSU micro-benchmarks). With these parameters,
cosim predicts collectives of NCCL, and the page lists the error of every prediction, the large ones
too. `docs/glossary.md` explains the terms. To make this page, run

```sh
cosim study tcp-clusters --scale full --page docs/reproduction_tcp_clusters.md
```

The measurements are those that users reported in public threads of
[NVIDIA/nccl](https://github.com/NVIDIA/nccl/issues): numbers 209 (Google Cloud with 32 Gb/s) and
450 (100 Gb/s). They say little about the machines, so the rest is assumed:

- **Network**: one switch that does not drop packets, with an MTU of 1460 bytes (Google Cloud) or
  1500 bytes. Only the last experiment limits buffers.
- **TCP**: CUBIC with a window of 4 MB and a least retransmission timeout of 200 ms, the defaults of
  Linux.
- **NCCL**: one rank of cosim is one node, with the ring algorithm. A message is 512 KiB for each
  channel, and 8 of them are in flight.
- **Sockets**: a channel of NCCL divides its messages among the sockets of several threads, as many
  as the report says, or else NCCL's source. Where a report does not give channels, there is one. In
  cosim, each connection of a pair of ranks (`transport.flows_per_pair`) has processors of its own,
  one at each end, which copy its part of every message. If several sockets share a thread, each
  copies at its share of the thread's rate, also while the others have nothing to copy. Threads do
  not compete for cores. NCCL's parts have at least 64 KiB; cosim's may be smaller.
- **Nodes with 8 GPUs** are predicted like nodes with one GPU: what happens inside a node is not
  modelled.
"""

STUDY = Study(
    "tcp-clusters",
    "Clusters over TCP: measured and predicted",
    INTRODUCTION,
    (hosts.EXPERIMENT, all_reduce.EXPERIMENT, drop.EXPERIMENT),
)
