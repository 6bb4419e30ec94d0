"""Collectives of NCCL that others have measured and published, predicted."""

from __future__ import annotations

from bridge.studies.framework import Study
from bridge.studies.measured_collectives import tables

INTRODUCTION = """\
For 491 published times of collectives, the prediction is off by 17 % on average if cosim knows the
machines alone, by 15 % if it also takes two numbers from tables of other machines, and by 7 % if
four numbers come from other sizes of the same cluster, which is what `cosim calibrate` does for
yours. This page compares the algorithm `nccl` with public tables of nccl-tests and similar
programs. Each row has its repository, commit and file in
`bridge/studies/measured_collectives/rows.csv`. To make this page, run

```sh
cosim study measured-collectives --scale full --page docs/measured_collectives.md
```

Each row has up to three predictions:

- *nothing fitted*: what you get before anybody has measured your cluster;
- *with stack*: two numbers, from tables of other machines with the same program or network;
- *calibrated*: four numbers, from the other half of the sizes of the same table.

No row is predicted with numbers that were fitted to it.

**Nothing fitted.** NVLink, NICs and servers are presets with the numbers of data sheets. The
rate that NVLink and NVSwitches reach, the time of a step and of a launch, the chunks, and the
choice of algorithm and protocol are those of NCCL's source (NVIDIA/nccl 5067397). Where a source
names its version of NCCL, the choice is that of the version. What networks tell NCCL and take is
that of their plug-ins (`frontend/collectives/nccl_plugins.py` names the sources). Times are those
that nccl-tests printed, out of place, or follow from a printed bus bandwidth.

**Numbers of a stack.** What NCCL cannot know belongs to the program that issues and measures an
operation, and to the network with its plug-in. So each table is also predicted with two numbers,
the time to issue and the factor on the time of a step, that fit *other* tables of the same program
and network: of other machines, operations or numbers of servers. If no other table has both, the
time to issue comes from tables of the program in one server, and that of a step from tables of the
network. In one server, only the time to issue is fitted. No rate is, and no row that is predicted.
A table below names the tables that each number comes from. Tables with large sizes alone give no
numbers, because they hardly show them. A table without another of its stack keeps the prediction
with nothing fitted, and so do blind rows.

**Calibrated.** Four numbers of the hosts fit every other size of a table, and predict the sizes
between; then the other way around. `cosim calibrate --both` does the same with a log. Tables of 256
GPUs, whose fits would take minutes, have the numbers of the same machine and operation on 128. A
table of less than four sizes has the prediction with its stack, or else that with nothing fitted.

**Blind rows.** The predictions of the p5 on 8 and 32 servers, of 2 × 8 B200 with InfiniBand
(NVIDIA/nccl-tests, issue 389), of H100 and H200 in MLPerf's logs (mlcommons/training_results_v4.0
and v5.0), and of V100 with and without SHARP (osrg/optcast) are in `blind.csv`, which commits of
their own stored before their measurements were read. They stay as stored. Rows of them without a
measurement are not read yet, or are not in the source. Numbers that fit other rows also predict
them, in the columns of their own.
"""

STUDY = Study(
    "measured-collectives",
    "Collectives: measured and predicted",
    INTRODUCTION,
    (tables.EXPERIMENT,),
)
