/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "clock/simulator-session.h"
#include "fabrics/express/busy-until-port.h"
#include "fabrics/express/pulled-port.h"
#include "support/unit-test.h"
#include "transport/drop-tail-buffer.h"
#include "transport/shared-buffer.h"

#include "ns3/simulator.h"

#include <array>
#include <cstdint>
#include <deque>
#include <memory>
#include <random>
#include <tuple>
#include <utility>
#include <vector>

namespace cosim
{

namespace
{

using ns3::Simulator;
using ns3::TimeStep;

constexpr uint32_t SMALLEST = 100; //!< of the packets [bytes]
constexpr uint64_t RATE_BPS = 1'000'000'000;
constexpr int64_t SLOT_PS = 800'000; //!< transmission of the smallest packet
constexpr uint32_t ENTRIES = 3;

/// A packet that is offered to a port at a time.
struct Sending
{
    int64_t timePs;
    uint32_t entry;
    uint32_t bytes;
    bool ect;
};

/// A random network: ports that enter a switch, and one that leaves it.
struct Plan
{
    explicit Plan(std::mt19937& random)
    {
        // Times and delays are multiples of a slot, so that packets often arrive when the port ends
        // a transmission. Those of different entries arrive at different picoseconds.
        for (uint32_t link = 0; link < ENTRIES; ++link)
        {
            latenciesPs[link] = SLOT_PS * (1 + Draw(random, 3)) + 7 * (link + 1);
        }
        latenciesPs[ENTRIES] = SLOT_PS * Draw(random, 3);
        exitRateBps = RATE_BPS * (1 + Draw(random, 2));
        bufferBytes = std::array<uint64_t, 3>{0, 500, 2000}[Draw(random, 3)];
        thresholdBytes = std::array<uint64_t, 3>{0, 100, 400}[Draw(random, 3)];
        rules.marksAtDequeue = Draw(random, 2) == 1;
        rules.slotBytes = Draw(random, 4) == 0 ? 500 : 0;
        isShared = Draw(random, 3) == 0;
        withdrawalPs = SLOT_PS * Draw(random, 80) + 3;
        const std::size_t packets = 1 + Draw(random, 60);
        for (std::size_t i = 0; i < packets; ++i)
        {
            sendings.push_back({SLOT_PS * Draw(random, 40),
                                Draw(random, ENTRIES),
                                SMALLEST * (1 + Draw(random, 5)),
                                Draw(random, 4) > 0});
        }
    }

    std::array<uint64_t, ENTRIES + 1> latenciesPs{}; //!< the last one is that of the exit
    uint64_t exitRateBps;
    uint64_t bufferBytes;
    uint64_t thresholdBytes;
    BufferRules rules;
    bool isShared;
    int64_t withdrawalPs; //!< when what waits at the exit is taken out; no event shares this time
    std::vector<Sending> sendings;
};

/// What happens to packets: when, which, and whether it is marked; a negative time: dropped or
/// withdrawn then.
using Log = std::vector<std::tuple<int64_t, uint32_t, bool>>;

/// Builds the network of a Plan with one kind of port, and runs it.
class Network final : public Port::Receiver
{
  public:
    Network(const Plan& plan, PortMaker make)
        : m_plan(plan),
          m_sources(plan.rules)
    {
        CausalSimulator& clock = CausalSimulator::Get();
        if (plan.isShared)
        {
            m_switch = std::make_unique<SharedBuffer>(plan.rules, plan.bufferBytes, 1'000'000);
        }
        else
        {
            m_switch = std::make_unique<DropTailBuffer>(plan.rules);
        }
        for (uint32_t link = 0; link <= ENTRIES; ++link)
        {
            const bool isExit = link == ENTRIES;
            const LinkState state{link,
                                  ENTRIES + 1,
                                  isExit ? plan.exitRateBps : RATE_BPS,
                                  plan.latenciesPs[link],
                                  isExit ? plan.bufferBytes : 0,
                                  isExit ? plan.thresholdBytes : 0,
                                  0,
                                  true};
            SwitchBuffer& buffer = isExit ? *m_switch : m_sources;
            m_ports.push_back(make({clock, state, buffer, *this}));
            m_ports.back()->Set(isExit ? m_exitTimes : m_entryTimes, state);
        }
    }

    void Run()
    {
        for (uint32_t i = 0; i < m_plan.sendings.size(); ++i)
        {
            const Sending& sending = m_plan.sendings[i];
            Packet& packet = m_packets.emplace_back();
            packet.path = m_paths[sending.entry];
            packet.wireBytes = sending.bytes;
            packet.ect = sending.ect;
            packet.order = i;
            Simulator::Schedule(TimeStep(sending.timePs), &Network::Enter, this, &packet);
        }
        Simulator::Schedule(TimeStep(m_plan.withdrawalPs), &Network::Withdraw, this);
        Simulator::Run();
        for (const std::unique_ptr<Port>& port : m_ports)
        {
            counters.push_back(port->GetCounters());
        }
        events = Simulator::GetEventCount() - m_plan.sendings.size() - 1;
    }

