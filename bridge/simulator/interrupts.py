"""Ctrl-C while the simulator hands over a piece of a file: the piece is written first."""

from __future__ import annotations

import signal
import threading
from collections.abc import Callable
from types import FrameType
from typing import Any, Self

_SIGNALS = (signal.SIGINT, signal.SIGTERM)


class WholePieces:
    """Keeps the signals that raise KeyboardInterrupt out of a function.

    A signal in the function would lose the piece of a file that the function was about to write.
    Within the context, it waits until `check` is called; other code is interrupted at once.

    Parameters
    ----------
    function : callable
        The function, written in Python.
    """

    def __init__(self, function: Callable[..., object]) -> None:
        self._code = function.__code__
        self._is_waiting = False
        self._changed: list[signal.Signals] = []

    def __enter__(self) -> Self:
        if threading.current_thread() is threading.main_thread():
            for number in _SIGNALS:
                if signal.getsignal(number) is signal.default_int_handler:
                    signal.signal(number, self._handle)
                    self._changed.append(number)
        return self

    def __exit__(self, *problem: object) -> None:
        while self._changed:
            signal.signal(self._changed.pop(), signal.default_int_handler)

    def check(self) -> None:
        """Raise the KeyboardInterrupt that has waited, if there is one."""
        if self._is_waiting:
            self._is_waiting = False
            raise KeyboardInterrupt

    def _handle(self, number: int, frame: FrameType | None) -> Any:
        at = frame
        while at is not None and at.f_code is not self._code:
            at = at.f_back
        if at is None:
            signal.default_int_handler(number, frame)
        self._is_waiting = True
