"""`simulation`: which iterations are simulated."""

from typing import Annotated, Literal

from pydantic import Field

from frontend.schema.base import Model


class Simulation(Model):
    """Which iterations cosim simulates, and which it takes from earlier ones."""

    replay: Literal["auto", "off"] = "auto"
    """auto: cosim simulates what the network carries only once, and plays it from there when the
    same is carried in the same way again, by the same links or others. The result is the same to
    the picosecond. off: cosim simulates every packet. Only `express` replays, with the congestion
    control `new_reno`, without ECN, `repeat`, links that change or lose packets, time series, and
    counters in a timeline."""
    repeat: Literal["off", "exact", "approximate"] = "off"
    """off: cosim simulates every iteration. exact: it skips iterations that would be the same as
    earlier ones to the picosecond. approximate: it skips iterations as soon as the last two took
    nearly the same time."""
    repeat_tolerance: Annotated[float, Field(gt=0, lt=1)] = 0.01
    """With `approximate`: cosim skips iterations when the times of two in a row differ by at most
    this part. It simulates one of 1000 iterations, and the last one, to check the skipped ones."""