    void OnLinkArrival(Packet* packet) override
    {
        if (++packet->hop == packet->path.size())
        {
            log.emplace_back(Simulator::Now().GetTimeStep(), packet->order, bool{packet->ce});
        }
        else
        {
            Enter(packet);
        }
    }

    Log log;
    std::vector<LinkCounters> counters;
    uint64_t events{0};
    uint64_t withdrawn{0}; //!< number of packets

  private:
    void Enter(Packet* packet)
    {
        if (!m_ports[packet->path[packet->hop]]->Offer(packet))
        {
            log.emplace_back(-1 - Simulator::Now().GetTimeStep(), packet->order, bool{packet->ce});
        }
    }

    /// Take out what waits at the exit, as if its link failed.
    void Withdraw()
    {
        std::vector<Packet*> packets;
        m_ports[ENTRIES]->Withdraw(packets);
        for (const Packet* packet : packets)
        {
            log.emplace_back(-1 - m_plan.withdrawalPs, packet->order, bool{packet->ce});
        }
        withdrawn += packets.size();
    }

    const Plan& m_plan;
    DropTailBuffer m_sources;
    std::unique_ptr<SwitchBuffer> m_switch;
    TransmissionTimes m_entryTimes{RATE_BPS, 1000};
    TransmissionTimes m_exitTimes{m_plan.exitRateBps, 1000};
    const std::array<std::array<uint32_t, 2>, ENTRIES> m_paths{
        {{0, ENTRIES}, {1, ENTRIES}, {2, ENTRIES}}};
    std::vector<std::unique_ptr<Port>> m_ports;
    std::deque<Packet> m_packets;
};

/// @return a network after its run
std::unique_ptr<Network>
RunWith(const Plan& plan, PortMaker make)
{
    const SimulatorSession session(1);
    auto network = std::make_unique<Network>(plan, make);
    network->Run();
    return network;
}

/// What a port sends to, and its source.
class Sink final : public Port::Receiver, public PacketSource
{
  public:
    void OnLinkArrival(Packet* packet) override
    {
        arrivals.emplace_back(Simulator::Now().GetTimeStep() / SLOT_PS, packet->order);
    }

    Packet* Pull() override
    {
        if (offered.empty())
        {
            return nullptr;
        }
        Packet* const packet = offered.front();
        offered.pop_front();
        return packet;
    }

    std::vector<std::pair<int64_t, uint32_t>> arrivals; //!< slot and packet
    std::deque<Packet*> offered;
};

class PortTest : public UnitTest<PortTest>
{
  public:
    using UnitTest::UnitTest;

    /// Random networks with losses, marks, a withdrawal and many events of one picosecond. Queues
    /// for classes change nothing as long as all packets have the same one.
    void AreEqualIfNothingIsPaused()
    {
        std::mt19937 random(1);
        uint64_t drops = 0;
        uint64_t marks = 0;
        uint64_t withdrawn = 0;
        for (int trial = 0; trial < 2000; ++trial)
        {
            const Plan plan(random);
            const auto fast = RunWith(plan, BusyUntilPort::Make);
            const auto full = RunWith(plan, PulledPort::Make);
            const auto classed = RunWith(plan, [](PortSetup setup) {
                setup.hasClasses = true;
                return PulledPort::Make(setup);
            });
            NS_TEST_ASSERT_MSG_EQ((fast->log == full->log), true, "packets of trial " << trial);
            NS_TEST_ASSERT_MSG_EQ((fast->log == classed->log), true, "packets of trial " << trial);
            NS_TEST_ASSERT_MSG_LT_OR_EQ(2 * full->events, 5 * fast->events, "number of events");
            withdrawn += fast->withdrawn;
            for (std::size_t port = 0; port < fast->counters.size(); ++port)
            {
                const LinkCounters& one = fast->counters[port];
                const LinkCounters& other = full->counters[port];
                NS_TEST_ASSERT_MSG_EQ(one.busyPs, other.busyPs, "trial " << trial);
                NS_TEST_ASSERT_MSG_EQ(one.wireBytes, other.wireBytes, "trial " << trial);
                NS_TEST_ASSERT_MSG_EQ(one.drops, other.drops, "trial " << trial);
                NS_TEST_ASSERT_MSG_EQ(one.marks, other.marks, "trial " << trial);
                NS_TEST_ASSERT_MSG_EQ(one.maxQueueBytes, other.maxQueueBytes, "trial " << trial);
                drops += one.drops;
                marks += one.marks;
            }
        }
        NS_TEST_ASSERT_MSG_GT(drops, 1000, "packets were dropped");
        NS_TEST_ASSERT_MSG_GT(marks, 1000, "packets were marked");
        NS_TEST_ASSERT_MSG_GT(withdrawn, 1000, "packets were withdrawn");
    }

