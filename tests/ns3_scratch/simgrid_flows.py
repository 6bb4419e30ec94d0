"""Run flows in SimGrid's CM02 model, in a separate process because SimGrid has its own ns-3.

The program reads JSON from standard input: `hosts` (their number), `links` (their rates in
bytes/s), `routes` ([source, target, links]) and `flows` ([source, target, bytes, start in s]). It
writes JSON to standard output: the completion time of each flow in s (`done`), and the CPU time in
s (`cpu_s`).
"""

import json
import sys
import time

import simgrid


def main() -> None:
    task = json.load(sys.stdin)
    began = time.process_time()
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
    flows = task["flows"]
    comms: dict[int, simgrid.Comm] = {}

    def send() -> None:
        for index in sorted(range(len(flows)), key=lambda index: flows[index][3]):
            source, target, size, start = flows[index]
            simgrid.this_actor.sleep_until(start)
            comms[index] = simgrid.Comm.sendto_async(hosts[source], hosts[target], size)
        for comm in comms.values():
            comm.wait()

    simgrid.Actor.create("sender", hosts[0], send)
    engine.run()
    cpu_s = time.process_time() - began
    done = [comms[index].finish_time for index in range(len(flows))]
    json.dump({"done": done, "cpu_s": cpu_s}, sys.stdout)


if __name__ == "__main__":
    main()
