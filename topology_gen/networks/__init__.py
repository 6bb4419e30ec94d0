"""Networks with link attributes and paths, one family a file."""
