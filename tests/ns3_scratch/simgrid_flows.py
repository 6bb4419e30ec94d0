"""Runs flows in SimGrid's CM02 model; a program of its own, as SimGrid brings another ns-3.

Standard input: JSON with `hosts` (a number), `links` (their rates, in bytes/s), `routes` ([source,
target, links]) and `flows` ([source, target, bytes, start in s]). Standard output: JSON, the
completion time of each flow [s].
"""

import json
import sys

import simgrid


def main() -> None:
    task = json.load(sys.stdin)
    engine = simgrid.Engine(
        [
            "flows",
            "--cfg=network/model:CM02",
            "--cfg=network/TCP-gamma:0",  # no window
            "--cfg=network/crosstraffic:0",  # no acknowledgements
            "--cfg=network/weight-S:0",
            "--cfg=network/bandwidth-factor:1",
            "--cfg=network/latency-factor:1",
            "--log=root.thres:error",
        ]
    )
    zone = simgrid.NetZone.create_full_zone("zone")
    hosts = [zone.create_host(f"h{i}", 1e9).seal() for i in range(task["hosts"])]
    links = [
        zone.create_link(f"l{i}", rate).set_latency(0).seal()
        for i, rate in enumerate(task["links"])
    ]
    for source, target, path in task["routes"]:
        route = [simgrid.LinkInRoute(links[i]) for i in path]
        zone.add_route(hosts[source].netpoint, hosts[target].netpoint, None, None, route, False)
    zone.seal()
    done = [0.0] * len(task["flows"])

    def send(index: int, size: int, start: float) -> None:
        simgrid.this_actor.sleep_until(start)
        simgrid.Mailbox.by_name(str(index)).put("", size)
        done[index] = simgrid.Engine.clock

    def receive(index: int) -> None:
        simgrid.Mailbox.by_name(str(index)).get()

    for index, (source, target, size, start) in enumerate(task["flows"]):
        simgrid.Actor.create(f"s{index}", hosts[source], send, index, size, start)
        simgrid.Actor.create(f"r{index}", hosts[target], receive, index)
    engine.run()
    json.dump(done, sys.stdout)


if __name__ == "__main__":
    main()
