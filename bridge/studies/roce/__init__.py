"""Congestion control of RoCE: the slowdowns of HPCC's paper, and the fairness of DCQCN's."""

from __future__ import annotations

from bridge.studies.framework import Study
from bridge.studies.roce import fairness, slowdowns

INTRODUCTION = """\
This page repeats experiments of two publications about RoCE: Y. Li et al., "HPCC: high precision
congestion control", SIGCOMM 2019, and Y. Zhu et al., "Congestion control for large-scale RDMA
deployments" (DCQCN), SIGCOMM 2015. Networks and runs are smaller, so that the whole page takes
three minutes of CPU time. [RoCE](roce.md) explains the terms. To make this page, run

```sh
cosim study roce --scale full --page docs/reproduction_roce.md
```

All runs have lossless switches (`switches.buffer_sharing: pfc`) and the preset `hpcc_2019`. Flows
are messages of other traffic (`events: incast`, each with one source). The claims are statements of
the publications; no numbers were read off their figures.
"""

STUDY = Study(
    "roce",
    "Congestion control of RoCE",
    INTRODUCTION,
    (slowdowns.EXPERIMENT, fairness.EXPERIMENT),
)
