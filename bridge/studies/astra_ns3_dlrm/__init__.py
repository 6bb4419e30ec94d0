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
from bridge.studies.model import Study

INTRODUCTION = """\
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
)
