"""Networks with link attributes and paths, one family in each file."""
