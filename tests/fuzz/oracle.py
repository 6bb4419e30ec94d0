"""Runs a case, and says what is wrong with the answer."""

from __future__ import annotations

import json
import math
import os
import resource
import signal
import subprocess
import tempfile
import time
import traceback
from collections.abc import Iterator
from contextlib import chdir
from pathlib import Path
from types import FrameType
from typing import NamedTuple

from click.testing import CliRunner

from bridge.cli.main import main
from tests.fuzz.cases import Case

SOFT_S = 3
"""Seconds of CPU time until a case is interrupted."""
HARD_S = 20
"""Seconds of CPU time after which the kernel ends the process of a case that goes on."""
MEMORY = 3 << 30
"""Bytes of memory that a process may map."""

_OK, _FAILED, _BAD_INPUT, _INTERRUPTED = 0, 1, 2, 130
_LONGEST = 1000


class Answer(NamedTuple):
    """What a command did.

    Attributes
    ----------
    status : int
        Its exit status, or minus the number of the signal that ended it.
    stdout, stderr : str
        What it printed.
    """

    status: int
    stdout: str
    stderr: str


def limit() -> None:
    """Let this process use `HARD_S` more seconds of CPU time, and map at most `MEMORY` more bytes.

    What it maps at the first call does not count: libraries of a parent may map gigabytes.
    """
    if resource.getrlimit(resource.RLIMIT_AS)[0] == resource.RLIM_INFINITY:
        pages = int(Path("/proc/self/statm").read_text(encoding="ascii").split()[0])
        most = pages * resource.getpagesize() + MEMORY
        resource.setrlimit(resource.RLIMIT_AS, (most, most))
    used = math.ceil(time.process_time())
    resource.setrlimit(resource.RLIMIT_CPU, (used + HARD_S, resource.RLIM_INFINITY))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))


def answer(case: Case, program: Path | None = None) -> Answer:
    """Run a case in a folder of its own.

    Parameters
    ----------
    case : Case
        The case.
    program : path, optional
        The program to run a stream with, in place of `cosim replay`.
    """
    with tempfile.TemporaryDirectory(prefix="cosim-fuzz-") as folder:
        case.write(Path(folder))
        if program is not None:
            return _replayed(program, Path(folder) / case.arguments[1])
        with chdir(folder):
            return _called(case)


def _called(case: Case) -> Answer:
    """Call the command line in this process, and interrupt it as Ctrl-C does."""
    signal.signal(signal.SIGPROF, _interrupt)
    signal.setitimer(signal.ITIMER_PROF, SOFT_S)
    try:
        result = CliRunner().invoke(main, case.arguments, prog_name="cosim")
    except KeyboardInterrupt:  # between the command and its answer
        return Answer(_INTERRUPTED, "", "")
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
    stderr = result.stderr
    if result.exception is not None and not isinstance(result.exception, SystemExit):
        stderr += "".join(traceback.format_exception(result.exception))
    return Answer(result.exit_code, result.stdout, stderr)


def _interrupt(number: int, frame: FrameType | None) -> None:
    raise KeyboardInterrupt


def _replayed(program: Path, stream: Path) -> Answer:
    """Run a stream with ns3-scratch/replay."""
    command = [os.fspath(program), os.fspath(stream)]
    try:
        done = subprocess.run(
            command, capture_output=True, text=True, errors="replace", timeout=HARD_S, check=False
        )
    except subprocess.TimeoutExpired:
        return Answer(_INTERRUPTED, "", "")
    return Answer(done.returncode, done.stdout, done.stderr)


def wrong(case: Case, given: Answer) -> str:
    """Return what is wrong with an answer; empty if nothing is."""
    lines = given.stderr.splitlines()
    if "Traceback" in given.stderr:
        return f"a traceback: {lines[-1][:200]}"
    if given.status < 0:
        return f"ended by {signal.Signals(-given.status).name}: {given.stderr[-300:]}"
    if given.status == _INTERRUPTED:
        return "" if case.simulates else "takes too long to read"
    if given.status not in (_OK, _FAILED, _BAD_INPUT):
        return f"exit status {given.status}"
    if given.status == _OK:
        return _wrong_json(case, given.stdout)
    sentences = [line for line in lines if line.startswith(("cosim: ", "replay: "))]
    if not sentences:
        return f"exit status {given.status} without a sentence: {given.stderr[:200]!r}"
    for line in sentences:
        if len(line) > _LONGEST or not line.isprintable():
            return f"not a sentence: {line[:200]!r}"
    if given.status == _BAD_INPUT and given.stdout:
        return f"prints although its input is bad: {given.stdout[:100]!r}"
    return ""


def different(given: Answer, other: Answer) -> str:
    """Return what differs between the results of two commands; empty if nothing does.

    Only the scenario, and what the simulator says of itself and of what it replayed, may differ.
    """
    statuses = {given.status, other.status}
    if _INTERRUPTED in statuses:
        return ""
    if len(statuses) > 1:
        sentence = (given.stderr + other.stderr).strip()
        return f"exit status {given.status}, but {other.status} by the reference: {sentence[:300]}"
    if given.status != _OK:
        return ""
    results = [json.loads(answer.stdout) for answer in (given, other)]
    for result in results:
        del result["scenario"], result["simulator"]
        result.pop("replay", None)
    return next(_differences("", *results), "")


def _differences(path: str, given: object, other: object) -> Iterator[str]:
    if isinstance(given, dict) and isinstance(other, dict) and given.keys() == other.keys():
        for key, value in given.items():
            yield from _differences(f"{path}.{key}" if path else key, value, other[key])
    elif isinstance(given, list) and isinstance(other, list) and len(given) == len(other):
        for index, (one, two) in enumerate(zip(given, other, strict=True)):
            yield from _differences(f"{path}.{index}", one, two)
    elif given != other:
        yield f"{path} is {given!r:.99}, but {other!r:.99} by the reference"


def _wrong_json(case: Case, text: str) -> str:
    if "--json" not in case.arguments:
        return ""
    try:
        json.loads(text, parse_constant=_refuse_constant)
    except ValueError as error:
        return f"its JSON is wrong: {error}"
    return ""


def _refuse_constant(name: str) -> None:
    raise ValueError(f"holds {name}")
