"""Answers of ``cosim topo find``: from the cache, from the pool of candidates, from a search."""

from __future__ import annotations

import hashlib
from pathlib import Path
from typing import TYPE_CHECKING

import click

from bridge.errors import InputError
from bridge.files import prepare_directory, write_whole
from topology_gen.files import read_bytes

if TYPE_CHECKING:
    from topology_gen.finder import Choice
    from topology_gen.search.store import Record

MORE = 2
"""How many candidates that are not on the frontier get their all-to-all computed."""


def choices_of(directory: Path, nodes: int, degree: int, found: bool, duplex: bool) -> list[Choice]:
    """Return the frontier and some choices of better all-to-all, from the cache if it has them."""
    from topology_gen import finder
    from topology_gen.finder import memory
    from topology_gen.search import store

    own = directory / "found.json"
    more = store.read(own) if found else []
    searched = hashlib.sha256(store.text(more).encode()).hexdigest()
    file = directory / memory.file_name(nodes, degree, found, duplex)
    try:
        known = memory.loaded(read_bytes(file), searched)
    except OSError:
        known = None
    if known is not None:
        return known
    candidates = finder.Pool(found, more).candidates(nodes, degree, duplex)
    if not candidates:
        raise InputError(
            f"--n {nodes} --degree {degree} --duplex: no such topology is known; an odd degree "
            f"needs an even number of nodes, and degree 1 only connects two"
        )
    best = finder.frontier(candidates)
    others = [candidate for candidate in candidates if candidate not in best]
    result = [finder.chosen(candidate) for candidate in best]
    least = max(choice.rate.least for choice in result)
    more_of_them = (finder.chosen(candidate, least) for candidate in others[:MORE])
    result += [each for each in more_of_them if each.rate.least > least]
    prepare_directory(directory)
    write_whole(file, memory.dumped(result, searched).encode())
    return result


def search(
    file: Path, nodes: int, degree: int, orbits: int, seconds: float, seed: int, duplex: bool
) -> None:
    """Search and add the findings to a file; an interrupt ends the search, not the command."""
    from topology_gen.search import anneal, store

    if orbits < 1 or nodes < 2 or nodes % orbits:
        raise InputError(f"--orbits {orbits}: expected a divisor of --n {nodes}")
    if nodes // orbits > anneal.GREATEST_ORDER:
        raise InputError(f"--n {nodes}: expected at most {anneal.GREATEST_ORDER} with --cayley")
    if not 1 <= degree <= nodes:
        raise InputError(f"--degree {degree}: expected 1 … {nodes} with --cayley")
    prepare_directory(file.parent)
    command = (
        f"cosim topo find --n {nodes} --degree {degree}{' --duplex' if duplex else ''} --cayley "
        f"--orbits {orbits} --seconds {seconds:g} --seed {seed}"
    )
    records: list[Record] = []
    try:
        for found in anneal.search(nodes, degree, orbits, seconds, seed, duplex):
            records.append(store.Record(nodes, degree, orbits, found, duplex, command))
            click.echo(
                f"{found.steps} steps, T_B {found.bandwidth_time} and "
                f"{found.bandwidth_time_back}, mean distance {float(found.distance) / nodes:.4f}",
                err=True,
            )
    except KeyboardInterrupt:
        click.echo("search interrupted: keeping what was found", err=True)
    write_whole(file, store.text(store.merged(store.read(file), records)).encode())
