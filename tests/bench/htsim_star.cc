/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

// htsim's TCP over one switch, for the benchmark: tests/bench/htsim.py builds it with a copy of
// htsim. It reads lines "from to packets" from stdin; each is a flow that starts at once.

#include "config.h"
#include "eventlist.h"
#include "network.h"
#include "pipe.h"
#include "queue.h"
#include "tcp.h"

#include <cstdlib>
#include <iostream>
#include <memory>
#include <vector>

int
main(int argc, char* argv[])
{
    if (argc != 6)
    {
        std::cerr << "arguments: ranks Mbit/s latency[ps] packet[bytes] window[bytes]\n";
        return 2;
    }
    const auto ranks = static_cast<std::size_t>(std::atoi(argv[1]));
    const linkspeed_bps rate = speedFromMbps(std::atof(argv[2]));
    const auto latency = static_cast<simtime_picosec>(std::atoll(argv[3]));
    const auto packetBytes = static_cast<uint32_t>(std::atoi(argv[4]));
    const auto windowBytes = static_cast<uint32_t>(std::atoi(argv[5]));
    std::cout.setstate(std::ios::failbit); // htsim writes several lines for each flow

    EventList events;
    Packet::set_packet_size(static_cast<int>(packetBytes));
    const mem_b unlimited = mem_b{1} << 40;
    std::vector<std::unique_ptr<Queue>> queues; // to the switch, then from the switch
    std::vector<std::unique_ptr<Pipe>> pipes;
    for (std::size_t i = 0; i < 2 * ranks; ++i)
    {
        queues.push_back(std::make_unique<Queue>(rate, unlimited, events, nullptr));
        pipes.push_back(std::make_unique<Pipe>(latency, events));
    }
    const auto makeRoute = [&](std::size_t from, std::size_t to, PacketSink* end) {
        auto* route = new Route();
        for (const std::size_t link : {from, ranks + to})
        {
            route->push_back(queues[link].get());
            route->push_back(pipes[link].get());
        }
        route->push_back(end);
        return route;
    };

    std::vector<std::unique_ptr<TcpSrc>> senders;
    std::vector<std::unique_ptr<TcpSink>> receivers;
    std::size_t from = 0;
    std::size_t to = 0;
    uint64_t packets = 0;
    while (std::cin >> from >> to >> packets)
    {
        senders.push_back(std::make_unique<TcpSrc>(nullptr, nullptr, events));
        receivers.push_back(std::make_unique<TcpSink>());
        TcpSrc& sender = *senders.back();
        sender._flow_size = (packets - 1) * packetBytes; // htsim sends one more packet
        sender.set_ssthresh(1U << 31);
        sender._maxcwnd = windowBytes;
        TcpSink* receiver = receivers.back().get();
        sender.connect(*makeRoute(from, to, receiver), *makeRoute(to, from, &sender), *receiver, 0);
    }
    while (EventList::doNextEvent())
    {
    }
    std::cout.clear();
    uint64_t arrived = 0; // packets
    for (const auto& receiver : receivers)
    {
        arrived += receiver->_cumulative_ack / packetBytes;
    }
    std::cout << EventList::now() << ' ' << arrived << std::endl;
    std::_Exit(0); // the destructors of htsim take longer than its simulation
}
