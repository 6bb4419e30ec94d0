"""The comparison of the fabrics."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
from click.testing import CliRunner

from bridge.errors import InputError
from tests.fidelity import page
from tests.fidelity.__main__ import fidelity
from tests.fidelity.comparison import Case, Row, cases, compare, document, summarize


@pytest.fixture
def set_(scenarios: Path) -> list[Case]:
    return cases(scenarios)


def test_the_set(set_: list[Case], scenarios: Path) -> None:
    names = [case.name for case in set_]
    assert len(set(names)) == len(names)
    circuits = {"ocs_reconfig_small", "ocs_reconfig_nofw_small", "sip_ml_small"}
    changing = circuits | {"link_flap_small", "rail_failure_small"}
    changing |= {"clos_roce_storm_small", "jobs_mix_small", "jobs_hosts_small"}  # events
    changing |= {"jobs_queue_small"}  # jobs that wait
    changing |= {"jobs_classes_small"}  # traffic classes
    # transports of jobs, of which estimators have little
    changing |= {"jobs_transports_small", "jobs_protocols_small"}
    assert {file.stem for file in scenarios.glob("*_small.yaml")} - changing < set(names)
    assert changing.isdisjoint(names)
    assert len(names) >= 5 + 4 * 2 * 2 + 1
    assert [case.name for case in set_ if case.is_lossy] == ["direct_32_8MB_lossy"]
    assert {case.name for case in set_ if case.is_roce} > {"incast_roce_small", "roce_ring_hpcc"}
    assert all("native" not in case.fabrics(native=True) for case in set_ if case.is_roce)


def test_no_scenarios(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="expected the scenarios that come with cosim"):
        cases(tmp_path)


def row(name: str, *, lossy: bool = False, **times_ns: float) -> Row:
    from frontend import load_scenario

    topology = {"family": "flat", "ranks": 2, "bandwidth": "1Gbps", "latency": "1us"}
    workload = {"kind": "collective", "operation": "all_reduce", "algorithm": "ring"}
    scenario = load_scenario(
        {"topology": topology | {"buffer": "1MB"}, "workload": workload | {"bytes": "1MB"}}
    )
    return Row(Case(name, scenario, lossy), times_ns, dict.fromkeys(times_ns, 0.1), 0)


def test_errors_are_relative_to_express() -> None:
    rows = [
        row("a", express=100, flow=98, analytical=110),
        row("b", express=200, flow=202),
        row("c", express=100, flow=10, analytical=1, lossy=True),
    ]
    assert rows[0].deviation("flow") == pytest.approx(-0.02)
    assert rows[1].deviation("analytical") is None
    summary = summarize(rows, "flow")
    assert summary is not None
    assert summary.mean_absolute == pytest.approx(0.015)
    assert (summary.least, summary.greatest) == pytest.approx((-0.02, 0.01))
    assert summary.cases == 2
    assert summarize([rows[2]], "flow") is None
    assert document(rows)[0]["vs_express"]["analytical"] == pytest.approx(0.1)


def test_page_and_picture(tmp_path: Path) -> None:
    rows = [row("a", native=100, express=100, flow=98, analytical=110)]
    text = page.markdown(rows, native=True)
    assert "| a | 100.0 ns | 100.0 ns | 98.00 ns | -2.00 % | 110.0 ns | +10.00 % |" in text
    assert "| express against native, without loss | 1 | +0.00 % | +0.00 % | 0.00 % |" in text
    pytest.importorskip("matplotlib")
    for name in ("a.svg", "b.svg"):
        page.draw(rows, tmp_path / name)
    assert (tmp_path / "a.svg").read_text() == (tmp_path / "b.svg").read_text()


def test_without_loss_estimates_are_near(set_: list[Case]) -> None:
    """A ring's steps do not meet: both estimators are exact but for acknowledgements."""
    chosen = [case for case in set_ if case.name == "ring_16_256KB"]
    (compared,) = compare(chosen)
    assert not compared.errors
    assert compared.drops == 0
    for fabric in ("flow", "analytical"):
        assert compared.deviation(fabric) == pytest.approx(0, abs=1e-3)


def test_command(scenarios: Path, tmp_path: Path) -> None:
    pytest.importorskip("matplotlib")
    arguments = ["--only", "collective_small", "--scenarios", str(scenarios)]
    arguments += ["--out", str(tmp_path / "results"), "--write", str(tmp_path)]
    answer = CliRunner().invoke(fidelity, arguments)
    assert answer.exit_code == 0, answer.output
    assert "collective_small" in answer.stdout
    assert "[3/3]" in answer.stderr
    assert (tmp_path / "fidelity.md").read_text().startswith("# Fidelity")
    assert (tmp_path / "fidelity.svg").exists()
    # What is in the folder is not simulated again.
    answer = CliRunner().invoke(fidelity, [*arguments, "--json"])
    assert answer.stderr == ""
    (entry,) = json.loads(answer.stdout)
    assert set(entry["time_ns"]) == {"express", "flow", "analytical"}


def test_the_page_is_of_this_set(set_: list[Case], repository: Path) -> None:
    text = (repository / "docs" / "fidelity.md").read_text(encoding="utf-8")
    listed = text.partition("## The scenarios")[2].splitlines()
    named = [line.split("|")[1].strip() for line in listed if line.startswith("|")]
    assert named[2:] == [case.name for case in set_], "make fidelity"


def test_summary_of_the_page_is_that_of_its_rows(repository: Path) -> None:
    """Scenarios that were added by hand count, too; percentages are rounded to two places."""
    text = (repository / "docs" / "fidelity.md").read_text(encoding="utf-8")
    rows = re.findall(r"^\| (\w+) \| [\d.]+ .s \| .* \| (\S+) % \| .* \| (\S+) % \|$", text, re.M)
    rows = [row for row in rows if not row[0].endswith("lossy")]
    for place, fabric in enumerate(("flow", "analytical"), 1):
        found = re.search(rf"{fabric} against express, without loss \| (\d+) .* ([\d.]+) %", text)
        assert found is not None
        mean = sum(abs(float(row[place])) for row in rows) / len(rows)
        assert int(found[1]) == len(rows)
        assert float(found[2]) == pytest.approx(mean, abs=0.011)
