"""The stored errors of the estimators in scenarios that resemble one."""

from __future__ import annotations

import json
from collections.abc import Mapping
from functools import cache
from importlib.resources import files
from statistics import mean
from typing import Any

from frontend.fabrics import ESTIMATORS

#: What `cosim fidelity --store` writes: the errors of the estimators against express, by scenario.
FILE = "estimate_errors.json"


def traits(scenario: Mapping[str, Any]) -> dict[str, str]:
    """Return what makes scenarios alike: the kind of workload, its algorithm and the topology.

    Parameters
    ----------
    scenario : mapping
        A scenario with all defaults.
    """
    workload = scenario["workload"]
    return {
        "kind": str(workload.get("kind")),
        "algorithm": str(workload.get("algorithm")),
        "family": str(scenario["topology"]["family"]),
    }


def estimate_error(scenario: Mapping[str, Any]) -> dict[str, Any] | None:
    """Return the errors of an estimating fabric in the stored scenarios that resemble one.

    Stored scenarios of the same kind, algorithm and family are best, then those of the same kind
    and algorithm, then those of the same kind.

    Parameters
    ----------
    scenario : mapping
        A scenario with all defaults.

    Returns
    -------
    dict or None
        The fields of `bridge.results.measurements.Estimate`. None if the fabric simulates packets,
        or no stored scenario is of this kind.
    """
    fabric = scenario.get("fabric")
    if fabric not in ESTIMATORS:
        return None
    own = traits(scenario)
    for alike in (("kind", "algorithm", "family"), ("kind", "algorithm"), ("kind",)):
        rows = [row for row in _stored() if all(row[name] == own[name] for name in alike)]
        if rows:
            errors = [row[fabric] for row in rows]
            return {
                "scenarios": [row["scenario"] for row in rows],
                "mean_error": mean(map(abs, errors)),
                "largest_error": max(errors, key=abs),
            }
    return None


@cache
def _stored() -> list[dict[str, Any]]:
    text = (files("bridge.simulator") / FILE).read_text(encoding="utf-8")
    rows: list[dict[str, Any]] = json.loads(text)
    return rows
