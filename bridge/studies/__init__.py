"""Studies that repeat published experiments: simulations and their evaluation."""
