"""What all studies share, and the names that a study uses."""

from bridge.studies.framework.figure import (
    SEEDS,
    Basis,
    Chart,
    Figure,
    Finding,
    Panel,
    Scale,
    Statement,
    Table,
    each,
    figures,
    over_seeds,
    ratio_text,
    ratios,
)
from bridge.studies.framework.model import Experiment, Points, Results, Study

__all__ = [
    "SEEDS",
    "Basis",
    "Chart",
    "Experiment",
    "Figure",
    "Finding",
    "Panel",
    "Points",
    "Results",
    "Scale",
    "Statement",
    "Study",
    "Table",
    "each",
    "figures",
    "over_seeds",
    "ratio_text",
    "ratios",
]
