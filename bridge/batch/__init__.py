"""Many runs: points in child processes, sweeps, strategy searches and lists of collectives."""
