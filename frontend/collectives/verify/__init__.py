"""Check that a program computes the result of its operation, in any order of events."""
