"""Read YAML 1.2 as plain data with line numbers; tags, duplicate keys and objects are errors.

Merge keys (`<<: *anchor`) work as in YAML 1.1, as most tools understand them.
"""

import re
from dataclasses import dataclass, field
from typing import Any

from ruamel.yaml import YAML
from ruamel.yaml.composer import Composer
from ruamel.yaml.error import MarkedYAMLError, YAMLError
from ruamel.yaml.nodes import MappingNode, Node, ScalarNode, SequenceNode
from ruamel.yaml.reader import ReaderError

from frontend.errors import ScenarioError, shown

Path = tuple[str | int, ...]

_SCALARS = {f"tag:yaml.org,2002:{name}" for name in ("null", "bool", "int", "float", "str")}
_COLLECTIONS = {"tag:yaml.org,2002:map", "tag:yaml.org,2002:seq"}
_MERGE = "tag:yaml.org,2002:merge"
_MOST_NODES = 100_000
"""Nested aliases could otherwise expand a short text to any amount of memory."""
_MOST_CHARACTERS = 2**24
"""A text of this size takes about a minute."""
_MOST_VALUES = 2**21
"""Values as they are written; each takes about a kilobyte until the document is read."""
_DEEPEST = 50
"""Levels of a document. The time to parse it rises with the square of its depth."""


@dataclass
class Document:
    """The data of a YAML text, and the line (from 1) of every key path in it."""

    data: Any = None
    lines: dict[Path, int] = field(default_factory=dict)


def read(text: str, name: str, *, one_line: bool = False) -> Document:
    """Return the single document of a YAML text.

    Parameters
    ----------
    text : str
        The YAML text.
    name : str
        File name or override for error messages.
    one_line : bool
        Whether the text is a single line; error messages then omit the line number.

    Raises
    ------
    ScenarioError
        If the text is not one YAML document of plain data.
    """
    if len(text) > _MOST_CHARACTERS:
        raise ScenarioError(f"{name}: expected at most {_MOST_CHARACTERS >> 20} MiB of YAML")
    # Without aliases, a document has no more nodes than its text has characters.
    reader = _Reader(name, one_line, max(_MOST_NODES, len(text)))
    try:
        node = reader.yaml.compose(text)
        document = Document(reader.construct(node, ())) if node is not None else Document()
    except ScenarioError:
        raise
    except MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        at, plain = _in_plain_words([] if one_line else text.splitlines(), error) or (
            -1 if mark is None else mark.line,
            f"expected YAML ({' '.join(str(error.problem or error.context).split())})",
        )
        raise ScenarioError(f"{reader.where(at + 1) if at >= 0 else name}: {plain}") from None
    except (YAMLError, ReaderError, ValueError, OverflowError) as error:
        raise ScenarioError(f"{name}: expected YAML ({' '.join(str(error).split())})") from None
    document.lines = reader.lines
    return document


def _in_plain_words(lines: list[str], error: MarkedYAMLError) -> tuple[int, str] | None:
    """Return the index of the line to change and what is wrong with it, if that can be said."""
    problem, context = str(error.problem), str(error.context)
    at = error.problem_mark.line if error.problem_mark is not None else -1
    began = error.context_mark.line if error.context_mark is not None else at
    if not 0 <= began < len(lines):
        return None
    for index, line in enumerate(lines[: at + 1]):
        strange = line[: len(line) - len(line.lstrip())].strip(" ")
        if "\t" in strange and index == at:
            return at, "the line begins with a tab: expected spaces, because YAML has no tabs there"
        if strange.strip("\t"):
            return index, f"the line begins with the character {strange[0]!a}: expected spaces"
    if context == "while scanning a simple key":
        what = "space after the colon" if ":" in lines[began] else "colon after the key"
        key = re.sub(r"\s+#.*", "", lines[began]).strip()
        return began, f"no {what}, {shown(key, ())}"
    if "quoted scalar" in context and "end" in problem:
        return began, "the quote that begins in this line does not end"
    if context.startswith("while parsing a flow") and (at > began or "stream end" in problem):
        return began, "the bracket that begins in this line does not end"
    if problem == "but found another document":
        return at, "another document begins after ---: expected one in a file"
    if start := re.fullmatch(r"found character (.*) that cannot start any token", problem):
        return at, f"a value begins with {start[1]}: expected quotes around it"
    if problem.startswith("expected <block end>, but found '<scalar>'"):
        return at, "text follows a closing quote: expected quotes around all of the value"
    if problem == "mapping values are not allowed here" or "<block end>" in problem:
        words = _of_indentation(lines, at)
        return (at, words) if words and at < len(lines) else None
    return None


def _of_indentation(lines: list[str], at: int) -> str | None:
    """Return what is wrong with the indentation or the colons of a line, if that is the problem."""
    line = lines[at] if at < len(lines) else ""
    if re.match(r"\s*[\w-]+:\s+[\w-]+:\s", line + " "):
        return "two keys in one line: expected the second one in a line of its own, indented"
    above = [one for one in lines[:at] if one.strip() and not one.lstrip().startswith("#")]
    if not above:
        return None
    before = above[-1]
    if not re.match(r"\s*(- +)?[\w.-]+\s*:(\s|$)|\s*- ", before):
        return f"no colon after the key in the line above, {shown(before.strip(), ())}"
    spaces = sorted({len(one) - len(one.lstrip()) for one in above})
    here, there = len(line) - len(line.lstrip()), len(before) - len(before.lstrip())
    if here > there and not before.rstrip().endswith(":"):
        return (
            f"the line begins with {_spaces(here)} and the one above with {there}: expected the "
            "same number for keys of the same block"
        )
    if here not in spaces:
        accepted = " or ".join(str(one) for one in spaces if one <= there)
        return f"the line begins with {_spaces(here)}: expected {accepted}, as the lines above"
    return None


