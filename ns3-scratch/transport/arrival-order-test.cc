/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "support/unit-test.h"
#include "transport/arrival-order.h"

#include <cstdint>
#include <vector>

namespace cosim
{

namespace
{

/// Send `count` packets of a flow.
std::vector<Packet>
Send(ArrivalOrder& order, FlowId flow, uint32_t count)
{
    std::vector<Packet> sent(count);
    for (Packet& packet : sent)
    {
        packet.flow = flow;
        order.Send(packet);
    }
    return sent;
}

class ArrivalOrderTest : public UnitTest<ArrivalOrderTest>
{
  public:
    using UnitTest::UnitTest;

    void CountsNoLosses()
    {
        ArrivalOrder order(1);
        const std::vector<Packet> sent = Send(order, 0, 9);
        for (const uint32_t packet : {0, 1, 4, 5, 8})
        {
            order.Arrive(sent[packet]);
        }
        NS_TEST_ASSERT_MSG_EQ(order.Get().packets, 0, "packets 2, 3, 6 and 7 are lost");
        NS_TEST_ASSERT_MSG_EQ(order.Get().largestDisplacement, 0, "the others are in order");
    }

    void CountsEachLatePacketOnce()
    {
        ArrivalOrder order(2);
        const std::vector<Packet> sent = Send(order, 1, 6);
        const std::vector<Packet> other = Send(order, 0, 6);
        for (const uint32_t packet : {1, 2, 4, 0, 3, 5})
        { // 0 is 4 places behind packet 4, and 3 is one place behind it
            order.Arrive(sent[packet]);
            order.Arrive(other[5]); // another flow has an order of its own
        }
        NS_TEST_ASSERT_MSG_EQ(order.Get().packets, 2, "packets 0 and 3");
        NS_TEST_ASSERT_MSG_EQ(order.Get().largestDisplacement, 4, "packet 0");
    }
};

const UnitTestSuite<ArrivalOrderTest> g_arrivalOrderTests(
    "arrival-order",
    {
        {"a lost packet is not a late one", &ArrivalOrderTest::CountsNoLosses},
        {"a packet behind a later one is late", &ArrivalOrderTest::CountsEachLatePacketOnce},
    });

} // namespace

} // namespace cosim
