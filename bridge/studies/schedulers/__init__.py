"""Schedulers of communication in shared clusters: Crux's examples, and CASSINI's gains."""

from __future__ import annotations

from bridge.studies.framework import Study
from bridge.studies.schedulers import cassini, crux

INTRODUCTION = """\
This page repeats what two publications about jobs that share a network say: J. Cao et al., "Crux:
GPU-efficient communication scheduling for deep learning training", SIGCOMM 2024
([10.1145/3651890.3672239](https://doi.org/10.1145/3651890.3672239)), and S. Rajasekaran et al.,
"CASSINI: network-aware job scheduling in machine learning clusters", NSDI 2024
([arXiv 2308.00852](https://arxiv.org/abs/2308.00852)). [Your
cluster](cluster.md#what-jobs-do-to-each-other) explains `--priorities crux` and `--phases cassini`,
whose code this study uses. To make this page, run

```sh
cosim study schedulers --scale full --page docs/reproduction_schedulers.md
```

Of Crux, the whole text was read, and its examples have all inputs. Of CASSINI, only the abstract
was: the numbers are those of the abstract, and the jobs here are ours. A second of the publications
is a millisecond here.
"""

STUDY = Study(
    "schedulers",
    "Schedulers of shared clusters",
    INTRODUCTION,
    (crux.EXPERIMENT, cassini.EXPERIMENT),
)
