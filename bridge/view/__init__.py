"""Shows results in a browser on this machine: ``cosim view``."""
