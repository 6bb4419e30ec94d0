"""Altered files: each answer is a result, or one sentence and the exit status for it."""

from __future__ import annotations

import os
import signal
from functools import partial
from itertools import islice
from pathlib import Path

import pytest

from tests.fuzz import cases, corpus, oracle
from tests.fuzz.cases import Case, Corpus
from tests.fuzz.oracle import Answer
from tests.fuzz.workers import Workers

FOUND = Path(__file__).parent / "found"

OF_EACH_KIND = 15
"""Altered files of each kind."""


@pytest.fixture(scope="module")
def seeds(scenarios: Path) -> Corpus:
    return corpus.make(scenarios)


def test_files_that_were_not_altered_are_right(seeds: Corpus) -> None:
    """Otherwise, the altered ones would be refused for a reason that is in all of them."""
    kinds = [(kind, 0, i) for kind, of_kind in seeds.items() for i in range(len(of_kind))]
    unaltered = Workers(lambda kind, _, i: seeds[kind][i].case, 1)
    assert {v.name: (v.status, v.wrong) for v in unaltered.run(iter(kinds))} == dict.fromkeys(
        kinds, (0, "")
    )


def test_altered_files(seeds: Corpus) -> None:
    names = islice(cases.names(seeds, 7), OF_EACH_KIND * len(seeds))
    verdicts = list(Workers(partial(cases.number, seeds), 1).run(names))
    assert len(verdicts) == OF_EACH_KIND * len(seeds)
    assert {verdict.name: verdict.wrong for verdict in verdicts if verdict.wrong} == {}
    assert {verdict.status for verdict in verdicts} >= {0, 2}


def test_altered_files_that_once_were_answered_wrongly() -> None:
    folders = sorted(folder.name for folder in FOUND.iterdir())
    workers = Workers(lambda name, _, __: cases.stored(FOUND / name), 1)
    verdicts = workers.run((name, 0, 0) for name in folders)
    assert {verdict.name[0]: verdict.wrong for verdict in verdicts} == dict.fromkeys(folders, "")


def test_a_case_can_be_made_again_and_stored(seeds: Corpus, tmp_path: Path) -> None:
    for kind in seeds:
        case = cases.number(seeds, kind, 3, 4)
        assert case == cases.number(seeds, kind, 3, 4)
        assert case != cases.number(seeds, kind, 3, 5)
        case.store(tmp_path / kind)
        assert cases.stored(tmp_path / kind) == case


CASE = Case(("run", "x.yaml", "--json"), {})


@pytest.mark.parametrize(
    ("given", "what"),
    [
        (Answer(1, "", "Traceback (most recent call last):\nKeyError: 'x'"), "a traceback"),
        (Answer(-6, "", "terminate called"), "ended by SIGABRT"),
        (Answer(3, "", "cosim: no"), "exit status 3"),
        (Answer(2, "", ""), "exit status 2 without a sentence"),
        (Answer(2, "", "no such file\n"), "exit status 2 without a sentence"),
        (Answer(2, "", f"cosim: {'x' * 2000}\n"), "not a sentence"),
        (Answer(2, "half a result", "cosim: no\n"), "prints although its input is bad"),
        (Answer(0, '{"time_ns": NaN}', ""), "its JSON is wrong"),
    ],
)
def test_wrong_answers_are_noticed(given: Answer, what: str) -> None:
    assert oracle.wrong(CASE, given).startswith(what)


@pytest.mark.parametrize(
    "given", [Answer(0, "{}", "note"), Answer(2, "", "cosim: x: expected y\n"), Answer(130, "", "")]
)
def test_right_answers_are_right(given: Answer) -> None:
    assert oracle.wrong(CASE, given) == ""


def test_reading_may_not_take_long() -> None:
    case = Case(("validate", "x.yaml"), {})
    assert oracle.wrong(case, Answer(130, "", "")) == "takes too long to read"


def test_a_process_that_dies_is_a_wrong_answer() -> None:
    """The next case runs in a new process."""

    def die_at_one(kind: str, seed: int, index: int) -> Case:
        if index == 1:
            os.kill(os.getpid(), signal.SIGKILL)
        return Case(("list", "--json"), {})

    verdicts = list(Workers(die_at_one, 1).run(("x", 0, i) for i in range(3)))
    assert [verdict.status for verdict in verdicts] == [0, -9, 0]
    assert verdicts[1].wrong.startswith("the process ended by SIGKILL")
