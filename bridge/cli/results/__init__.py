"""Commands that show what was simulated."""
