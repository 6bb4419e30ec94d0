"""Checks that a program does what its operation promises, in any order of events."""
