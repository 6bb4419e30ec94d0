"""`measurement`: what is sampled, and when a run is given up."""

from frontend.schema.base import Model
from frontend.schema.quantities import PositiveTime, Time


class Measurement(Model):
    """What cosim samples, and when it gives up a run."""

    rtt_interval: Time = Time.parse("1ms")
    """Interval between round-trip time samples of each flow; 0: no samples. The sample of an
    interval is its latest round trip, by the simulator's clock. The end of the run ends one."""
    time_limit: PositiveTime | None = None
    """Simulated time after which a run fails; null: no limit."""