def _spaces(count: int) -> str:
    return "1 space" if count == 1 else f"{count} spaces"


class _ShallowComposer(Composer):
    """Refuses documents that are nested too deeply, or have too many values."""

    depth = 0
    values = 0

    def compose_node(self, parent: Node | None, index: Any) -> Node | None:
        if self.depth == _DEEPEST:
            raise self._more_than(f"{_DEEPEST} levels")
        if self.values == _MOST_VALUES:
            raise self._more_than(f"{_MOST_VALUES} values")
        self.values += 1
        self.depth += 1
        try:
            node: Node | None = super().compose_node(parent, index)
            return node
        finally:
            self.depth -= 1

    def _more_than(self, what: str) -> MarkedYAMLError:
        mark = self.parser.peek_event().start_mark
        return MarkedYAMLError(problem=f"more than {what}", problem_mark=mark)


class _Reader:
    """Converts the nodes of one document to plain data."""

    def __init__(self, name: str, one_line: bool, most_nodes: int) -> None:
        self.name = name
        self.one_line = one_line
        self.most_nodes = most_nodes
        self.yaml = YAML(typ="safe", pure=True)
        self.yaml.Composer = _ShallowComposer
        self.lines: dict[Path, int] = {}
        self.nodes = 0
        self.open: set[int] = set()

    def construct(self, node: Node, path: Path) -> Any:
        line = node.start_mark.line + 1
        self.lines.setdefault(path, line)
        self.nodes += 1
        if self.nodes > self.most_nodes or id(node) in self.open:
            raise self.refuse(line, path, "expected a finite document without nested aliases")
        if isinstance(node, ScalarNode):
            return self.scalar(node, path, line)
        if node.tag not in _COLLECTIONS:
            raise self.refuse(line, path, f"expected a value without the YAML tag {node.tag}")
        self.open.add(id(node))
        try:
            if isinstance(node, MappingNode):
                return self.mapping(node, path)
            assert isinstance(node, SequenceNode)
            return [self.construct(item, (*path, i)) for i, item in enumerate(node.value)]
        finally:
            self.open.discard(id(node))

    def scalar(self, node: ScalarNode, path: Path, line: int) -> Any:
        tag = str(node.tag)
        # Dates stay text, because no key of a scenario takes a date.
        if tag in ("tag:yaml.org,2002:timestamp", _MERGE):
            return node.value
        if tag not in _SCALARS:
            raise self.refuse(line, path, f"expected a value without the YAML tag {tag}")
        try:
            value = self.yaml.constructor.construct_object(node)
        except (KeyError, ValueError, IndexError, YAMLError):
            raise self.refuse(line, path, f"expected a value that fits {tag}") from None
        if not isinstance(value, str) or value.isascii():
            return value
        try:  # JSON escapes a character beyond 16 bits as two halves
            return value.encode("utf-16", "surrogatepass").decode("utf-16")
        except UnicodeDecodeError:
            raise self.refuse(line, path, "expected text without halves of characters") from None

    def mapping(self, node: MappingNode, path: Path) -> dict[str, Any]:
        merged = self.merged(node, path)
        result: dict[str, Any] = {}
        for key_node, value_node in node.value:
            if key_node.tag == _MERGE:
                continue
            line = key_node.start_mark.line + 1
            key = key_node.value
            if not isinstance(key_node, ScalarNode):
                raise self.refuse(line, path, "expected keys to be plain words")
            if key != key.lstrip() and not key_node.style:
                raise self.refuse(
                    line, path, f"the line begins with the character {key[0]!a}: expected spaces"
                )
            if key in result:
                first = self.lines[*path, key]
                raise self.refuse(
                    line, (*path, key), f"expected the key once (it is also at line {first})"
                )
            if key in merged:
                self.forget((*path, key))
            self.lines[*path, key] = line
            result[key] = self.construct(value_node, (*path, key))
        return {**merged, **result}

    def merged(self, node: MappingNode, path: Path) -> dict[str, Any]:
        """Return what the key `<<` of a mapping merges into it; of two mappings, the first wins."""
        sources: list[Node] = []
        for key_node, value_node in node.value:
            if key_node.tag == _MERGE:
                several = isinstance(value_node, SequenceNode)
                sources += value_node.value if several else [value_node]
        result: dict[str, Any] = {}
        for source in reversed(sources):
            if not isinstance(source, MappingNode):
                line = source.start_mark.line + 1
                raise self.refuse(line, (*path, "<<"), "expected a mapping, or a list of mappings")
            result |= self.construct(source, path)
        return result

    def forget(self, path: Path) -> None:
        """Drop the lines of a merged value that another value replaces."""
        for known in [one for one in self.lines if one[: len(path)] == path]:
            del self.lines[known]

    def where(self, line: int) -> str:
        return self.name if self.one_line else f"{self.name}:{line}"

    def refuse(self, line: int, path: Path, expected: str) -> ScenarioError:
        key = ".".join(map(str, path))
        return ScenarioError(f"{self.where(line)}: {key + ': ' if key else ''}{expected}")
