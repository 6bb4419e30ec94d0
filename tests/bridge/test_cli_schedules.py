"""`cosim schedule` makes, checks and converts files of schedules and algorithms."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from bridge.cli.main import main
from tests.bridge.command_line import answer_of, invoke
from tests.topology_gen import msccl_files

pytestmark = pytest.mark.usefixtures("elsewhere")


def refused(*arguments: str) -> Result:
    """One sentence on stderr, exit status 2."""
    answer = CliRunner().invoke(main, ["schedule", *arguments])
    assert answer.exit_code == 2, answer.output
    assert "Traceback" not in answer.stderr
    if "Usage" not in answer.stderr:
        assert answer.stderr.startswith("cosim: ")
        assert answer.stderr.count("\n") == 1
    return answer


def test_a_schedule_is_written_and_checked() -> None:
    made = answer_of("schedule", "bfb", "--topology", "torus:dims=4x4", "--out", "gather.json")
    checked = answer_of("schedule", "check", "gather.json")
    assert checked["valid"] is True
    assert checked["operation"] == "all_gather"
    for key in ("name", "n", "steps", "t_b", "u_per_step", "sends"):
        assert checked[key] == made[key]
    # Fifteen shards come to every node, over four links evenly.
    loads = checked["link_loads"]
    assert len(loads) == 64
    assert {load["shards"] for load in loads} == {"15/4"} == {checked["max_link_load"]}
    assert "all_gather" in invoke("schedule", "check", "gather.json").stdout


@pytest.mark.parametrize("operation", ["all_gather", "reduce_scatter", "all_reduce"])
def test_to_xml_and_back(operation: str) -> None:
    graph = ("--topology", "generalized_kautz:d=2,n=7", "--operation", operation)
    made = answer_of("schedule", "bfb", *graph, "--out", "s.json")
    invoke("schedule", "export", "s.json", "--format", "msccl-xml", "--no-fuse", "-o", "s.xml")
    original, checked = (
        answer_of("schedule", "check", "s.json"),
        answer_of("schedule", "check", "s.xml"),
    )
    assert (checked["valid"], checked["operation"], checked["n"]) == (True, operation, 7)
    assert checked["steps"] == original["steps"]
    assert checked["max_link_load"] == original["max_link_load"]
    assert (checked["slots"], checked["msccl_refuses"]) == (0, [])
    # Links without load, such as loops, are in the schedule's list alone.
    loaded = [load for load in original["link_loads"] if load["shards"] != "0"]
    assert sorted(map(str, checked["link_loads"])) == sorted(map(str, loaded))
    time = {"all_gather": made["t_b"], "reduce_scatter": made["t_b_reduce_scatter"]}
    assert original["t_b"] == time.get(operation, original["t_b"])

    invoke("schedule", "import", "s.xml", "--out", "again.json")
    again = answer_of("schedule", "check", "again.json")
    for key in ("operation", "steps", "messages", "link_loads"):
        assert again[key] == checked[key]
    assert invoke("schedule", "export", "again.json", "--format", "msccl-xml").stdout == Path(
        "s.xml"
    ).read_text(encoding="utf-8")


def test_options_of_the_lowering() -> None:
    answer_of(
        "schedule", "bfb", "--topology", "ring:n=8", "--operation", "all_reduce", "--out", "s.json"
    )
    steps = {}
    for options in ("--no-fuse", "", "--max-bytes 1MiB", "--protocol LL", "--consolidate always"):
        invoke(
            "schedule", "export", "s.json", "--format", "msccl-xml", *options.split(), "-o", "s.xml"
        )
        text = Path("s.xml").read_text(encoding="utf-8")
        steps[options] = text.count("<step")
        assert ('type="rcs"' in text) == (options in ("--max-bytes 1MiB", "--protocol LL"))
        checked = answer_of("schedule", "check", "s.xml")
        assert checked["most_bytes"] == (2**20 if "1MiB" in options else None)
        assert checked["slots"] == (2 if 'type="rcs"' in text else 0)
    # Most steps of this ring move two chunks over a link, in one message if the data is small. A
    # connection holds two messages with Simple, eight with LL.
    assert steps[""] == steps["--no-fuse"] == 8 * 36
    assert steps["--max-bytes 1MiB"] == steps["--protocol LL"] == 8 * 28
    assert steps["--consolidate always"] > steps[""]


@pytest.mark.parametrize(
    "options", [["--no-fuse"], ["--fuse"], ["--max-bytes", "1MB"], ["--consolidate", "always"]]
)
def test_options_for_schedules_only(options: list[str]) -> None:
    invoke("schedule", "bfb", "--topology", "ring:n=3", "--out", "s.json")
    invoke("schedule", "export", "s.json", "--format", "msccl-xml", "-o", "s.xml")
    text = refused("export", "s.xml", "--format", "msccl-xml", *options).stderr
    assert f"s.xml: expected no {options[0]} for an algorithm of thread blocks" in text
    text = refused("export", "s.json", "--format", "mscclpp-json", *options).stderr
    assert f"s.json: expected no {options[0]} for an MSCCL++ plan" in text


def test_to_plan_and_back() -> None:
    answer = answer_of(
        "schedule",
        "all-to-all",
        "--topology",
        "circulant:n=12,offsets=2+3",
        "--out",
        "exchange.json",
    )
    assert (answer["f_fraction"], answer["f_schedule"]) == ("3/14", "3/14")
    assert (answer["max_link_load"], answer["steps"]) == ("14/3", 3)
    assert answer["f"] == pytest.approx(3 / 14)
    invoke("schedule", "export", "exchange.json", "--format", "mscclpp-json", "-o", "plan.json")
    for file, form in (("exchange.json", "json"), ("plan.json", "mscclpp-json")):
        checked = answer_of("schedule", "check", file)
        assert (checked["format"], checked["operation"]) == (form, "all_to_all")
        assert (checked["steps"], checked["max_link_load"]) == (3, "14/3")
    coarse = answer_of(
        "schedule", "all-to-all", "--topology", "circulant:n=12,offsets=2+3", "--chunks", "1"
    )
    assert coarse["chunks_per_shard"] == 1


def test_more_channels_where_one_is_too_long(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("topology_gen.formats.msccl.MOST_STEPS", 20)
    invoke("schedule", "all-to-all", "--topology", "unidirectional_ring:n=12", "--out", "long.json")
    invoke("schedule", "export", "long.json", "--format", "msccl-xml", "-o", "long.xml")
    assert 'nchannels="2"' in Path("long.xml").read_text(encoding="utf-8")
    sentence = refused("export", "long.json", "--format", "msccl-xml", "--channels", "1").stderr
    assert "steps: expected at most 20" in sentence


def test_files_of_other_tools() -> None:
    Path("pairs.xml").write_text(msccl_files.all_pairs_all_reduce(4))
    checked = answer_of("schedule", "check", "pairs.xml")
    assert (checked["name"], checked["operation"], checked["n"]) == (
        "allreduce_pairs", "all_reduce", 4,
    )  # fmt: skip
    assert (checked["steps"], checked["messages"], checked["adds_to"]) == (2, 24, "src")
    assert (checked["in_place"], checked["out_of_place"]) == (True, False)
    # A quarter of the buffer to each peer, twice.
    assert {load["shards"] for load in checked["link_loads"]} == {"2"}
    Path("tools.xml").write_text(msccl_files.shifted_reduce_scatter())
    assert answer_of("schedule", "check", "tools.xml")["adds_to"] == "dst"


@pytest.mark.parametrize(
    ("content", "sentence"),
    [
        ("", "bad.file: expected JSON, but"),
        ("<algo>", "bad.file: line 1: <algo>: missing attribute proto"),
        ('{"gpus": []}', "bad.file: collective: is missing"),
        (msccl_files.ring_all_reduce(4, 1).replace('"rrs"', '"rcs"'), "bad.file: in place, rank 0"),
    ],
)
def test_bad_files(content: str, sentence: str) -> None:
    Path("bad.file").write_text(content)
    failed = json.loads(refused("check", "bad.file", "--json").stdout)
    assert failed["valid"] is False
    assert sentence in failed["error"]


def test_a_schedule_that_is_wrong() -> None:
    invoke("schedule", "bfb", "--topology", "ring:n=4", "--out", "ring.json")
    document = json.loads(Path("ring.json").read_text())
    document["shard"][0] = (document["shard"][0] + 1) % 4
    Path("ring.json").write_text(json.dumps(document))
    failed = json.loads(refused("check", "ring.json", "--json").stdout)
    assert "ring.json: all_gather on BiRing(2,4): rank " in failed["error"]


def test_a_failure_costs_what_the_schedules_around_it_say() -> None:
    # A node of a 4x4 torus with three links gets 15 shards over them instead of four: 4/3.
    torus = ("--topology", "torus:dims=4x4", "--without", "0-1")
    for kind in ("bfb", "trees"):
        made = answer_of("schedule", kind, *torus, "--out", "s.json")
        assert made["name"] == "Torus(4x4) without 0-1"
        assert made["slowdown"] == pytest.approx(4 / 3)
        checked = answer_of("schedule", "check", "s.json")
        assert len(checked["link_loads"]) == 62
        assert checked["max_link_load"] == "5"
    made = answer_of("schedule", "all-to-all", *torus, "--out", "s.json")
    assert made["f_intact"] == pytest.approx(1 / 8)
    assert made["slowdown"] == pytest.approx(made["f_intact"] / made["f"])
    assert answer_of("schedule", "check", "s.json")["n"] == 16
    # Without a node, the others send on around it.
    assert answer_of("schedule", "bfb", *torus[:2], "--without", "5")["n"] == 15


def test_trees_of_boxes_that_a_scenario_describes() -> None:
    boxes = str(Path(__file__).parents[2] / "scenarios" / "boxes.yaml")
    made = answer_of("schedule", "trees", "--scenario", boxes)
    # 15 shards enter a rank over 300 GB/s in the box and a rail of 25 GB/s.
    assert made["optimum_gbytes_per_s"] == pytest.approx(16 / 15 * 325)
    assert made["algbw_gbytes_per_s"] > 0.998 * 16 / 15 * 325
    assert len(made["cut_senders"]) == 15
    assert made["replayed"] is True
    assert made["cut_gbytes_per_s"] == pytest.approx(325)
    # Breadth-first broadcast needs both directions of a rail in turn: 260 GB/s without latency.
    bfb = answer_of("schedule", "bfb", "--scenario", boxes, "--bytes", "16GB", "--chunks", "1024")
    assert bfb["algbw_gbytes_per_s"] == pytest.approx(260, rel=1e-3)


@pytest.mark.parametrize("operation", ["all_reduce", "broadcast", "reduce", "reduce_scatter"])
def test_trees_of_every_operation(operation: str) -> None:
    graph = ("--topology", "torus:dims=3x3", "--operation", operation, "--segments", "2")
    made = answer_of("schedule", "trees", *graph, "--out", "s.json")
    assert answer_of("schedule", "check", "s.json")["operation"] == operation
    # 8/9 of the data at 4 links of 12.5 GB/s; a broadcast fills all links of the root.
    share = {"all_reduce": 16 / 9, "reduce_scatter": 8 / 9}.get(operation, 1)
    assert made["optimum_gbytes_per_s"] == pytest.approx(50 / share)
    assert made["algbw_gbytes_per_s"] == pytest.approx(50 / share)


def test_rates_of_links_in_a_file() -> None:
    Path("pair.json").write_text('[[0, 1, "30Gbps"], [0, 1], [1, 0, "30Gbps"], [1, 0]]')
    made = answer_of(
        "schedule", "bfb", "--edges", "pair.json", "--bandwidth", "10Gbps", "--bytes", "1MB"
    )
    # Half of the data over 40 Gbit/s.
    assert made["time_us"] == pytest.approx(100)
    assert made["chunks_per_shard"] == 4


def test_all_to_alls_over_links_that_differ() -> None:
    boxes = str(Path(__file__).parents[2] / "scenarios" / "boxes.yaml")
    found = answer_of("schedule", "all-to-all", "--scenario", boxes)
    # 8 · 8 flows cross 8 rails of 200 Gbit/s: 25 Gbit/s each, where links inside have 342.857.
    assert found["fastest_bps"] == 342_857_142_857
    assert found["f"] * found["fastest_bps"] == pytest.approx(25e9)
    assert (found["gap"], found["steps"]) == (pytest.approx(0, abs=1e-6), 2)
    broken = answer_of("schedule", "all-to-all", "--scenario", boxes, "--without", "0-8")
    assert broken["slowdown"] == pytest.approx(8 / 7)
