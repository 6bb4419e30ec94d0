"""The study that introduced TopoOpt."""

from __future__ import annotations

from bridge.studies.model import Study
from bridge.studies.topoopt import all_to_all, cost, dedicated, degree, packets, path_lengths

INTRODUCTION = """\
The simulations of W. Wang et al., *TopoOpt: Co-optimizing network topology and parallelization
strategy for distributed training jobs* (NSDI 2023), Section 5 and Appendix H.
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
        dedicated.EXPERIMENTS[1],
        degree.EXPERIMENT,
        packets.EXPERIMENT,
    ),
)
