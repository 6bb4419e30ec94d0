"""``cosim explain``: what a key of a scenario means."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Sequence
from difflib import get_close_matches
from typing import Any, NamedTuple

import click
from rich import box
from rich.console import Group
from rich.table import Table
from rich.text import Text

from bridge.cli.console import output
from bridge.cli.options import json_option
from bridge.errors import InputError
from bridge.examples import examples_folder
from frontend.errors import printable
from frontend.scenario.json_schema import schema
from frontend.scenario.reference import Row, Section, sections
from topology_gen.files import read_text


class _Entry(NamedTuple):
    """A key of one kind of a block."""

    section: Section
    row: Row

    @property
    def path(self) -> str:
        """The path as users write it with ``--set``, without signs of lists."""
        return self.row.key.replace("[]", "")


@click.command("explain")
@click.argument("key", metavar="[KEY]", default="")
@json_option
def explain_command(key: str, as_json: bool) -> None:
    """Explain a KEY of a scenario, such as transport.ecn.

    The command prints what the key means and accepts, its default, an example, and the keys that
    belong to it. A block, such as `transport` or `workload.llm`, gives the list of its keys."""
    known = list(sections(schema()))
    path, found = _find(re.sub(r"\[\d*\]|\.\d+(?=\.|$)", "", key.strip(".")), known)
    exact = [one for one in found if one.path == path]
    inside = [one for one in found if one.path != path]
    if as_json:
        click.echo(
            json.dumps([_document(one, known) for one in found], indent=2, ensure_ascii=False)
        )
        return
    parts: list[Any] = []
    if not path:
        blocks = {one.name: one for one in reversed(known) if one.name}
        rows = [(name, _kinds(name, known) or one.text) for name, one in reversed(blocks.items())]
        parts += [_table(("block", "kinds, or what it describes"), rows), Text()]
    for one in exact:
        parts += [*_explained(one, known), Text()]
    if inside:
        parts += _listed(inside, path)
    output().print(Group(*parts[:-1] if not inside else parts))


def _find(path: str, known: list[Section]) -> tuple[str, list[_Entry]]:
    """Return the path without the name of a kind, and the keys at it and one level below.

    Raises
    ------
    InputError
        There is no such key.
    """
    block, _, rest = path.partition(".")
    kind, _, below = rest.partition(".")
    chosen = [one for one in known if one.name == block and one.choice and one.choice == kind]
    if chosen:
        path = f"{block}.{below}".strip(".")
    entries = [_Entry(one, row) for one in chosen or known for row in one.rows]
    found = [one for one in entries if one.path == path or one.path.rpartition(".")[0] == path]
    if found:
        return path, found
    paths = list(dict.fromkeys(one.path for one in entries))
    near = [one for one in paths if one.rpartition(".")[2] == path.rpartition(".")[2]]
    near += [f"{one.name}.{one.choice}" for one in known if one.choice in path.split(".")]
    blocks = {one.name for one in known if one.name and "." not in path}
    near += get_close_matches(path, sorted(blocks), n=1)
    near = (near or get_close_matches(path, paths, cutoff=0.7))[:3]
    expected = f"did you mean {' or '.join(near)}?" if near else "expected a key such as topology"
    raise InputError(f"{path}: unknown key: {expected}")


def _kinds(block: str, known: list[Section]) -> str:
    return ", ".join(one.choice for one in known if one.name == block and one.choice)


def _explained(entry: _Entry, known: list[Section]) -> Iterator[Any]:
    """Yield what is known about a key, line by line."""
    document = _document(entry, known)
    kind = document.pop("of", "")
    yield Text(f"{document.pop('key')}{f'   (of {kind})' if kind else ''}", style="bold")
    yield Text(f"{document.pop('meaning')}\n")
    for name, value in document.items():
        text = ", ".join(value) if isinstance(value, list) else value
        yield Text(f"  {name:<8}  {text}")


def _listed(entries: list[_Entry], path: str) -> Iterator[Any]:
    """Yield a table of keys for each kind of a block."""
    for section in dict.fromkeys(one.section for one in entries):
        if section.name and section.choice:
            yield Text(f"{section.name}: {section.choice}", style="bold")
            if path == section.name:
                yield Text(section.text)
        yield _table(
            ("key", "default", "meaning"),
            [
                (one.path, one.row.default, _first_sentence(one.row.meaning))
                for one in entries
                if one.section is section
            ],
        )
        yield Text()


def _first_sentence(text: str) -> str:
    """Return a text up to its first full stop that is not that of an initial.

    >>> _first_sentence("DLRM (M. Naumov et al., 2019). It has tables.")
    'DLRM (M. Naumov et al., 2019)'
    """
    return re.split(r"(?<!\b[A-Z])\. ", text, maxsplit=1)[0].rstrip(".")


def _table(headings: Sequence[str], rows: Iterable[Sequence[str]]) -> Table:
    """Return a table whose last column wraps, and no other."""
    layout = Table(box=box.SIMPLE_HEAD, pad_edge=False, padding=(0, 1, 0, 0), show_edge=False)
    for heading in headings:
        layout.add_column(heading, no_wrap=heading is not headings[-1], overflow="fold")
    for row in rows:
        layout.add_row(*(Text(printable(cell)) for cell in row))
    return layout


def _document(entry: _Entry, known: list[Section]) -> dict[str, Any]:
    """Return what is known about a key, for JSON."""
    section, row = entry
    kind = f"{section.name}: {section.choice}" if section.choice else ""
    belonging = _belonging(entry, known)
    missing = "none: the key must be given" if row.required else "none"
    example = _example(entry)
    return {
        "key": row.key,
        **({"of": kind} if kind else {}),
        "meaning": row.meaning,
        "accepts": row.accepts.replace("`", ""),
        "default": row.default or missing if row.accepts else "",
        **({"example": example} if example else {}),
        **({"see also": belonging} if belonging else {}),
    }


def _belonging(entry: _Entry, known: list[Section]) -> list[str]:
    """Return the keys that the meaning of a key names, and those whose meaning names it."""
    words = set(re.findall(r"`([\w.]+)(?::[^`]*)?`", entry.row.meaning))
    block = entry.section.name
    found: dict[str, None] = {}
    for section in known:
        if section.name == block and section.choice != entry.section.choice:
            continue
        for row in section.rows:
            path = row.key.replace("[]", "")
            own = section.name == block
            is_named = path in words or (own and path.partition(".")[2] in words)
            if is_named or re.search(rf"`{re.escape(entry.path)}[`:]", row.meaning):
                found[path] = None
    found.pop(entry.path, None)
    return list(found)


def _example(entry: _Entry) -> str:
    """Return the key with its value in a scenario that comes with cosim; empty if none has it."""
    from frontend.yaml_document import read

    leaf = entry.path.rpartition(".")[2]
    for file in sorted(examples_folder().glob("*.yaml")):
        text = read_text(file)
        if not re.search(rf"\b{leaf}:", text):
            continue
        value = data = read(text, str(file)).data
        block = data.get(entry.section.name) if entry.section.name else None
        kind = entry.section.choice
        if kind and not (isinstance(block, dict) and kind in block.values()):
            continue
        for part in entry.path.split("."):
            value = value[0] if isinstance(value, list) and value else value
            value = value.get(part) if isinstance(value, dict) else None
        if value is not None and not isinstance(value, dict | list):
            shown = str(value).lower() if isinstance(value, bool) else str(value)
            return f"{entry.path}: {shown:.100}   in scenarios/{file.name}"
    return ""
