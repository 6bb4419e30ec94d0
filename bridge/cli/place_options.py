"""Options that say where the points of a command run, and which of them."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

import click

T = TypeVar("T")


@dataclass(frozen=True)
class Shard:
    """Every `count`-th item of a list, from item `index` on, which counts from 1."""

    index: int
    count: int

    def of(self, items: Sequence[T]) -> list[T]:
        """Return the items that belong to this shard."""
        return list(items[self.index - 1 :: self.count])

    def __str__(self) -> str:
        return f"{self.index}/{self.count}"


class _ShardType(click.ParamType[Shard]):
    """A shard as I/N."""

    name = "I/N"

    def convert(
        self, value: Any, parameter: click.Parameter | None, context: click.Context | None
    ) -> Shard:
        """Return the shard; fail with what is accepted."""
        match = re.fullmatch(r"(\d+)/(\d+)", value)
        if match is not None and 1 <= int(match[1]) <= int(match[2]):
            return Shard(int(match[1]), int(match[2]))
        self.fail(f"{value!r}: expected I/N with 1 ≤ I ≤ N, such as 2/8", parameter, context)


shard_option = click.option(
    "--shard",
    type=_ShardType(),
    metavar="I/N",
    help="Run only every N-th point, from the I-th on, for job arrays. Shards may share a folder "
    "and run at the same time. At the end, the command without --shard reads all results.",
)


def on_option_for(what: str) -> Callable[[Callable[..., T]], Callable[..., T]]:
    """Return the option ``--on``, which says where something runs."""
    return click.option(
        "--on",
        "address",
        metavar="PLACE",
        help=f"Where {what}: `ray` is the Ray cluster of this machine, ray://HOST:PORT another "
        "one. By default, the cores of this machine.",
    )


on_option = on_option_for("the points run")
