"""Ctrl-C while a piece of a file or a result is written: it is written first."""

from __future__ import annotations

import signal
import threading
from collections.abc import Callable
from types import FrameType
from typing import Any, Self

_SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


class WholePieces:
    """Keeps the signals that raise KeyboardInterrupt out of a function.

    A signal in the function would lose the piece of a file that the function was about to write.
    Within the context, it waits until `check` is called; other code is interrupted at once. After
    the first interrupt, and after `hold`, signals wait until the context ends: an impatient second
    Ctrl-C, or the several signals of a terminal that is closed, do not lose the result.

    Parameters
    ----------
    function : callable
        The function, written in Python.
    """

    def __init__(self, function: Callable[..., object]) -> None:
        self._code = function.__code__
        self._is_held = False
        self._changed: list[signal.Signals] = []
        self.is_waiting = False
        """Whether a signal has come that has not been raised."""

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
        if self.is_waiting:
            self.is_waiting = False
            self._is_held = True
            raise KeyboardInterrupt

    def hold(self) -> None:
        """Let all signals wait from now on."""
        self._is_held = True

    def _handle(self, number: int, frame: FrameType | None) -> Any:
        at = frame
        while at is not None and at.f_code is not self._code:
            at = at.f_back
        if at is not None or self._is_held:
            self.is_waiting = True
            return
        self._is_held = True
        signal.default_int_handler(number, frame)
