"""Commands about networks and schedules alone, without a simulation."""
