/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "support/unit-test.h"
#include "system/part-shape.h"

#include <cstdint>
#include <vector>

namespace cosim
{

namespace
{

class PartShapeTest : public UnitTest<PartShapeTest>
{
  public:
    using UnitTest::UnitTest;

    /// Two members exchange messages twice. They send the second one when they have the first one.
    static Program MakeExchange()
    {
        Program program;
        program.groupSize = 2;
        program.units = program.space = 2;
        program.phaseDimension = {0};
        program.stepBegin = {0, 4, 8};
        program.op = {StepOp::SEND,
                      StepOp::RECV,
                      StepOp::SEND,
                      StepOp::RECV,
                      StepOp::SEND,
                      StepOp::RECV,
                      StepOp::SEND,
                      StepOp::RECV};
        program.phase.resize(8);
        program.peer = {1, 1, 1, 1, 0, 0, 0, 0};
        program.offset = {0, 0, 1, 1, 0, 0, 1, 1};
        program.count.resize(8, 1);
        program.target = {5, 4, 7, 6, 1, 0, 3, 2};
        program.depBegin = {0, 0, 0, 1, 1, 1, 1, 2, 2};
        program.dep = {1, 5};
        return program;
    }

    /// @return the shape of both members, without groups of steps
    static PartShape MakeShape(const Program& program)
    {
        const StepGroups groups(program);
        PartShape::Source source{program, groups};
        source.steps = {{0, 4}, {4, 8}};
        source.placeOf = {0, 1};
        return PartShape(source);
    }

    void PutsRoundsTogether()
    {
        const PartShape shape = MakeShape(MakeExchange());
        for (uint32_t step = 0; step < 8; ++step)
        {
            NS_TEST_ASSERT_MSG_EQ(shape.GetPlace(step), step % 2, "both places in turn");
            const uint32_t inProgram = step % 2 * 4 + step / 2;
            NS_TEST_ASSERT_MSG_EQ(shape.GetStep(step).order, inProgram, "a round after the other");
        }
    }

    void ConnectsSteps()
    {
        const PartShape shape = MakeShape(MakeExchange());
        shape.ForEachMessage(4, [&](const PartShape::Message& message, uint32_t turn) {
            const uint32_t peer = shape.GetPeer(message.peer, turn);
            NS_TEST_ASSERT_MSG_EQ(shape.GetMate(message, turn, peer), 7, "the other's last step");
        });
        std::vector<uint32_t> next;
        shape.ForEachNext(3, [&next](uint32_t step) { next.push_back(step); });
        NS_TEST_ASSERT_MSG_EQ((next == std::vector<uint32_t>{5}), true, "its second message");
    }

    void ListsRootsInTheOrderOfTheProgram()
    {
        const PartShape shape = MakeShape(MakeExchange());
        std::vector<uint32_t> roots;
        shape.ForEachRoot(1, [&roots](uint32_t step) { roots.push_back(step); });
        NS_TEST_ASSERT_MSG_EQ((roots == std::vector<uint32_t>{1, 3, 7}), true, "of its place");
    }
};

const UnitTestSuite<PartShapeTest> g_partShapeTests(
    "part-shape",
    {
        {"rounds are next to each other", &PartShapeTest::PutsRoundsTogether},
        {"messages and dependencies name steps by their new numbers",
         &PartShapeTest::ConnectsSteps},
        {"the roots of a place are in the order of the program",
         &PartShapeTest::ListsRootsInTheOrderOfTheProgram},
    });

} // namespace

} // namespace cosim
