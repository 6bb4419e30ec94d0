"""Which part of its time a job trains, if ranks fail and it goes on from its last checkpoint.

Failures are memoryless, with a rate r for the whole job. The job trains for t, then stops for a
stall s; the checkpoint is complete d after it was begun. After a failure, it takes R until the job
trains again. With w = t + s, the mean time of a period is exp(r (R + d)) · (exp(r w) - 1) / r. An
attempt after a failure lasts R + d + w, because the last complete checkpoint is d old when a period
begins. Failures during a restart count as well.

Sources: J. Young, "A first order approximation to the optimum checkpoint interval", CACM 17 (1974);
J. Daly, "A higher order estimate of the optimum checkpoint interval for restart dumps", FGCS 22
(2006), equation 20, for d = 0.
"""

from __future__ import annotations

from math import exp, expm1
from typing import NamedTuple


class Period(NamedTuple):
    """What failures and checkpoints cost, in seconds."""

    failures_per_s: float
    """Rate of failures of the whole job."""
    restart_s: float
    """From a failure until the job trains again."""
    stall_s: float
    """Time for which the job stops for a checkpoint."""
    write_s: float = 0.0
    """Time from the end of the stall until the checkpoint is complete, while the job trains."""

    def goodput(self, interval_s: float) -> float:
        """Return the part of the time that the job trains and keeps.

        Parameters
        ----------
        interval_s : float
            Training between two checkpoints, at least `write_s`.
        """
        rate = self.failures_per_s
        waits = rate * (self.restart_s + self.write_s)
        busy = rate * (interval_s + self.stall_s)
        if waits + busy > 500:  # no period ever ends
            return 0.0
        return rate * interval_s / (exp(waits) * expm1(busy))

    def best_interval_s(self) -> float:
        """Return the interval with the greatest goodput, at least `write_s`.

        The derivative is zero at y = 1 - exp(-y - r s) with y = r t.
        """
        stall = self.failures_per_s * self.stall_s
        best = 1.0
        for _ in range(60):  # Newton's method falls to the greater zero of a convex function
            rest = exp(-best - stall)
            if rest >= 1:
                break
            best -= (best - 1 + rest) / (1 - rest)
        return max(best / self.failures_per_s, self.write_s)
