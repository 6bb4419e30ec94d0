"""Jobs that select their paths."""

from __future__ import annotations

import json
from typing import Any

import pytest
from click.testing import CliRunner

import bridge
from bridge.batch.cluster import estimate
from bridge.cli.main import main
from frontend import load_scenario
from frontend.compiler.shapes import Shapes
from frontend.resolve import resolve
from tests.bridge.job_parts import RING
from tests.bridge.test_jobs import FABRICS, job, measured, run, times

SPINES: dict[str, Any] = {"family": "leaf_spine", "servers": 16, "radix": 16, "spines": 4}
SPINES |= {"buffer": "16MB", "bandwidth": "100Gbps", "latency": "0.5us"}
WORK = RING | {"bytes": "4MB"}
PAIRS = [
    job(name, WORK, placement=[place, 8 + place], iterations=2) for place, name in enumerate("abcd")
]


def links_of(pair: tuple[int, int], route: int) -> set[int]:
    """The links between switches that a run of a job with two ranks uses."""
    result = run([job("a", WORK, placement=list(pair), route=route)], "flow", SPINES)
    return {
        row["link"]
        for row in result.tables.rows("links")
        if row["wire_bytes"] and "spine" in row["source_name"] + row["target_name"]
    }


def free_route() -> int:
    """A route of the pair 1, 9 that shares no link with the pair 0, 8."""
    first = links_of((0, 8), 0)
    return next(route for route in range(32) if first.isdisjoint(links_of((1, 9), route)))


def test_a_route_selects_the_paths_that_the_network_has_for_it() -> None:
    scenario = load_scenario({"topology": SPINES, "jobs": PAIRS[:1]})
    network = resolve(scenario).network
    found = set()
    for route in range(8):
        paths = network.paths([0, 8], [8, 0], route)
        links = set(paths.links.tolist()) & links_of((0, 8), route)
        assert links == links_of((0, 8), route)
        assert len(links) == 4  # up to a spine and down from it, both ways
        found.update(network.target[sorted(links)].tolist())
    assert len(found) == 4 + 2  # all spines, and both leaves


@pytest.mark.parametrize("fabric", FABRICS)
def test_jobs_on_paths_of_their_own_take_what_they_take_alone(fabric: str) -> None:
    """Two jobs meet on a spine, and with another route they do not, to the picosecond."""
    free, first = free_route(), links_of((0, 8), 0)
    meets = next(route for route in range(32) if first & links_of((1, 9), route))
    jobs = [PAIRS[0], PAIRS[1] | {"route": free}]
    both = run(jobs, fabric, SPINES)
    for one in jobs:
        assert times(both, one["name"]) == times(run([one], fabric, SPINES), one["name"])
    assert measured(both) == measured(run(jobs, fabric, SPINES))
    together = run([jobs[0], PAIRS[1] | {"route": meets}], fabric, SPINES)
    assert sum(times(together, "b")) > 1.05 * sum(times(both, "b"))


def test_shapes_have_the_paths_of_the_run() -> None:
    """Also those of `cosim cluster`, which simulates each job alone."""
    jobs = [one | {"route": 3 + place} for place, one in enumerate(PAIRS)]
    content = {"topology": SPINES, "fabric": "flow", "jobs": jobs}
    scenario = load_scenario(content)
    resolved = resolve(scenario)
    shapes = Shapes(resolved)
    result = run(jobs, "flow", SPINES)
    used = {row["link"] for row in result.tables.rows("links") if row["wire_bytes"]}
    expected = set()
    for work, one in zip(scenario.work, jobs, strict=True):
        expected.update(shapes.of(work, tuple(one["placement"])).links.tolist())
    assert used == expected


def test_the_estimate_of_a_cluster_knows_the_paths() -> None:
    """The load of a pair is on the spines that its route selects: here, they share no link."""
    jobs = [PAIRS[0], PAIRS[1] | {"route": free_route()}]
    content = {"topology": SPINES, "fabric": "flow", "jobs": jobs}
    found = estimate(load_scenario(content), bridge.run)
    assert [one.slowdown for one in found.jobs] == [1, 1]


def test_crux_finds_paths_on_which_jobs_do_not_meet(tmp_path) -> None:
    """Four pairs share four spines by chance; with paths of their own, each is as fast as alone."""
    file = tmp_path / "pairs.yaml"
    file.write_text(json.dumps({"topology": SPINES, "fabric": "flow", "jobs": PAIRS}))
    answer = CliRunner().invoke(main, ["interference", str(file), "--json", "--priorities", "crux"])
    assert answer.exit_code == 0, answer.stderr
    found = json.loads(answer.stdout)
    assert max(one["slowdown"] for one in found["jobs"]) > 1.5
    adjusted = found["adjusted"]
    assert [one["slowdown"] for one in adjusted["jobs"]] == pytest.approx([1] * 4)
    chosen = {name: one["route"] for name, one in adjusted["adjustments"].items()}
    used = [links_of((place, 8 + place), chosen[name]) for place, name in enumerate("abcd")]
    assert len(set.union(*used)) == sum(map(len, used)) == 16
