"""`transport`: what the models of all protocols have in common."""

from frontend.schema.base import Count, Model


class Transport(Model):
    """The connections of a protocol. Each ordered pair of ranks that communicates has
    `flows_per_pair` connections."""

    protocol: str
    flows_per_pair: Count = 1
    """Number of connections of an ordered pair of ranks, which take the same path. Each message is
    divided evenly among them. If there are several, a run has at most 4194304 connections."""
