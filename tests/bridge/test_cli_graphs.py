"""`cosim topo` and `cosim schedule`: output and errors."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import CliRunner

from bridge.cli.main import main
from tests.bridge.command_line import answer_of, invoke
from topology_gen.specs import FAMILIES

pytestmark = pytest.mark.usefixtures("elsewhere")


def test_schedule_of_a_family() -> None:
    answer = answer_of("schedule", "bfb", "--topology", "generalized_kautz:d=4,n=200")
    assert 0 < answer.pop("seconds") < 60
    assert answer == {
        "name": "Pi(4,200)",
        "n": 200,
        "degree": 4,
        "steps": 4,
        "t_b": "191/150",
        "steps_reduce_scatter": 4,
        "t_b_reduce_scatter": "17/10",
        "bw_optimal": False,
        "moore_optimal": True,
        "chunks_per_shard": answer["chunks_per_shard"],
        "u_per_step": answer["u_per_step"],
        "sends": answer["sends"],
        "replayed": True,
    }


@pytest.mark.parametrize(
    "command", [("topo", "show"), ("topo", "export"), ("topo", "all-to-all"), ("schedule", "bfb")]
)
def test_a_spec_is_an_argument_or_an_option(command: tuple[str, str]) -> None:
    spec = "torus:dims=3x3"
    as_argument, as_option = invoke(*command, spec), invoke(*command, "--topology", spec)
    if "bfb" not in command:  # its output has the time that it took
        assert as_argument.stdout == as_option.stdout
    both = CliRunner().invoke(main, [*command, spec, "--topology", spec])
    assert both.exit_code == 2
    assert both.stderr.startswith(f"cosim: --topology {spec}: expected either this option or ")


def test_numbers_for_people_have_few_digits_and_units() -> None:
    shown = invoke("topo", "show", "torus:dims=4x4x3").stdout
    assert "mean_distance" in shown
    assert max(len(word) for word in shown.split() if word[0].isdigit()) <= 6
    cost = ("--servers", "128", "--degree", "4", "--bandwidth", "100Gbps")
    bill = invoke("topo", "cost", "--architecture", "topoopt", *cost).stdout
    assert "100 Gbit/s" in bill
    assert bill.count(" dollars") == 7


def test_schedule_of_edges_in_chunks() -> None:
    # On a ring of 4 the far shard comes half from either side, or whole if it must not be cut.
    edges = [[v, (v + way) % 4] for v in range(4) for way in (1, 3)]
    Path("ring.json").write_text(json.dumps(edges))
    answer = answer_of("schedule", "bfb", "--edges", "ring.json")
    assert (answer["t_b"], answer["chunks_per_shard"], answer["bw_optimal"]) == ("3/4", 2, True)
    assert (answer["name"], answer["u_per_step"]) == ("ring.json", ["1", "1/2"])
    whole = answer_of("schedule", "bfb", "--edges", "ring.json", "--chunks", "1")
    assert (whole["t_b"], whole["t_b_reduce_scatter"]) == ("1", "1")
    assert "3/4" in invoke("schedule", "bfb", "--edges", "ring.json").stdout


def test_list() -> None:
    families = answer_of("topo", "list")
    assert families.keys() == FAMILIES.keys()
    assert families["torus"]["example"] == "torus:dims=4x8"
    assert "hypercube:n=64" in invoke("topo", "list").stdout


def test_the_table_shows_every_example_as_it_is_written(monkeypatch: pytest.MonkeyPatch) -> None:
    # An expansion has its base in brackets, which rich would take for markup.
    monkeypatch.delenv("COLUMNS", raising=False)
    shown = [line.split()[0] for line in invoke("topo", "list").stdout.splitlines()[2:]]
    assert shown == [entry["example"] for entry in answer_of("topo", "list").values()]
    assert "line:of=[complete_bipartite:d=2],k=3" in shown


def test_a_pipe_gets_one_line_for_a_row(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("COLUMNS", raising=False)
    lines = invoke("topo", "list").stdout.splitlines()
    assert len(lines) == 2 + len(answer_of("topo", "list"))
    monkeypatch.setenv("COLUMNS", "80")
    assert max(map(len, invoke("topo", "list").stdout.splitlines())) <= 80


def test_show() -> None:
    answer = answer_of("topo", "show", "kautz:d=2,k=3")
    assert (answer["n"], answer["degree"], answer["diameter"]) == (12, 2, 3)
    assert answer_of("topo", "show", "double_binary_tree:n=8")["degree"] is None
    assert "Hypercube(2^3)" in invoke("topo", "show", "hypercube:n=8").stdout


def test_a_specification_may_be_longer_than_a_file_name() -> None:
    offsets = "+".join(str(offset) for offset in range(1, 100))
    assert answer_of("topo", "show", f"circulant:n=200,offsets={offsets}")["degree"] == 198


def test_export_is_what_edges_reads() -> None:
    invoke("topo", "export", "kautz:d=2,k=3", "-o", "kautz.json")
    named = answer_of("schedule", "bfb", "--topology", "kautz:d=2,k=3")
    read = answer_of("schedule", "bfb", "--edges", "kautz.json")
    for answer in (named, read):
        del answer["seconds"], answer["name"]
    assert read == named
    assert invoke("topo", "export", "kautz:d=2,k=3", "--format", "dot").stdout.startswith("digraph")


TEXT = """4 1 3
3
0 3 400Gbps 0.0005ms 0
1 3 400Gbps 0.0005ms 0.01
2 3 200Gbps 0.0005ms 0
"""


def test_export_of_a_network_file_is_in_its_format() -> None:
    """What was read comes out again, byte by byte; other formats lead back to it."""
    Path("text").write_text(TEXT)
    assert invoke("topo", "export", "text").stdout == TEXT
    for form in ("csv", "yaml", "graphml", "simai"):
        invoke("topo", "export", "text", "--format", form, "-o", form)
        assert invoke("topo", "export", form, "--format", "astra-sim").stdout == TEXT
        if form != "yaml":  # as a digraph, a scenario may be YAML, too
            assert invoke("topo", "export", form).stdout == Path(form).read_text()
    answer = CliRunner().invoke(main, ["topo", "export", "text", "--format", "infragraph"])
    assert answer.exit_code == 0
    assert answer.stderr == "note: the format infragraph has no place for loss\n"
    Path("infra.yaml").write_text(answer.stdout)
    assert invoke("topo", "export", "infra.yaml").stdout == answer.stdout
    assert answer_of("topo", "show", "infra.yaml")["switches"] == 1
    names = answer_of("topo", "show", "text")
    assert (names["rank_names"], names["switch_names"]) == ("rank0 … rank2", "switch3")


def test_all_to_all() -> None:
    invoke("topo", "export", "circulant:n=12", "-o", "circulant.json")
    for source in (("--edges", "circulant.json"), ("--topology", "circulant:n=12")):
        answer = answer_of("topo", "all-to-all", *source)
        assert answer["f"] == pytest.approx(3 / 14)
        assert answer["f_fraction"] == "3/14"
        assert answer["distance_bound"] == pytest.approx(2 / 9)
        assert answer["distance_bound_fraction"] == "2/9"


def test_a_network_with_the_prices_of_a_file(scenarios: Path) -> None:
    """Amounts are sums of parts; what a list of prices does not know is not made up."""
    file = str(scenarios / "first_clos.yaml")
    usual = answer_of("topo", "show", file)
    assert usual["watts"] is None
    assert usual["watts_unknown"] == ["nic"]
    ports = sum(tier["ports"] for tier in usual["tiers"])
    assert usual["watts_of_the_others"] == 2 * usual["cables"] * 3.5 + ports * 5.28
    assert "without nic" in invoke("topo", "show", file).stdout
    text = invoke("topo", "prices").stdout
    Path("prices.yaml").write_text(text)
    assert answer_of("topo", "show", file, "--prices", "prices.yaml") == usual
    Path("prices.yaml").write_text(
        "fibre: {dollars: 0, watts: 0}\n"
        "parts:\n"
        "- rate: 400Gbps\n"
        "  transceiver: {dollars: 7, watts: 9}\n"
        "  nic: {dollars: 100, watts: 20, ports: 1}\n"
        "  switch_port: {dollars: 10, watts: 5}\n"
    )
    answer = answer_of("topo", "show", file, "--prices", "prices.yaml")
    ports = sum(tier["ports"] for tier in answer["tiers"])
    cables = answer["cables"]
    assert ports == 2 * cables - 32
    assert answer["dollars"] == 2 * cables * 7 + 32 * 100 + ports * 10
    assert answer["watts"] == 2 * cables * 9 + 32 * 20 + ports * 5
    assert answer["bisection_bps"] == 32 // 2 * 100e9 / 2
    shown = invoke("topo", "show", file, "--prices", "prices.yaml").stdout
    assert "oversubscription 2:1" in shown
