"""All studies. To add one, write a package in this folder and a line here.

An installed package adds its own through the entry points ``cosim.studies``.
"""

from __future__ import annotations

from bridge.studies.astra_ns3_dlrm import STUDY as ASTRA_NS3_DLRM
from bridge.studies.direct_connect import STUDY as DIRECT_CONNECT
from bridge.studies.framework.model import Study
from bridge.studies.measured_collectives import STUDY as MEASURED_COLLECTIVES
from bridge.studies.measured_training import STUDY as MEASURED_TRAINING
from bridge.studies.roce import STUDY as ROCE
from bridge.studies.schedulers import STUDY as SCHEDULERS
from bridge.studies.tcp_clusters import STUDY as TCP_CLUSTERS
from bridge.studies.topoopt import STUDY as TOPOOPT
from topology_gen.registry import Registry

STUDIES = Registry[Study]("study", "cosim.studies", Study)

STUDIES.register(ASTRA_NS3_DLRM)
STUDIES.register(TOPOOPT)
STUDIES.register(TCP_CLUSTERS)
STUDIES.register(DIRECT_CONNECT)
STUDIES.register(MEASURED_TRAINING)
STUDIES.register(MEASURED_COLLECTIVES)
STUDIES.register(ROCE)
STUDIES.register(SCHEDULERS)
