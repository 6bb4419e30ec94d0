"""What a simulation costs: `make bench`."""
