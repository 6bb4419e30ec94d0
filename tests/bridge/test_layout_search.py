"""`cosim search` for language models: the layouts that it tries, and which it finds."""

from __future__ import annotations

import json
from itertools import permutations

import pytest
from click.testing import CliRunner

import cosim
from bridge.batch.layout_search import LayoutSearch
from bridge.cli.main import main
from bridge.errors import InputError
from frontend import ScenarioError, load_scenario
from frontend.compiler.costs import Costs
from frontend.resolve import resolve
from frontend.workloads import WORKLOADS
from frontend.workloads.llm.layouts import orders, sizes
from frontend.workloads.llm.workload import Layout

MODEL = {
    "layers": 4,
    "hidden": 512,
    "heads": 4,
    "kv_heads": 4,
    "feed_forward": 2048,
    "vocabulary": 1024,
    "sequence": 256,
}


def scenario(batch=8, layout=None, **workload):
    """Return a transformer on two servers of two ranks: fast links inside, slow ones between."""
    up = {"ranks": 2, "switches": 1, "bandwidth": "3600Gbps", "latency": "0.5us"}
    return {
        "name": "layouts",
        "topology": {
            "family": "hierarchical",
            "ranks": 4,
            "scale_up": up | {"buffer": "unlimited"},
            "scale_out": {"bandwidth": "50Gbps", "latency": "1us", "buffer": "unlimited"},
        },
        "workload": {"kind": "llm", "model": MODEL, "global_batch": batch, "layout": layout or {}}
        | workload,
        "links": {"mtu": "9000B"},
        "transport": {"window": "4MB", "initial_cwnd": 40},
    }


def seconds(content, layout):
    """Return the time on `flow`, or None if the layout does not fit."""
    try:
        changed = load_scenario(content, {"workload.layout": layout, "fabric": "flow"})
    except ScenarioError:
        return None
    return cosim.run(changed).iterations[0].time_ns / 1e9


def test_a_hybrid_layout_beats_data_parallelism(tmp_path):
    """TP within the servers, and a stage on each, leave no gradients for the slow links."""
    content = scenario(batch=4)
    search = LayoutSearch(load_scenario(content), folder=tmp_path / "found", simulated=40)
    found = search.run()
    assert found[0].keys["tp"] > 1
    assert search.start is not None
    assert search.start.keys == {}
    pure = seconds(content, {"dp": 4})
    assert search.start.seconds == pure
    assert found[0].seconds < pure / 2
    # The best of all layouts that fit, found in another way.
    every = [
        seconds(content, {"tp": tp, "cp": cp, "pp": pp})
        for tp in (1, 2, 4)
        for cp in (1, 2, 4)
        for pp in (1, 2, 4)
    ]
    assert found[0].seconds <= min(one for one in every if one is not None)
    # The scenario that was written takes this time, too.
    written = load_scenario(tmp_path / "found" / "scenario.yaml")
    assert written.fabric == load_scenario(content).fabric
    assert cosim.run(written, {"fabric": "flow"}).time_ns / 1e9 == found[0].seconds
    # Another search takes what is there.
    results = sorted((tmp_path / "found" / "layouts").glob("*/result.json"))
    times = [one.stat().st_mtime_ns for one in results]
    again = LayoutSearch(load_scenario(content), folder=tmp_path / "found", simulated=40).run()
    assert [one.seconds for one in again] == [one.seconds for one in found]
    assert [one.stat().st_mtime_ns for one in results] == times


def test_the_few_that_are_simulated_have_the_best_of_all():
    """The search simulates 10 of all layouts, and one of them is the best, or 2 % from it."""
    content = scenario(batch=8)
    kept = ("recompute", "cp")
    every = LayoutSearch(load_scenario(content), kept=kept, simulated=10_000)
    few = LayoutSearch(load_scenario(content), kept=kept)
    best = every.run()[0].seconds
    assert few.run()[0].seconds <= 1.02 * best
    assert len(few.best) <= 11 < len(every.best) / 2
    assert few.estimated <= every.estimated


def test_the_estimate_knows_memory_and_mfu():
    for one in LayoutSearch(load_scenario(scenario()), simulated=5).run():
        result = cosim.run(one.scenario, {"fabric": "flow"})
        assert result.training is not None
        assert one.estimate.memory_bytes == result.training.memory_bytes
        assert one.mfu == pytest.approx(result.training.mfu, rel=1e-9)


