"""The search for one set of parameters."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from bridge.batch.points import Point
from bridge.cli.main import main
from bridge.cli.runs.study import study_command, study_group
from bridge.results.result import Result
from bridge.studies.astra_ns3_dlrm import STUDY
from bridge.studies.astra_ns3_dlrm.fit import UNIT
from bridge.studies.framework.figure import Figure, Scale, Statement
from bridge.studies.framework.model import Choice, Fit, Overrides, Points, Results, Study
from bridge.studies.framework.parameters import AS_USED, Search, overrides, set_name, used
from frontend import load_scenario

from .conftest import SCENARIO

#: The set that makes the claims hold, and the sets that hold one claim more than their neighbours.
TARGET = {"size": "large", "latency": "long", "order": "second"}


def claims(labels: dict[str, str]) -> list[Statement]:
    """Return one claim for each choice, which holds with the value of TARGET."""
    return [
        Figure("1").count(name, 2, 2 if labels[name] == value else 9)
        for name, value in TARGET.items()
    ]


class Recorder:
    """A fit whose points have no results: its claims follow from the name of the set."""

    def __init__(self) -> None:
        self.sets: list[str] = []
        self.asked: list[Overrides] = []
        self.fit = Fit(
            (
                Choice("size", {"small": {}, "large": {"a": 1}}, ("small", "large")),
                Choice("latency", {"short": {}, "long": {"b": 2}, "longer": {"b": 3}}),
                Choice("order", {"first": {}, "second": {"c": 4}}),
            ),
            self.points,
            self.evaluate,
            finalists=1,
        )

    def points(self, folder: Path, scale: Scale, changes: Overrides) -> Points:
        assert scale == "full"
        self.sets.append(str(changes))
        self.asked.append(changes)
        return {str(changes): Point("one", load_scenario(SCENARIO))}

    def evaluate(self, results: Results) -> list[Statement]:
        (asked,) = results
        changes = next(one for one in self.asked if str(one) == asked)
        values = {
            "size": "large" if "a" in changes else "small",
            "latency": {None: "short", 2: "long", 3: "longer"}[changes.get("b")],
            "order": "second" if "c" in changes else "first",
        }
        return claims(values)


def test_the_search_finds_the_set_that_no_single_change_reaches(result: Result) -> None:
    recorder = Recorder()
    rounds = list(Search(recorder.fit, "full", Path(), lambda points: {"one": result}).run())
    assert [one.name for one in rounds[0]] == ["size=large", AS_USED], "the grid"
    ranked = rounds[-1]
    assert ranked[0].labels == TARGET
    assert ranked[0].held == 3
    assert ranked[0].error == 0
    assert overrides(recorder.fit, ranked[0].labels) == {"a": 1, "b": 2, "c": 4}
    assert [one.held for one in ranked] == sorted((one.held for one in ranked), reverse=True)
    assert len(recorder.sets) == len(set(recorder.sets)), "no set is scored twice"


def test_sets_share_the_points_in_which_they_do_not_differ(scenarios: Path) -> None:
    assert STUDY.fit is not None
    sets = [used(STUDY.fit), used(STUDY.fit) | {"order": "random", "chunks": "128 of 64"}]
    first, second = (
        {
            point.name: point.scenario
            for point in STUDY.fit.points(scenarios, "full", overrides(STUDY.fit, one)).values()
        }
        for one in sets
    )
    assert first.keys() & second.keys() == {name for name in first if "DBT" in name}
    assert all(first[name] == second[name] for name in first.keys() & second.keys())


def test_a_set_is_named_after_its_differences() -> None:
    fit = Recorder().fit
    assert set_name(fit, used(fit)) == AS_USED
    assert set_name(fit, used(fit) | {"order": "second"}) == "order=second"


def test_the_study_uses_the_first_values(scenarios: Path) -> None:
    """At full size, the set of the study is the scenario with the page's chunks."""
    assert STUDY.fit is not None
    changes = overrides(STUDY.fit, used(STUDY.fit))
    points = STUDY.fit.points(scenarios, "full", changes).values()
    by_hand = load_scenario(scenarios / "all_reduce.yaml")
    assert [point.scenario for point in points].count(by_hand) == 1
    small = next(iter(STUDY.fit.points(scenarios, "small", changes).values())).scenario.resolved()
    assert small["topology"]["buffer"] == "16MiB"  # 512 KiB a port, as in the paper


def test_every_value_is_valid(scenarios: Path) -> None:
    """A set with a value that cannot be loaded would end a search of minutes."""
    assert STUDY.fit is not None
    scenario = load_scenario(scenarios / "all_reduce.yaml")
    for choice in STUDY.fit.choices:
        for values in choice.values.values():
            assert STUDY.fit.change(scenario, {UNIT: "MiB", **values})


@pytest.fixture
def tiny(study: Study) -> Study:
    """Return a study whose claim holds with messages of 8 KB."""

    def points(folder: Path, scale: Scale, changes: Overrides) -> Points:
        name = f"{scale}-{changes['workload.bytes']}"
        return {"sent": Point(name, load_scenario(SCENARIO, changes))}

    def evaluate(results: Results) -> list[Statement]:
        return [Figure("1").count("Bytes.", 8e3 * 6, results["sent"].network.payload_bytes)]

    sizes: dict[str, dict[str, Any]] = {"2KB": {"workload.bytes": "2KB"}}
    sizes["8KB"] = {"workload.bytes": "8KB"}
    return replace(study, fit=Fit((Choice("size", sizes),), points, evaluate))


def test_command(tiny: Study, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setitem(study_group.commands, tiny.name, study_command(tiny))

    def call(*arguments: str) -> Any:
        return CliRunner().invoke(main, ["study", tiny.name, "--jobs", "1", *arguments])

    answer = call("--fit", "--scale", "full", "--page", "page.md")
    assert answer.exit_code == 0, answer.output
    assert "size=8KB" in answer.stdout
    page = (tmp_path / "results" / "tiny-fit-full" / "fit.md").read_text()
    assert "| size=8KB | 1 of 1 | 1.00× |\n| as used | 0 of 1 |" in page
    assert "| 1 | Bytes. | 48 k | 12 k | no | 48 k | yes |" in page
    assert (tmp_path / "page.md").read_text() == page
    again = call("--fit", "--scale", "full", "--json")
    assert json.loads(again.stdout)[0]["set"] == "size=8KB"
    wrong = call("--fit", "--figure", "1")
    assert wrong.exit_code == 2
    assert "--fit: expected no --figure, --shard or --parameter beside it" in wrong.output


def test_a_study_without_open_parameters(
    study: Study, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setitem(study_group.commands, study.name, study_command(study))
    answer = CliRunner().invoke(main, ["study", study.name, "--fit"])
    assert answer.exit_code == 2
    assert "the study tiny leaves no parameters open" in answer.output
