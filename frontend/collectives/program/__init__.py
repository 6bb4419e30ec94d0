"""Programs: send, receive, reduce and copy steps of each member, with dependencies."""
