"""The one error that the frontend raises for input it does not accept."""

from collections.abc import Sequence


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


def _one_line(text: str) -> str:
    """Escape what would break the line, or control the terminal, in values that are quoted."""
    return "".join(c if c.isprintable() else repr(c)[1:-1] for c in text)
