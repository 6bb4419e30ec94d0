"""A second implementation of the estimate, in plain Python without caches."""

from __future__ import annotations

from itertools import count, product
from math import ceil

import numpy as np

from frontend.parallelization import bounds, partial_sums, transfer

HOP = 1e-12
"""One picosecond in seconds."""


def path(network, source, target, route=0):
    """Return the links of a path."""
    return network.paths([source], [target], [route]).links.tolist()


def wire_bytes(size, wire):
    """Return a message's bytes with the headers of its packets."""
    return size + ceil(size / wire.segment_bytes) * wire.header_bytes


def path_latency(network, links, size, wire):
    """Return the latency that a path adds after the transmission on the slowest link."""
    total = 0.0
    for hop, link in enumerate(links):
        total += float(network.latency_ps[link]) * HOP
        if hop:
            if network.source[link] < network.ranks:
                total += network.forwarding_delay_ps * HOP
            packet = min(size, wire.segment_bytes) + wire.header_bytes
            total += packet * 8 / float(network.rate_bps[link])
    return total


def messages_load(network, messages, wire):
    """Return (seconds of each link, latency) of messages (source, target, bytes, route)."""
    seconds: dict[int, float] = {}
    latency = 0.0
    for source, target, size, route in messages:
        links = path(network, source, target, route)
        for link in links:
            time = wire_bytes(size, wire) * 8 / float(network.rate_bps[link])
            seconds[link] = seconds.get(link, 0.0) + time
        latency = max(latency, path_latency(network, links, size, wire))
    return seconds, latency


def ring_load(network, orders, duplex, total, wire):
    """Return (seconds of each link, latency) of a ring all-reduce."""
    members = len(orders[0])
    rounds = 2 * (members - 1)
    edges = []
    for order in orders:
        edges += [(order[i - 1], order[i]) for i in range(members)]
        if duplex:
            edges += [(order[i], order[i - 1]) for i in range(members)]
    used = len(edges) // members
    seconds: dict[int, float] = {}
    latency = 0.0
    for index, (source, target) in enumerate(edges):
        route = edges[:index].count((source, target))
        part = total / used / members
        links = path(network, source, target, route)
        for link in links:
            time = rounds * wire_bytes(part, wire) * 8 / float(network.rate_bps[link])
            seconds[link] = seconds.get(link, 0.0) + time
        latency = max(latency, rounds * path_latency(network, links, part, wire))
    return seconds, latency


def coordinates(placement):
    """Yield (server, its part of the samples, of the columns, of the rows)."""
    for index, one in enumerate(placement.servers):
        rest, row = divmod(index, placement.rows)
        sample, column = divmod(rest, placement.columns)
        yield one, sample, column, row


def part(total, parts, pieces, index):
    """Return the size of a piece of a total that consists of parts."""
    low, high = bounds(parts, pieces)[index : index + 2]
    return total * high // parts - total * low // parts


def weights_of(operator, placement, column, row):
    """Return the bytes of the weights with some columns and rows."""
    size = part(operator.weight_bytes, operator.parts, placement.columns, column)
    return part(size, operator.rows, placement.rows, row)


def durations(operator, placement, batch, server):
    """Return {server: (forward, backward, sums of gradients)} of an operator."""
    result = {}
    for one, sample, column, row in coordinates(placement):
        amount = part(batch, batch, placement.samples, sample)
        share = part(operator.parts, operator.parts, placement.columns, column) / operator.parts
        share *= part(operator.rows, operator.rows, placement.rows, row) / operator.rows
        weights = weights_of(operator, placement, column, row)
        times = []
        for passes, cost in ((1, operator.forward), (2, operator.backward)):
            moved = passes * share * operator.weight_traffic * server.gpus
            bound = max(
                amount * share * cost.flop / server.peak_flops,
                (amount * share * cost.memory_bytes + moved) / server.memory_bandwidth,
            )
            times.append(bound / server.gpus / server.efficiency if amount * share > 0 else 0.0)
        summed = 2 * (server.gpus - 1) / server.gpus * weights / server.link_bandwidth
        result[one] = (*times, 0.0 if operator.table or not amount else summed)
    return result


