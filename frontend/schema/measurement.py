"""`measurement`: what is sampled, and when a run is given up."""

from frontend.schema.base import Model
from frontend.schema.quantities import PositiveTime, Time


class Measurement(Model):
    """Sampling and limits."""

    rtt_interval: Time = Time.parse("1ms")
    """Interval of the round-trip time samples of each flow; 0 takes none."""
    time_limit: PositiveTime | None = None
    """Simulated time at which a run ends as failed; null: none."""
