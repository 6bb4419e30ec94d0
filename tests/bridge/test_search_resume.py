"""`cosim search`: interrupted, resumed, and what is not resumed."""

from __future__ import annotations

import json

import pytest
from click.testing import CliRunner

from bridge.batch.strategy_search import Search
from bridge.batch.training_job import Job
from bridge.cli.main import main
from bridge.errors import InputError
from frontend import load_scenario
from tests.bridge.searched import SWITCH, TOPOOPT, estimated, scenario, settings


def contents(folder):
    return {file.name: file.read_bytes() for file in folder.iterdir()}


@pytest.mark.parametrize("stop", [(0, 1), (0, 100), (1, 60)])
def test_interrupted_and_resumed_is_as_if_it_had_not_been(tmp_path, stop):
    job = Job(load_scenario(scenario(TOPOOPT)))
    whole, parts = tmp_path / "whole", tmp_path / "parts"
    Search(job, settings(), whole).run()

    def interrupt(done, number, best):
        if (done, number) == stop:
            raise KeyboardInterrupt

    first = Search(job, settings(), parts, on_proposal=interrupt)
    message = rf"after {stop[0]} of 3 rounds: .* holds the best so far"
    with pytest.raises(KeyboardInterrupt, match=message):
        first.run()
    # What is there is whole: a scenario that loads, with the best so far.
    kept = Job(load_scenario(parts / "scenario.yaml"))
    assert estimated(kept, kept.start) <= first.state.start_seconds
    Search(job, settings(), parts, resume=True).run()
    assert contents(parts) == contents(whole)
    # Resumed at its end, nothing changes either.
    Search(job, settings(), parts, resume=True).run()
    assert contents(parts) == contents(whole)


def test_a_search_of_an_earlier_version_is_resumed(tmp_path):
    """Earlier versions wrote sizes without a unit, had fewer keys, and some at other places."""
    job = Job(load_scenario(scenario(SWITCH)))
    Search(job, settings(), tmp_path).run()
    file = tmp_path / "search.json"
    saved = json.loads(file.read_bytes())
    assert saved["scenario"].pop("links") == {"mtu": "9000B", "header": "2B"}
    saved["scenario"]["transport"] |= {"mtu": 9000}
    del saved["scenario"]["simulation"]
    file.write_text(json.dumps(saved))
    before = contents(tmp_path)["scenario.yaml"]
    Search(job, settings(), tmp_path, resume=True).run()
    assert contents(tmp_path)["scenario.yaml"] == before
    saved["scenario"]["transport"] |= {"window": 4096_000}
    file.write_text(json.dumps(saved))
    with pytest.raises(InputError, match="saved by a search with another scenario"):
        Search(job, settings(), tmp_path, resume=True).run()


def test_interrupted_what_the_round_found_is_kept(tmp_path):
    job = Job(load_scenario(scenario(SWITCH)))
    told = []

    def interrupt(done, number, best):
        told.append(best)
        if number == 119:
            raise KeyboardInterrupt

    search = Search(job, settings(), tmp_path, on_proposal=interrupt)
    with pytest.raises(KeyboardInterrupt):
        search.run()
    assert told[-1] < search.state.best.seconds
    kept = Job(load_scenario(tmp_path / "scenario.yaml"))
    assert estimated(kept, kept.start) == told[-1]


def test_the_command_ends_with_130_when_interrupted(tmp_path, monkeypatch):
    file = tmp_path / "searched.json"
    file.write_text(json.dumps(scenario(TOPOOPT)))

    def interrupted(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr("bridge.batch.strategy_search.alternate", interrupted)
    folder = tmp_path / "out"
    answer = CliRunner().invoke(main, ["search", str(file), "--out", str(folder)])
    assert answer.exit_code == 130
    assert f"{folder} holds the best so far, and --resume continues from there" in answer.stderr
    assert (folder / "scenario.yaml").exists()


@pytest.mark.parametrize(
    ("changed", "sentence"),
    [
        ({"seed": 3}, "saved by a search with another seed"),
        ({"budget": 5}, "saved by a search with another budget"),
        ({"beta": 1.0}, "saved by a search with another beta"),
    ],
)
def test_other_searches_are_not_resumed(tmp_path, changed, sentence):
    job = Job(load_scenario(scenario(SWITCH)))
    Search(job, settings(rounds=1, budget=10), tmp_path).run()
    with pytest.raises(InputError, match=sentence):
        Search(
            job,
            settings(rounds=1, budget=10, **changed)
            if "budget" not in changed
            else settings(rounds=1, **changed),
            tmp_path,
            resume=True,
        )
    other = Job(load_scenario(scenario(SWITCH), {"workload.batch_per_gpu": 65}))
    with pytest.raises(InputError, match="saved by a search with another scenario"):
        Search(other, settings(rounds=1, budget=10), tmp_path, resume=True)


@pytest.mark.parametrize("content", ["", "[]", "{}", '{"scenario": 1}', "[" * 9999])
def test_what_is_no_search_is_not_resumed(tmp_path, content):
    (tmp_path / "search.json").write_text(content)
    with pytest.raises(InputError, match=r"search\.json: "):
        Search(Job(load_scenario(scenario(SWITCH))), settings(), tmp_path, resume=True)
    assert (tmp_path / "search.json").read_text() == content


@pytest.mark.parametrize(
    ("key", "text", "accepted"),
    [
        ("rounds", "-5", "a whole number, 0 to"),
        ("rounds", "1e30", "a whole number, 0 to"),
        ("rounds", "true", "a whole number, 0 to"),
        ("beta", "NaN", "a finite number of at least 0"),
        ("beta", "Infinity", "a finite number of at least 0"),
        ("beta", "9" * 400, "a finite number of at least 0"),
        ("start_seconds", "-1", "a finite number of at least 0"),
        ("converged", "2", "true or false"),
    ],
)
def test_wrong_values_of_a_stored_state(tmp_path, key, text, accepted):
    job = Job(load_scenario(scenario(SWITCH)))
    Search(job, settings(rounds=0, budget=10), tmp_path).run()
    content = json.loads((tmp_path / "search.json").read_text())
    content["state"][key] = json.loads(text)
    (tmp_path / "search.json").write_text(json.dumps(content))
    with pytest.raises(InputError, match=rf"search\.json: {key}: value .*: expected {accepted}"):
        Search(job, settings(rounds=0, budget=10), tmp_path, resume=True)
