"""The stored errors of the estimators in scenarios that resemble one."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Mapping, Sequence
from functools import cache
from importlib.resources import files
from statistics import mean
from typing import Any

from bridge.results.run_tables import RunTables
from frontend.fabrics import ESTIMATORS

#: What `make fidelity` writes: the errors of the estimators against express, by scenario.
FILE = "estimate_errors.json"


def traits(scenario: Mapping[str, Any]) -> dict[str, str]:
    """Return what makes scenarios alike beside the network: the workload and its algorithm.

    Parameters
    ----------
    scenario : mapping
        A scenario with all defaults.
    """
    workload = scenario.get("workload") or {"kind": "jobs"}
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
    if fabric not in ESTIMATORS or "transport" not in scenario:
        return None  # the stream of another program may have no scenario
    if scenario["transport"].get("protocol", "tcp") != "tcp":
        return None  # the stored scenarios have TCP
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


Rows = Sequence[Mapping[str, Any]]

#: Rates of links up and down a switch that differ by less than this are equal.
_ALMOST = 1.001


def network_class(links: Rows, flows: Rows) -> str:
    """Return the class of a network, as far as it decides how good an estimate is.

    Parameters
    ----------
    links, flows : sequence of mappings
        The tables ``links`` and ``flows`` of a result.

    Returns
    -------
    str
        ``direct``: links join ranks, which pass on what is not for them. ``one tier``: each path
        has one switch. ``tiers``: switches are linked to each other, with at least the rate of what
        is below them. ``oversubscribed``: some have less.
    """
    ranks = _ranks(flows)
    up: dict[int, float] = defaultdict(float)
    down: dict[int, float] = defaultdict(float)
    for link in links:
        source, target, rate = link["source"], link["target"], link["rate_bps"]
        if source < ranks and target < ranks:
            return "direct"
        if target < ranks:
            down[source] += rate
        elif source >= ranks:
            up[source] += rate
    if not up:
        return "one tier"
    leaves = [switch for switch in down if up[switch]]
    less = any(down[switch] > _ALMOST * up[switch] for switch in leaves)
    return "oversubscribed" if less else "tiers"


def _ranks(flows: Rows) -> int:
    return 1 + int(max((max(flow["source"], flow["target"]) for flow in flows), default=-1))
