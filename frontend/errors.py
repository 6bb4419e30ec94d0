"""Errors that the frontend raises for input that it does not accept."""

import warnings
from collections.abc import Iterable, Mapping, Sequence
from difflib import get_close_matches
from typing import Any

_LONGEST_VALUE = 60
_LONGEST_SENTENCE = 900


class ScenarioError(ValueError):
    """Raised for a scenario that cannot be used.

    The text is one sentence: the place, the key path, the value, and what is accepted.

    Attributes
    ----------
    problems : tuple of str
        Every problem found, one sentence each, in the order of the file. The text of the exception
        is the first of them.
    """

    def __init__(self, problems: str | Sequence[str]) -> None:
        sentences = (problems,) if isinstance(problems, str) else problems
        self.problems = tuple(map(one_line, sentences))
        super().__init__(self.problems[0])


class ScenarioWarning(UserWarning):
    """Issued for input that is accepted, but of which something is not simulated as it says."""


def warn(sentence: str) -> None:
    """Issue a `ScenarioWarning` with one sentence."""
    warnings.warn(one_line(sentence), ScenarioWarning, stacklevel=2)


class RefusedError(ValueError):
    """Raised for a value that has the right type but cannot work in this scenario.

    Attributes
    ----------
    path : str
        Key path of the value.
    expected : str
        The accepted values, as a phrase that starts with "expected".
    """

    def __init__(self, path: str, expected: str) -> None:
        self.path = path
        self.expected = expected
        super().__init__(f"{path}: {expected}")

    def sentence(self, data: Any) -> str:
        """Return one sentence: key path, its value in the scenario `data`, and `expected`."""
        path = key_path(self.path)
        inside = in_file(data, path)
        if inside is not None:
            path, rest = inside
            return f"{name_of(path)}: value {shown(data, path)}: {name_of(rest)}: {self.expected}"
        return f"{self.path}: value {shown(data, path)}: {self.expected}"


def key_path(text: str) -> tuple[str | int, ...]:
    """Split a dotted key path into its keys and list indices.

    Examples
    --------
    >>> key_path("jobs.0.name")
    ('jobs', 0, 'name')
    """
    return tuple(int(part) if part.isdigit() else part for part in text.split("."))


def name_of(path: Sequence[str | int]) -> str:
    """Return the dotted form of a key path."""
    return ".".join(map(str, path))


def in_file(
    data: Any, path: Sequence[str | int]
) -> tuple[tuple[str | int, ...], tuple[str | int, ...]] | None:
    """Return the key of the file that a value comes from, and the place of the value in the file.

    None if the scenario `data` has the value itself, or names no file for it.

    Examples
    --------
    >>> in_file({"topology": {"file": "net.csv"}}, ("topology", "links", 3, "loss"))
    (('topology', 'file'), ('links', 3, 'loss'))
    >>> in_file({"topology": {"links": []}}, ("topology", "links", 3, "loss"))
    """
    for depth, part in enumerate(path):
        if not isinstance(data, Mapping):
            return None
        if part not in data:
            has_file = isinstance(data.get("file"), str)
            return ((*path[:depth], "file"), tuple(path[depth:])) if has_file else None
        data = data[part]
    return None


def shown(data: Any, path: Sequence[str | int]) -> str:
    """Return the value at a path as the user wrote it, shortened to 60 characters.

    A value that `data` does not contain is shown as `(default)`.

    Examples
    --------
    >>> shown({"system": {"chunks": True}}, ("system", "chunks")), shown({}, ("name",))
    ('true', '(default)')
    >>> shown({"links": [["gpu0", "gpu1", "0Gbps"]]}, ("links", 0, "bandwidth"))
    "['gpu0', 'gpu1', '0Gbps']"
    """
    for part in path:
        if not isinstance(data, Mapping | list | tuple):
            break  # a single number can stand for a whole mapping
        try:
            data = data[part]  # type: ignore[index]
        except TypeError:
            break  # a list can, too
        except (KeyError, IndexError):
            return "(default)"
    if isinstance(data, bool):
        text = "true" if data else "false"
    elif data is None:
        text = "null"
    else:
        try:
            text = data if isinstance(data, str) and data else repr(data)
        except ValueError:  # Python refuses to write very long numbers
            text = "of thousands of digits"
    return text if len(text) <= _LONGEST_VALUE else text[: _LONGEST_VALUE - 1] + "…"


OTHER_NAMES = {
    "bruck": ("direct",),
    "clos": ("leaf_spine", "fat_tree", "rail_optimized"),
    "dgx": ("rail_optimized", "rail_only"),
    "double_binary_tree": ("dbt",),
    "ns3": ("express", "native"),
    "ns_3": ("express", "native"),
    "packet": ("express",),
    "packets": ("express",),
    "pairwise": ("direct",),
    "rails": ("rail_optimized", "rail_only"),
    "rdma": ("roce",),
    "recursive_doubling": ("halving_doubling",),
    "rhd": ("halving_doubling",),
    "rocev2": ("roce",),
    "spine_leaf": ("leaf_spine",),
    "star": ("flat",),
    "switch": ("flat",),
    "transformer": ("llm",),
    "tree": ("dbt",),
}
"""What other tools and papers call something: names that a scenario has for it."""


def one_of(value: Any, names: Iterable[str]) -> str:
    """Return what is accepted instead of a value: the names near it, or else all of them.

    Examples
    --------
    >>> one_of("rign", ["ring", "direct", "dbt"]), one_of("tree", ["ring", "direct", "dbt"])
    ('did you mean ring?', 'did you mean dbt?')
    >>> one_of(3, ["ring", "direct", "dbt"])
    'expected ring, direct or dbt'
    """
    known = list(names)
    if isinstance(value, str):
        word = value.strip().lower().replace("-", "_")
        if word in known:
            return f"did you mean {word}?"
        near = [name for name in OTHER_NAMES.get(word, ()) if name in known]
        near += get_close_matches(word, known, n=2, cutoff=0.75)
        near += [name for name in known if len(word) > 2 and word in name.split("_")]
        if near:
            *others, last = dict.fromkeys(near)
            return f"did you mean {', '.join(others) + ' or ' if others else ''}{last}?"
    *others, last = known
    return f"expected {', '.join(others) + ' or ' if others else ''}{last}"


def printable(text: str) -> str:
    """Return a text with line breaks and terminal control characters escaped.

    Names in files may have them, and a terminal would obey. Spaces that do not break a line stay.

    Examples
    --------
    >>> printable("all_reduce \\x1b[31m")
    'all_reduce \\\\x1b[31m'
    """
    return "".join(
        c if c.isprintable() or c == "\N{NO-BREAK SPACE}" else repr(c)[1:-1] for c in text
    )


def one_line(text: str) -> str:
    """Return a sentence in one line of at most 900 characters.

    It is `printable`, for it may quote values. Of a longer sentence, the middle is left out: its
    ends have the place, and what is accepted.

    Examples
    --------
    >>> one_line("no such file: 'a\\nb'")
    "no such file: 'a\\\\nb'"
    """
    line = printable(text)
    half = _LONGEST_SENTENCE // 2
    return line if len(line) <= _LONGEST_SENTENCE else f"{line[:half]}…{line[1 - half :]}"
