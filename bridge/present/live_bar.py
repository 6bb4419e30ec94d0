"""A progress bar that is shown inside a ``with`` block."""

from __future__ import annotations

from types import TracebackType
from typing import Self

from rich.progress import Progress


class LiveBar:
    """A context manager that shows a progress bar; leaving it removes the bar.

    Parameters
    ----------
    bar : rich.progress.Progress
        The bar.
    """

    def __init__(self, bar: Progress) -> None:
        self._bar = bar

    def __enter__(self) -> Self:
        self._bar.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._bar.stop()
