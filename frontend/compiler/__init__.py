"""The compiler: from a scenario to the records of the stream."""