def test_kept_keys_stay():
    own = load_scenario(scenario(layout={"tp": 2}))
    kept = ("tp", "zero", "micro_batch", "recompute")
    found = LayoutSearch(own, kept=kept, simulated=100).run()
    assert {one.keys["tp"] for one in found} == {2}
    assert not {key for one in found for key in one.keys} & {"zero", "micro_batch", "recompute"}
    with pytest.raises(InputError, match="--keep zer: did you mean zero"):
        LayoutSearch(own, kept=["zer"])


def test_a_list_of_layers_stays_with_its_own_stages_and_chunks():
    """Other layouts, whose chunks are others, divide the layers evenly."""
    own = load_scenario(scenario(layout={"pp": 2, "chunks": 2, "layers": [0, 2, 1, 1]}))
    kept = ("recompute", "zero", "micro_batch", "cp")
    search = LayoutSearch(own, kept=kept, simulated=1000)
    found = search.run()
    assert {one.keys["pp"] for one in found if "pp" in one.keys} >= {2, 4}
    for one in found:
        listed = one.scenario.only_work.workload.layout.layers
        same = (one.keys.get("pp"), one.keys.get("chunks")) == (2, 2)
        assert listed == ((0, 2, 1, 1) if same else None)
        if same:
            assert one.estimate.seconds == pytest.approx(one.seconds, rel=0.05)
    assert search.start is not None
    assert search.start.keys["layers"] == [0, 2, 1, 1]
    fixed = LayoutSearch(own, kept=(*kept, "pp", "chunks"), simulated=1000).run()
    assert {one.scenario.only_work.workload.layout.layers for one in fixed} == {(0, 2, 1, 1)}


def test_nothing_that_fits_is_left_out():
    """Each layout that loads is one of those that are tried, and the others are refused."""
    own = load_scenario(scenario(batch=4))
    kind = WORKLOADS["llm"]
    costs = Costs(resolve(own))
    every = list(kind.layouts(own.workload, 4, ("recompute", "zero")))
    fits = [one.changes for one in kind.estimates(own.workload, 4, costs, every)]
    for changes in every:
        keys = {f"workload.{key}": value for key, value in changes.items()}
        try:
            load_scenario(own, keys)
        except ScenarioError:
            assert changes not in fits
        else:
            assert changes in fits


def test_the_sizes_are_all_factors():
    """8 = 2³ has C(3+3, 3) ordered products of tp, cp, pp and dp, and ep divides dp."""
    found = [tuple(one.values()) for one in sizes(Layout(), 8)]
    assert len(set(found)) == len(found)
    wanted = {
        (tp, cp, pp, ep)
        for tp in range(1, 9)
        for cp in range(1, 9)
        for pp in range(1, 9)
        for ep in range(1, 9)
        if 8 % (tp * cp * pp) == 0 and 8 // (tp * cp * pp) % ep == 0
    }
    assert set(found) == wanted
    assert len({one[:3] for one in found}) == 20
    assert {one["tp"] for one in sizes(Layout(tp=4), 8, ["tp"])} == {4}


def test_the_other_orders_of_long_dimensions():
    layout = Layout(tp=2, pp=2, order="pp-tp-cp-ep-dp")
    found = [one["layout.order"] for one in orders(layout, 8)]
    assert sorted([*found, "pp-tp-dp-cp-ep"]) == sorted(
        "-".join((*order, "cp", "ep")) for order in permutations(("pp", "tp", "dp"))
    )
    assert {one.split("-", 3)[3] for one in found} == {"cp-ep"}


def test_a_budget_limits_what_is_tried():
    search = LayoutSearch(load_scenario(scenario()), 1)
    assert len(search.run()) <= 1 + 1 + 1
    with pytest.raises(InputError, match="--budget 0: expected at least 1 layout to try"):
        LayoutSearch(load_scenario(scenario()), 0)


def test_the_command(tmp_path):
    file = tmp_path / "scenario.json"
    file.write_text(json.dumps(scenario(layout={"tp": 2})))
    folder = tmp_path / "found"
    arguments = ["search", str(file), "--best", "2", "--check", "flow", "--out", str(folder)]
    answer = CliRunner().invoke(main, [*arguments, "--json"], catch_exceptions=False)
    assert answer.exit_code == 0, answer.output
    found = json.loads(answer.stdout)
    assert list(found["seconds"]) == ["start", "estimate", "flow"]
    assert found["seconds"]["estimate"] == found["layouts"][0]["seconds"]
    assert found["seconds"]["estimate"] <= found["seconds"]["start"]
    assert found["estimated"] > found["tried"] == len(found["layouts"])
    answer = CliRunner().invoke(main, arguments, catch_exceptions=False)
    assert answer.exit_code == 0, answer.output
    assert "fastest layouts" in answer.stdout
    assert f"Scenario: {folder / 'scenario.yaml'}" in answer.stderr
