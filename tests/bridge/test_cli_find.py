"""`cosim topo find`: output, cache and errors."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
from click.testing import CliRunner

from bridge.cli.main import main
from tests.bridge.command_line import answer_of
from topology_gen import specs

pytestmark = pytest.mark.usefixtures("elsewhere")


TWELVE = ("--n", "12", "--degree", "4", "--bytes", "1MiB", "--alpha", "10us")


def test_the_command_accepts_the_units_that_its_help_shows() -> None:
    shown = CliRunner().invoke(main, ["topo", "find", "--help"], terminal_width=200).stdout
    examples = [
        re.search(rf"{option} [A-Z]+ .* such as (\S+[a-zA-Z])", shown)
        for option in ("--bytes", "--alpha", "--bandwidth")
    ]
    size, latency, bandwidth = [example.group(1) for example in examples if example]
    answer = answer_of(
        "topo find", "--n", "12", "--degree", "4", "--bytes", size, "--alpha", latency
    )
    assert answer == answer_of(
        "topo find", "--n", "12", "--degree", "4", "--bytes", "64MiB", "--alpha", "0.5us"
    )
    assert answer_of("topo find", *TWELVE, "--bandwidth", bandwidth) == answer_of(
        "topo find", *TWELVE, "--bandwidth", "400Gbps"
    )


def test_answer() -> None:
    """C(12,{2,3}) of table 5: 2 steps, T_B 11/12; M/B is 83.886 µs, so 2·(20 + 76.896)."""
    answer = answer_of("topo find", *TWELVE, "--bandwidth", "100Gbps")
    assert (answer["n"], answer["degree"]) == (12, 4)
    [best] = answer["frontier"]
    assert specs.parse(best["topology"]).name == best["name"] == answer["choice"]
    assert (best["steps"], best["t_b"], best["diameter"]) == (2, "11/12", 2)
    assert best["allreduce_us"] == pytest.approx(2 * (20 + 11 / 12 * 83.88608), abs=0.001)
    # 8 nodes are at least 2 hops away, 4 one hop: (4 + 2·7)/12 of M/B.
    assert answer["bound"]["all_to_all_us"] == pytest.approx(18 / 12 * 83.88608, abs=0.001)
    assert answer["bound"]["allreduce_us"] == best["allreduce_us"]
    assert best["all_to_all_us"] >= answer["bound"]["all_to_all_us"]
    faster = answer_of("topo find", *TWELVE, "--bandwidth", "200Gbps")["frontier"][0]
    assert faster["all_to_all_us"] == pytest.approx(best["all_to_all_us"] / 2, abs=0.001)


def test_table() -> None:
    answer = CliRunner().invoke(main, ["topo", "find", "--n", "6", "--degree", "2"])
    assert answer.exit_code == 0, answer.output
    assert "*" in answer.stdout
    assert "bound" in answer.stdout
    assert "allreduce [µs]" in answer.stdout


def test_cache() -> None:
    """The second answer comes from the file; a broken file is written anew."""
    first = answer_of("topo find", *TWELVE)
    file = Path("cache/cosim/find-12-4.json")
    content = json.loads(file.read_text())
    content["choices"][0]["name"] = "from the file"
    file.write_text(json.dumps(content))
    assert answer_of("topo find", *TWELVE)["frontier"][0]["name"] == "from the file"
    for broken in ("", "{", '{"version": ""}', "\x00"):
        file.write_text(broken)
        assert answer_of("topo find", *TWELVE) == first
        assert json.loads(file.read_text())["choices"]
    assert answer_of("topo find", *TWELVE, "--cache", "elsewhere") == first
    assert Path("elsewhere/find-12-4.json").exists()
    answer_of("topo find", *TWELVE, "--families")
    assert Path("cache/cosim/find-12-4-families.json").exists()


def test_choice_by_sizes() -> None:
    """Latency and bandwidth want different topologies, and so do different sizes."""
    Path("small.csv").write_text("bytes,count\n1KiB,1000\n")
    Path("large.json").write_text('[{"bytes": "1GiB", "count": 3}]')
    Path("both.csv").write_text("bytes,count,collective\n1KiB,10,all_gather\n1MiB,2,all_to_all\n")
    arguments = ("--n", "18", "--degree", "2", "--families")
    small = answer_of("topo find", *arguments, "--sizes", "small.csv")
    large = answer_of("topo find", *arguments, "--sizes", "large.json")
    assert len(small["frontier"]) > 1
    rows = {row["name"]: row for row in small["frontier"]}
    assert rows[small["choice"]]["steps"] < rows[large["choice"]]["steps"]
    for row in small["frontier"]:
        alone = row["steps"] + row["steps_reduce_scatter"]
        assert row["workload_us"] >= 1000 * alone * 10
    both = answer_of("topo find", *arguments, "--sizes", "both.csv", "--bytes", "1MiB")
    for row in both["frontier"]:
        expected = 10 * (row["steps"] * 10 + 1024 * 8e6 / 100e9 * _fraction(row["t_b"]))
        expected += 2 * row["all_to_all_us"]
        assert row["workload_us"] == pytest.approx(expected, abs=0.01)


def _fraction(text: str) -> float:
    above, _, below = text.partition("/")
    return int(above) / int(below or 1)


def test_search_is_kept() -> None:
    """A search of one's own adds to a file, and the finder takes what is there."""
    arguments = ("topo", "find", "--n", "7", "--degree", "3", "--cayley", "--seconds", "0.3")
    answer = CliRunner().invoke(main, [*arguments, "--json"])
    assert answer.exit_code == 0, answer.output
    assert "steps, T_B" in answer.stderr
    found = json.loads(Path("cache/cosim/found.json").read_text())["found"]
    assert {(entry["n"], entry["degree"]) for entry in found} == {(7, 3)}
    again = answer_of("topo find", "--n", "7", "--degree", "3")
    assert again["frontier"] == json.loads(answer.stdout)["frontier"]
    for row in again["frontier"]:
        graph = specs.parse(row["topology"])
        assert (graph.nodes, graph.degree) == (7, 3)
