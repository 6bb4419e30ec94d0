"""`simulation`: what is simulated packet by packet."""

from typing import Literal

from frontend.schema.base import Model


class Simulation(Model):
    """What cosim simulates packet by packet, and what it plays from earlier packets."""

    replay: Literal["auto", "off"] = "auto"
    """auto: cosim simulates what the network carries only once, and plays it from there when the
    same is carried in the same way again, by the same links or others. The result is the same to
    the picosecond. off: cosim simulates every packet. Only `express` replays, with the congestion
    control `new_reno`, without ECN, links that change or lose packets, time series, and counters in
    a timeline."""
