"""All studies. To add one, write a package in this folder and a line here."""

from __future__ import annotations

from bridge.studies.astra_ns3_dlrm import STUDY as ASTRA_NS3_DLRM
from bridge.studies.framework.model import Study
from bridge.studies.topoopt import STUDY as TOPOOPT

STUDIES: dict[str, Study] = {study.name: study for study in (ASTRA_NS3_DLRM, TOPOOPT)}
