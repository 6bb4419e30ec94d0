"""Many runs: points in child processes, sweeps, strategy searches, tables of collectives."""