    /// Three packets enter in slot 0. The second waits for its class, and the third does not.
    void SendsWhatIsNotPaused()
    {
        const SimulatorSession session(1);
        Setup setup;
        setup.port.Pause(0);
        setup.port.Offer(&setup.packets[0]);
        setup.port.Offer(&setup.packets[1]);
        setup.packets[2].trafficClass = 1;
        setup.port.Offer(&setup.packets[2]);
        Simulator::Schedule(TimeStep(10 * SLOT_PS), &PulledPort::Resume, &setup.port, 0);
        Simulator::Run();
        const std::vector<std::pair<int64_t, uint32_t>> expected{{1, 2}, {11, 0}, {12, 1}};
        NS_TEST_ASSERT_MSG_EQ((setup.sink.arrivals == expected), true, "slots of arrival");
    }

    /// The first packet is in transmission when the others enter, of which the last has a higher
    /// class.
    void SendsTheHighestClassFirst()
    {
        const SimulatorSession session(1);
        Setup setup;
        setup.packets[2].trafficClass = 3;
        for (Packet& packet : setup.packets)
        {
            setup.port.Offer(&packet);
        }
        Simulator::Run();
        const std::vector<std::pair<int64_t, uint32_t>> expected{{1, 0}, {2, 2}, {3, 1}};
        NS_TEST_ASSERT_MSG_EQ((setup.sink.arrivals == expected), true, "slots of arrival");
    }

    /// A buffer of two packets: two of class 0 wait behind one that is sent. There is no room for a
    /// fourth one of class 0, but for one of class 1 if each class has a queue.
    void KeepsRoomForEachClass()
    {
        for (const bool hasClasses : {false, true})
        {
            for (const uint32_t trafficClass : {0U, 1U})
            {
                const SimulatorSession session(1);
                Setup setup(2 * SMALLEST, hasClasses);
                for (Packet& packet : setup.packets)
                {
                    NS_TEST_ASSERT_MSG_EQ(setup.port.Offer(&packet), true, "there is room");
                }
                Packet last = setup.packets[0];
                last.trafficClass = trafficClass & 7U;
                NS_TEST_ASSERT_MSG_EQ(setup.port.Offer(&last),
                                      (hasClasses && trafficClass == 1),
                                      "class " << trafficClass);
                Simulator::Run();
            }
        }
    }

    /// A source keeps its packets until they are sent, so a pause stops them, too.
    void PullsWhenItHasNothingElse()
    {
        const SimulatorSession session(1);
        Setup setup;
        setup.port.Attach(setup.sink, 0);
        setup.sink.offered = {&setup.packets[0], &setup.packets[1]};
        setup.port.Wake();
        setup.port.Offer(&setup.packets[2]);
        Simulator::Schedule(TimeStep(SLOT_PS), &PulledPort::Pause, &setup.port, 0, 1);
        Simulator::Schedule(TimeStep(5 * SLOT_PS), &PulledPort::Resume, &setup.port, 0);
        Simulator::Run();
        // In slot 1, the second transmission begins before the pause.
        const std::vector<std::pair<int64_t, uint32_t>> expected{{1, 0}, {2, 2}, {6, 1}};
        NS_TEST_ASSERT_MSG_EQ((setup.sink.arrivals == expected), true, "slots of arrival");
    }

  private:
    /// A port, and three packets of one slot.
    struct Setup
    {
        /// @param bufferBytes the buffer of the port; 0: unlimited
        /// @param hasClasses as in PortSetup
        explicit Setup(uint64_t bufferBytes = 0, bool hasClasses = false)
            : state{0, 1, RATE_BPS, 0, bufferBytes, 0, 0, true},
              port{{CausalSimulator::Get(), state, buffer, sink, hasClasses}}
        {
            port.Set(times, state);
            for (uint32_t i = 0; i < packets.size(); ++i)
            {
                packets[i].wireBytes = SMALLEST;
                packets[i].order = i;
            }
        }

        Sink sink;
        DropTailBuffer buffer{BufferRules{}};
        LinkState state;
        TransmissionTimes times{RATE_BPS, SMALLEST};
        PulledPort port;
        std::array<Packet, 3> packets{};
    };
};

const UnitTestSuite<PortTest> g_portTests(
    "port",
    {
        {"both kinds are equal if nothing is paused", &PortTest::AreEqualIfNothingIsPaused},
        {"what is not paused is sent", &PortTest::SendsWhatIsNotPaused},
        {"the highest class is sent first", &PortTest::SendsTheHighestClassFirst},
        {"each class has room of its own", &PortTest::KeepsRoomForEachClass},
        {"a source is asked when nothing waits", &PortTest::PullsWhenItHasNothingElse},
    });

} // namespace

} // namespace cosim
