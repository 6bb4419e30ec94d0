/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "network/message-matcher.h"
#include "support/unit-test.h"

#include "ns3/simulator.h"

#include <limits>
#include <string>
#include <vector>

namespace cosim
{

namespace
{

class MessageMatcherTest : public UnitTest<MessageMatcherTest>
{
  public:
    using UnitTest::UnitTest;

    void MatchesInOrder()
    {
        MessageMatcher matcher;
        std::vector<std::string> received;
        const auto note = [&received](const std::string& what) {
            return [&received, what] { received.push_back(what); };
        };
        matcher.Post(0, 1, 10, 7, note("first"));
        matcher.Post(0, 1, 20, 7, note("second"));
        matcher.Arrive(0, 1, 10, 7);
        NS_TEST_ASSERT_MSG_EQ(Join(received), "first", "called by the arrival itself");
        matcher.Arrive(0, 1, 20, 7);
        matcher.Arrive(0, 1, 30, 7);
        matcher.Arrive(0, 1, 40, 7);
        matcher.Post(0, 1, 30, 7, note("third"));
        matcher.Post(0, 1, 40, 7, note("fourth"));
        NS_TEST_ASSERT_MSG_EQ(Join(received), "first second", "what has arrived is an event");
        ns3::Simulator::Run();
        NS_TEST_ASSERT_MSG_EQ(Join(received), "first second third fourth", "in order");
    }

    void TellsKeysApart()
    {
        MessageMatcher matcher;
        constexpr uint64_t max = std::numeric_limits<uint64_t>::max();

        struct Key
        {
            Rank src;
            Rank dst;
            uint64_t tag;
        };

        const std::vector<Key> keys{
            {0, 1, 0},
            {1, 0, 0},
            {0, 2, 0},
            {2, 1, 0},
            {0, 1, 1},
            {0, 1, uint64_t{1} << 32},
            {0, 1, uint64_t{1} << 63},
            {0, 1, max},
        };
        std::vector<std::size_t> received;
        for (std::size_t i = 0; i < keys.size(); ++i)
        {
            matcher.Post(keys[i].src, keys[i].dst, 1, keys[i].tag, [&received, i] {
                received.push_back(i);
            });
        }
        for (std::size_t i = keys.size(); i-- > 0;)
        {
            matcher.Arrive(keys[i].src, keys[i].dst, 1, keys[i].tag);
        }
        NS_TEST_ASSERT_MSG_EQ(Join(received), "7 6 5 4 3 2 1 0", "each its own");
    }

    void RefusesOtherSizes()
    {
        MessageMatcher matcher;
        const std::string text =
            "sim_recv(src=0, dst=1, tag=9223372036854775808) expects 10 bytes, but the matching "
            "send has 11";
        constexpr uint64_t tag = uint64_t{1} << 63;
        matcher.Post(0, 1, 10, tag, {});
        NS_TEST_ASSERT_MSG_EQ(GetRefusal([&] { matcher.Arrive(0, 1, 11, tag); }),
                              text,
                              "a message of another size");
        matcher.Arrive(0, 1, 10, tag); // the receive still waits
        matcher.Arrive(0, 1, 11, tag);
        NS_TEST_ASSERT_MSG_EQ(GetRefusal([&] { matcher.Post(0, 1, 10, tag, {}); }),
                              text,
                              "a receive of another size");
    }

    void NeedsNoCallback()
    {
        MessageMatcher matcher;
        matcher.Post(0, 1, 0, 0, {});
        matcher.Arrive(0, 1, 0, 0);
        matcher.Arrive(0, 1, 5, 0);
        matcher.Post(0, 1, 5, 0, {});
        ns3::Simulator::Run();
        NS_TEST_ASSERT_MSG_EQ(ns3::Simulator::GetEventCount(), 0, "nothing to call, no event");
    }

    void AcceptsWhatACallbackPosts()
    {
        MessageMatcher matcher;
        int received = 0;
        matcher.Post(0, 1, 1, 0, [&] {
            ++received;
            matcher.Post(0, 1, 2, 0, [&] { ++received; });
        });
        matcher.Arrive(0, 1, 1, 0);
        matcher.Arrive(0, 1, 2, 0);
        NS_TEST_ASSERT_MSG_EQ(received, 2, "the same key, from its own callback");
    }

  private:
    void DoTeardown() override
    {
        ns3::Simulator::Destroy();
    }
};

const UnitTestSuite<MessageMatcherTest> g_messageMatcherTests(
    "message-matcher",
    {
        {"messages of one key match in order", &MessageMatcherTest::MatchesInOrder},
        {"source, target and all 64 bits of the tag count", &MessageMatcherTest::TellsKeysApart},
        {"another size is refused", &MessageMatcherTest::RefusesOtherSizes},
        {"a receive may be without callback", &MessageMatcherTest::NeedsNoCallback},
        {"a callback may post for its own key", &MessageMatcherTest::AcceptsWhatACallbackPosts},
    });

} // namespace

} // namespace cosim
