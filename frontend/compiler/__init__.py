"""The compiler turns a scenario into the records of the network-API stream."""
