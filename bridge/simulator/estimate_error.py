"""The stored errors of the estimators in scenarios that resemble one."""

from __future__ import annotations

import json
from collections.abc import Mapping
from functools import cache
from importlib.resources import files
from statistics import mean
from typing import Any

from bridge.results.run_tables import RunTables
from bridge.simulator.network_class import network_class
from frontend.fabrics import ESTIMATORS

#: What `cosim fidelity --store` writes: the errors of the estimators against express, by scenario.
FILE = "estimate_errors.json"


def traits(scenario: Mapping[str, Any]) -> dict[str, str]:
    """Return what makes scenarios alike beside the network: the workload and its algorithm.

    Parameters
    ----------
    scenario : mapping
        A scenario with all defaults.
    """
    workload = scenario["workload"]
    algorithm = workload.get("algorithm")
    if algorithm == "direct":  # the order decides whether messages meet
        algorithm = f"direct, {workload.get('peer_order')} order"
    return {"kind": str(workload.get("kind")), "algorithm": str(algorithm)}


def estimate_error(
    scenario: Mapping[str, Any], tables: RunTables, risk: Mapping[str, Any] | None
) -> dict[str, Any] | None:
    """Return what is known about the error of an estimating fabric.

    It comes from the stored scenarios on networks of the same class: those of the same kind and
    algorithm if there are any, then those of the same kind, then all. If packets could be lost,
    there is none: an estimate has no losses.

    Parameters
    ----------
    scenario : mapping
        A scenario with all defaults.
    tables : RunTables
        The tables of the run.
    risk : mapping, optional
        Why packets could be lost: the `loss_risk` that the simulator found.

    Returns
    -------
    dict or None
        The fields of `bridge.results.measurements.Estimate`. None if the fabric simulates packets,
        or if messages wait for no window: then no run with packets is alike.
    """
    fabric = scenario.get("fabric")
    if fabric not in ESTIMATORS or not {"transport", "workload"} <= scenario.keys():
        return None  # the stream of another program may have no scenario
    if scenario["transport"]["window"] == "unlimited":
        return None
    links, flows = tables.rows("links"), tables.rows("flows")
    own = {**traits(scenario), "network": network_class(links, flows)}
    found: dict[str, Any] = {"network": own["network"], "scenarios": []}
    if risk is not None:
        sizes = {name: risk.get(name) for name in ("arriving_bytes", "buffer_bytes")}
        return found | {"losses": risk["cause"], **sizes}
    for alike in (("network", "kind", "algorithm"), ("network", "kind"), ("network",)):
        rows = [row for row in _stored() if all(row.get(name) == own[name] for name in alike)]
        if rows:
            errors = [row[fabric] for row in rows]
            return found | {
                "scenarios": [row["scenario"] for row in rows],
                "mean_error": mean(map(abs, errors)),
                "largest_error": max(errors, key=abs),
                "least_error": min(errors),
                "greatest_error": max(errors),
            }
    return found


@cache
def _stored() -> list[dict[str, Any]]:
    text = (files("bridge.simulator") / FILE).read_text(encoding="utf-8")
    rows: list[dict[str, Any]] = json.loads(text)
    return rows
