"""Programs: per rank, send, receive, reduce and copy steps with dependencies."""
