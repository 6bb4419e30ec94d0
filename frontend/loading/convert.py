"""Rewrite the text of a scenario with keys at their new places; all other text stays."""

from __future__ import annotations

from typing import NamedTuple

from ruamel.yaml import YAML
from ruamel.yaml.nodes import CollectionNode, MappingNode, Node, ScalarNode

from frontend.errors import ScenarioError, name_of
from frontend.loading.moved import FAMILY, GRAPH, LINKS, KeyPath, Moved, in_new_places
from frontend.loading.problems import no_scenario
from frontend.yaml_document import read


def converted(text: str, name: str) -> tuple[str, list[Moved]]:
    """Return the text of a scenario with all keys at their new places, and what was moved.

    Parameters
    ----------
    text : str
        The scenario, in YAML.
    name : str
        The file, for errors.

    Raises
    ------
    ScenarioError
        The text is no mapping in YAML, has a key at its old and its new place, or has old keys in a
        part that an anchor shares.
    """
    content = read(text, name)
    if not isinstance(content.data, dict):
        raise ScenarioError(f"{name}: {no_scenario(content.data)}")
    data, found = in_new_places(content.data, name, content.lines)
    result = text if text.endswith("\n") or not found else text + "\n"
    for one in found:
        is_graph = one.new == GRAPH
        result = _graph(result, one) if is_graph else _moved(result, one.old, one.new)
    if read(result, name).data != data:
        keys = ", ".join(name_of(one.old) for one in found)
        raise ScenarioError(f"{name}: expected {keys} outside of what anchors (&) share")
    return result, found


class _Entry(NamedTuple):
    """A key with its value, and the mapping that has them."""

    mapping: MappingNode
    key: ScalarNode
    value: Node


def _find(text: str, path: KeyPath) -> _Entry | None:
    """Return the entry at a path; None if there is none."""
    value, entry = YAML(pure=True).compose(text), None
    for name in path:
        pairs = value.value if isinstance(value, MappingNode) else []
        entry = next((_Entry(value, *pair) for pair in pairs if pair[0].value == name), None)
        if entry is None:
            return None
        value = entry.value
    return entry


def _moved(text: str, old: KeyPath, new: KeyPath) -> str:
    entry = _find(text, old)
    if entry is None:
        return text
    value = text[entry.value.start_mark.index : entry.value.end_mark.index]
    whole = entry.mapping
    if new == old[:-1] and len(whole.value) == 1:  # a value instead of a mapping with one key
        return text[: whole.start_mark.index] + value + text[_end(whole) :]
    while len(entry.mapping.value) == 1 and len(old) > 1:  # its mapping would be empty
        old = old[:-1]
        entry = _find(text, old) or entry
    comment = _comment(text, old)
    if _find(text, new) is None:  # else it has the same value
        text = _inserted(text, new, value, comment, old[:1])
    return _removed(text, old)


def _graph(text: str, moved: Moved) -> str:
    """Write the graph of a topology in place of its family, and remove the keys beside it."""
    family = _find(text, moved.old)
    links = next(filter(None, (_find(text, ("topology", key)) for key in LINKS)), None)
    if family is not None and links is not None:  # its value stays where it is
        quote = _quote(text, links)
        edits = [(links.key, f"{quote}graph{quote}"), (family.value, f"{quote}{FAMILY}{quote}")]
        for node, word in sorted(edits, key=lambda edit: -edit[0].start_mark.index):
            text = text[: node.start_mark.index] + word + text[node.end_mark.index :]
        return text
    comments = []
    for key in moved.others:
        comments.append(_comment(text, ("topology", key)))
        text = _removed(text, ("topology", key))
    family = _find(text, moved.old)
    if family is None:
        return text
    begin, end = family.value.start_mark.index, _end(family.value)
    if family.mapping.flow_style:  # in which a comma would end the value
        quote = _quote(text, family)
        name, key = (f"{quote}{word}{quote}" for word in (FAMILY, "graph"))
        return f'{text[:begin]}{name}, {key}: "{moved.value}"{text[end:]}'
    comments.insert(0, _comment(text, moved.old))
    known = "; ".join(one.strip().removeprefix("#").strip() for one in comments if one.strip())
    indent = " " * family.key.start_mark.column
    line = f"{indent}graph: {moved.value}"
    column = len(comments[0]) - len(comments[0].lstrip()) + family.value.end_mark.column
    line = f"{line.ljust(column - 2)}  # {known}" if known else line
    return f"{text[:begin]}{FAMILY}\n{line}\n{text[_line_end(text, end) :]}"


def _comment(text: str, path: KeyPath) -> str:
    """Return what is behind the value of a key on its line, spaces included."""
    entry = _find(text, path)
    if entry is None or entry.mapping.flow_style:
        return ""
    end = _end(entry.value)
    return text[end : _line_end(text, end) - 1]


def _inserted(text: str, new: KeyPath, value: str, comment: str, beside: KeyPath) -> str:
    """Insert a value at the end of its block, which is made above another one if needed."""
    block, other = _find(text, new[:1]), _find(text, beside)
    quote = _quote(text, other) if other is not None else ""
    name, key = (f"{quote}{part}{quote}" for part in new)
    if block is not None and isinstance(block.value, MappingNode) and block.value.value:
        first, last = block.value.value[0][0], block.value.value[-1][1]
        if block.value.flow_style:
            return _with(text, _end(last), f", {key}: {value}")
        indent = " " * first.start_mark.column
        return _with(text, _line_end(text, _end(last)), f"{indent}{key}: {value}{comment}\n")
    if other is None:
        return text
    if other.mapping.flow_style:
        return _with(text, other.key.start_mark.index, f"{name}: {{{key}: {value}}}, ")
    lines = text.splitlines(keepends=True)
    line = other.key.start_mark.line
    while line and lines[line - 1].startswith("#"):  # which is about the other block
        line -= 1
    gap = "\n" if line and not lines[line - 1].strip() else ""
    block_text = f"{name}:\n  {key}: {value}{comment}\n{gap}"
    return "".join([*lines[:line], block_text, *lines[line:]])


def _quote(text: str, entry: _Entry) -> str:
    """Return the quotation mark around a key, so that JSON stays JSON; empty if it has none."""
    mark = text[entry.key.start_mark.index]
    return mark if mark in ("'", '"') else ""


def _removed(text: str, path: KeyPath) -> str:
    """Remove an entry, with its lines if it has lines of its own."""
    entry = _find(text, path)
    if entry is None:
        return text
    begin, end = entry.key.start_mark.index, _end(entry.value)
    if not entry.mapping.flow_style:
        begin, end = begin - entry.key.start_mark.column, _line_end(text, end)
        is_last_of_gap = text[:begin].endswith("\n\n") and text[end:].startswith("\n")
        return text[:begin] + text[end + is_last_of_gap :]
    keys = [key.start_mark.index for key, _ in entry.mapping.value]
    ends = [_end(value) for _, value in entry.mapping.value]
    number = keys.index(begin)
    if number + 1 < len(keys):
        return text[:begin] + text[keys[number + 1] :]
    return text[: ends[number - 1] if number else begin] + text[end:]


def _with(text: str, place: int, more: str) -> str:
    return text[:place] + more + text[place:]


def _end(node: Node) -> int:
    """Return where the text of a value ends; a mark of YAML is behind comments and blank lines."""
    while isinstance(node, CollectionNode) and not node.flow_style and node.value:
        last = node.value[-1]
        node = last[1] if isinstance(node, MappingNode) else last
    return int(node.end_mark.index)


def _line_end(text: str, place: int) -> int:
    """Return where the next line begins."""
    return text.index("\n", place) + 1