def estimate(graph, strategy, server, network, rings, wire):
    """Return the seconds of an iteration; `rings` gives the orders of a group, and if duplex."""
    free = dict.fromkeys(range(network.links), 0.0)
    clock = [0.0] * strategy.servers
    waiting, arrived, last = [], {}, 0.0
    numbers = count()
    placed, operators = strategy.placements, graph.operators
    batch = graph.batch // strategy.microbatches
    work = [
        durations(operator, placement, batch, server)
        for operator, placement in zip(operators, placed, strict=True)
    ]

    def send(key, ready, load):
        waiting.append((ready, next(numbers), key, load))

    def carry():
        nonlocal last
        first = min(waiting, key=lambda entry: entry[:2])
        waiting.remove(first)
        ready, _, key, (seconds, latency) = first
        for link, time in seconds.items():
            free[link] = max(free[link], ready) + time
        arrived[key] = max(free[link] for link in seconds) + latency
        last = max(last, arrived[key])

    def hand_over(key, moved):
        matrix = moved.matrix(network.ranks)
        pairs = [(s, t, int(matrix[s, t]), 0) for s, t in np.argwhere(matrix).tolist()]
        if pairs:
            send(key, max(clock[s] for s, *_ in pairs), messages_load(network, pairs, wire))
        return {t for _, t, *_ in pairs}

    receivers: dict[tuple[str, tuple[int, int, int]], set[int]] = {}

    def await_(key):
        if receivers.get(key):
            while key not in arrived:
                carry()
            for one in receivers[key]:
                clock[one] = max(clock[one], arrived[key])
            del arrived[key]  # the next micro-batch has the same key

    def moved_between(index, number, source):
        reader = operators[index]
        return transfer(operators[source], batch, placed[source], placed[index], reader, number)

    def exchange(phase, index):
        if placed[index].rows > 1:
            key = (phase, (index, -1, index))
            sums = partial_sums(operators[index], batch, placed[index])
            receivers[key] = hand_over(key, sums if phase == "forward" else sums.reversed)
            await_(key)

    edges = [
        (index, number, source)
        for index, operator in enumerate(operators)
        for number, source in enumerate(operator.inputs)
    ]
    for _, index in product(range(strategy.microbatches), range(len(operators))):
        for edge in (edge for edge in edges if edge[0] == index):
            await_(("forward", edge))
        for one, (forward, *_) in work[index].items():
            clock[one] += forward
        exchange("forward", index)
        for edge in (edge for edge in edges if edge[2] == index):
            key = ("forward", edge)
            receivers[key] = hand_over(key, moved_between(*edge))
    for left, index in product(
        reversed(range(strategy.microbatches)), reversed(range(len(operators)))
    ):
        for edge in (edge for edge in edges if edge[2] == index):
            await_(("backward", edge))
        exchange("backward", index)
        for one, (_, backward, summed) in work[index].items():
            clock[one] += backward + (0.0 if left else summed)
        groups: dict[tuple[int, int], list[int]] = {}
        for one, _, column, row in coordinates(placed[index]):
            groups.setdefault((column, row), []).append(one)
        together: dict[int, float] = {}
        latency = 0.0
        members: list[int] = []
        for (column, row), group in groups.items():
            weights = weights_of(operators[index], placed[index], column, row)
            if len(group) > 1 and weights:
                orders, duplex = rings(group)
                seconds, longest = ring_load(network, orders, duplex, weights, wire)
                for link, time in seconds.items():
                    together[link] = together.get(link, 0.0) + time
                latency, members = max(latency, longest), [*members, *group]
        if members and not left:
            ready = max(clock[one] for one in placed[index].servers)
            send(("all-reduce", index), ready, (together, latency))
        for edge in (edge for edge in edges if edge[0] == index):
            key = ("backward", edge)
            receivers[key] = hand_over(key, moved_between(*edge).reversed)
    while waiting:
        carry()
    return max(*clock, last)
