"""`simulation`: what is simulated, and for how long."""

from typing import Literal

from frontend.schema.base import Model
from frontend.schema.quantities import PositiveTime


class Simulation(Model):
    """What cosim simulates, what it knows from what it simulated before, and when it gives up."""

    replay: Literal["auto", "off"] = "auto"
    """auto: cosim simulates only once what is done in the same way again. The result is the same to
    the picosecond. off: cosim simulates everything. `express` plays what the network carries from
    when it carried the same before, by the same links or others, with the congestion control
    `new_reno`, without ECN, links that change or lose packets, time series, and counters in a
    timeline. `flow` and `analytical` simulate one rank of all that do the same at the same time,
    without timelines, critical paths, events and other traffic."""
    time_limit: PositiveTime | None = None
    """Simulated time after which a run fails; null: no limit."""
