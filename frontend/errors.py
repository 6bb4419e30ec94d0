"""The errors that the frontend raises for input it does not accept."""

from collections.abc import Mapping, Sequence
from typing import Any

_LONGEST_VALUE = 60


class ScenarioError(ValueError):
    """A scenario that cannot be used; the text is one sentence naming where, what and what instead.

    Attributes
    ----------
    problems : tuple of str
        Every problem that was found, one sentence each, in the order of the file; the text of the
        exception is the first.
    """

    def __init__(self, problems: str | Sequence[str]) -> None:
        sentences = (problems,) if isinstance(problems, str) else problems
        self.problems = tuple(map(_one_line, sentences))
        super().__init__(self.problems[0])


class RefusedError(ValueError):
    """A value in a scenario that cannot work.

    Attributes
    ----------
    path : str
        The value's key path.
    expected : str
        What is accepted instead.
    """

    def __init__(self, path: str, expected: str) -> None:
        self.path = path
        self.expected = expected
        super().__init__(f"{path}: {expected}")

    def sentence(self, data: Any) -> str:
        """Return the key path, the value in `data`, which is a scenario, and what is accepted."""
        return f"{self.path}: value {shown(data, key_path(self.path))}: {self.expected}"


def key_path(text: str) -> tuple[str | int, ...]:
    """Return the path that a text names.

    Examples
    --------
    >>> key_path("workload.mix.0.name")
    ('workload', 'mix', 0, 'name')
    """
    return tuple(int(part) if part.isdigit() else part for part in text.split("."))


def shown(data: Any, path: Sequence[str | int]) -> str:
    """Return the value at a path as the user wrote it, shortened; `(default)` if it is not given.

    Examples
    --------
    >>> shown({"system": {"chunks": True}}, ("system", "chunks")), shown({}, ("name",))
    ('true', '(default)')
    """
    for part in path:
        if not isinstance(data, Mapping | list | tuple):
            break  # one number that stands for a mapping
        try:
            data = data[part]  # type: ignore[index]
        except (KeyError, IndexError):
            return "(default)"
    if isinstance(data, bool):
        text = "true" if data else "false"
    elif data is None:
        text = "null"
    else:
        text = data if isinstance(data, str) and data else repr(data)
    return text if len(text) <= _LONGEST_VALUE else text[: _LONGEST_VALUE - 1] + "…"


def _one_line(text: str) -> str:
    """Escape what would break the line, or control the terminal, in values that are quoted."""
    return "".join(c if c.isprintable() else repr(c)[1:-1] for c in text)
