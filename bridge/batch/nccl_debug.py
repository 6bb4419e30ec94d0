"""What NCCL says of itself in a log: its version, its network, its variables and its choices.

NCCL prints the first three with `NCCL_DEBUG=INFO`, and what it chose for each size with
`NCCL_DEBUG_SUBSYS=TUNING`. nccl-tests prints the version of NCCL, too, since its version 2.17.

Sources: NVIDIA/nccl 5067397, `src/enqueue.cc` (choices; before 2.24 by their numbers, with the
bytes of all data), `src/graph/tuning.cc` (`NCCL_ALGO`, `NCCL_PROTO`), `src/misc/param.cc` and
`src/init.cc`.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, get_args

from bridge.batch.nccl_programs import PROGRAMS
from frontend.collectives.nccl_options import NcclVersion
from frontend.collectives.nccl_tuner import PROTOCOLS, choice_name

_VERSION = re.compile(r"\bNCCL version (\d+)\.(\d+)\.\d+")
_LIBRARY = re.compile(r"\bnccl-library=(\d)(\d\d)\d\d\b")
_NETWORK = re.compile(r"NCCL INFO Using network (.+?)\s*$", re.MULTILINE)
_VARIABLE = re.compile(r"\b(NCCL_\w+) set by environment to (\S+?)\.?\s*$", re.MULTILINE)
_CHOICE = re.compile(r"(?:\b([A-Z]\w+): )?(\d+) Bytes -> Algo (\w+) proto (\w+)")

_ALGORITHMS = ("tree", "ring", "collnet_direct", "collnet_chain", "nvls", "nvls_tree", "pat")
"""In the order of NCCL's numbers."""
_NVLS = ("nvls", "nvls_tree")
_TAKEN = ("NCCL_ALGO", "NCCL_PROTO", "NCCL_NVLS_ENABLE")
_VERSIONS = [tuple(map(int, one.split("."))) for one in get_args(get_args(NcclVersion)[0])]


@dataclass(frozen=True)
class Said:
    """What NCCL said in a log.

    Attributes
    ----------
    version : tuple of int
        The first two numbers of its version; empty if it did not say it.
    network : str
        What its network calls itself, such as ``IB`` or ``AWS Libfabric``; empty if not said.
    variables : mapping of str to str
        Its variables that were set, such as ``NCCL_ALGO``.
    choices : tuple of (str, int, str)
        What it chose: the operation, empty in old versions, the bytes as it counts them, and the
        choice as a result of cosim has it.
    """

    version: tuple[int, ...] = ()
    network: str = ""
    variables: Mapping[str, str] = field(default_factory=dict)
    choices: tuple[tuple[str, int, str], ...] = ()

    def options(self, program: str) -> dict[str, Any]:
        """Return the options of the algorithm `nccl` that follow for a program of nccl-tests.

        A version that is older or newer than those known has the tuner of the nearest one.
        """
        variables = self.variables
        operation = _words(PROGRAMS[program].operation)
        algorithms = _allowed(variables.get("NCCL_ALGO", ""), operation, _ALGORITHMS)
        if variables.get("NCCL_NVLS_ENABLE") == "0":
            algorithms = [one for one in algorithms or _ALGORITHMS if one not in _NVLS]
        found: dict[str, Any] = {
            "algorithms": algorithms,
            "protocols": _allowed(variables.get("NCCL_PROTO", ""), operation, PROTOCOLS),
        }
        if self.version:
            known = min(max(self.version, _VERSIONS[0]), _VERSIONS[-1])
            found["version"] = ".".join(map(str, known))
        return {key: value for key, value in found.items() if value}

    def unused(self) -> list[str]:
        """Return its variables that set how it works and that no option says."""
        return [
            name
            for name in self.variables
            if name not in _TAKEN and not name.startswith("NCCL_DEBUG")
        ]

    def chosen(self, program: str, ranks: int) -> dict[int, str]:
        """Return what it chose for a program on some ranks, by the size of all data."""
        own = PROGRAMS[program]
        found: dict[int, str] = {}
        for operation, count, name in self.choices:
            if not operation:
                found[count] = name
            elif _words(operation) == _words(own.operation):
                found[own.all_data(count, ranks, by_block=self.version >= (2, 24))] = name
        return found


NOTHING = Said()
"""What a log without lines of NCCL says."""


def read_debug(text: str) -> Said:
    """Return what NCCL said in the text of a log."""
    version = _VERSION.search(text) or _LIBRARY.search(text)
    network = _NETWORK.search(text)
    return Said(
        tuple(map(int, version.groups())) if version else (),
        network[1] if network else "",
        dict(_VARIABLE.findall(text)),
        tuple(
            (operation, int(count), _choice(algorithm, protocol))
            for operation, count, algorithm, protocol in _CHOICE.findall(text)
        ),
    )


def _choice(algorithm: str, protocol: str) -> str:
    """Return a choice by its names, or by the numbers that older versions print."""
    return choice_name(_named(algorithm, _ALGORITHMS), _named(protocol, PROTOCOLS))


def _named(text: str, names: Sequence[str]) -> str:
    """Return a name, or the one that a number stands for."""
    return names[int(text)] if text.isdigit() and int(text) < len(names) else text


def _words(name: str) -> str:
    """Return a name without what NCCL, its variables and cosim write in different ways."""
    return name.replace("_", "").lower()


def _allowed(value: str, operation: str, known: Iterable[str]) -> list[str]:
    """Return what a variable such as `Ring,Tree`, `^NVLS` or `allreduce:Tree` allows; none: all."""
    names = {_words(one): one for one in known}
    found: list[str] = []
    for entry in filter(None, value.split(";")):
        function, colon, listed = entry.rpartition(":")
        if colon and _words(function) != operation:
            continue
        given = {_words(one) for one in listed.removeprefix("^").split(",")}
        found = [one for word, one in names.items() if (word in given) != listed.startswith("^")]
    return found
