/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "support/unit-test.h"
#include "transport/roce/dcqcn.h"
#include "transport/roce/hpcc.h"
#include "transport/roce/rate-dctcp.h"
#include "transport/roce/timely.h"

#include <algorithm>
#include <cmath>
#include <cstdint>

namespace cosim
{

namespace
{

constexpr int64_t US = 1'000'000; // [ps]
constexpr double LINE = 100e9;    // [bit/s]
constexpr double G = 1.0 / 256;

class RateControlTest : public UnitTest<RateControlTest>
{
  public:
    using UnitTest::UnitTest;

    /// Before the first notification, and without one after it, nothing is cut.
    void DcqcnStartsAtLineRate()
    {
        const RoceSettings settings = GetSettings();
        Dcqcn control(settings, GetPath());
        control.Advance(1000 * US);
        NS_TEST_ASSERT_MSG_EQ(control.GetRateBps(), LINE, "rate");
        NS_TEST_ASSERT_MSG_EQ(control.GetAlpha(), 1, "alpha");
        NS_TEST_ASSERT_MSG_EQ(control.GetNextRisePs(), RateControl::NEVER, "nothing to wait for");
    }

    /**
     * A notification at 0, alpha's interval 1 us, cuts every 4 us, rises 900 us after a cut. At
     * 4 us, alpha has been updated four times without a further notification: (1 - g)^4. A
     * nanosecond later, the rate is cut: R (1 - alpha / 2).
     */
    void DcqcnCutsAfterANotification()
    {
        const RoceSettings settings = GetSettings();
        Dcqcn control(settings, GetPath());
        control.OnNotification(0);
        control.Advance(4 * US);
        NS_TEST_ASSERT_MSG_EQ(control.GetRateBps(), LINE, "not cut yet");
        control.Advance(4 * US + 1000);
        const double alpha = std::pow(1 - G, 4);
        Near(control.GetAlpha(), alpha, "alpha");
        Near(control.GetRateBps(), LINE * (1 - alpha / 2), "the cut");
        NS_TEST_ASSERT_MSG_EQ(control.GetNextRisePs(), 904 * US + 1000, "the first rise");
        NS_TEST_ASSERT_MSG_EQ(control.GetTargetBps(), LINE, "the target stays");
    }

    /**
     * Fast recovery takes one step: (R + R_t) / 2. The next one adds R_AI = 50 Mb/s to the target,
     * which the line rate limits.
     */
    void DcqcnRisesInSteps()
    {
        RoceSettings settings = GetSettings();
        settings.dcqcn.firstRatePpb = 500'000'000; // target: 50 Gb/s
        Dcqcn control(settings, GetPath());
        control.OnNotification(0);
        control.Advance(4 * US + 1000);
        const double cut = 50e9 * (1 - std::pow(1 - G, 4) / 2);
        Near(control.GetRateBps(), cut, "the cut");
        control.Advance(904 * US + 1000);
        const double first = (cut + 50e9) / 2;
        Near(control.GetRateBps(), first, "fast recovery");
        control.Advance(1804 * US + 1000);
        const double second = (first + 50.05e9) / 2;
        Near(control.GetRateBps(), second, "additive increase");
        control.Advance(2704 * US + 1000);
        Near(control.GetRateBps(), (second + 50.15e9) / 2, "hyper increase, by 100 Mb/s");
    }

    /**
     * A second notification at 4.5 us: alpha's update at 5 us sees it, and the cut at 8.001 us is
     * from the present rate with the same target, because no rise came in between.
     */
    void DcqcnKeepsItsTarget()
    {
        for (const bool clamps : {false, true})
        {
            RoceSettings settings = GetSettings();
            settings.dcqcn.clampsTarget = clamps;
            Dcqcn control(settings, GetPath());
            control.OnNotification(0);
            control.OnNotification(4 * US + US / 2);
            const double before = control.GetRateBps();
            control.Advance(8 * US + 1000);
            const double fifth = std::pow(1 - G, 5) + G;
            const double alpha = fifth * std::pow(1 - G, 3);
            Near(control.GetAlpha(), alpha, "alpha");
            Near(control.GetRateBps(), before * (1 - alpha / 2), "the second cut");
            Near(control.GetTargetBps(), clamps ? before : LINE, "the target");
        }
    }

    /// What happens does not depend on how often the control is asked.
    void DcqcnIsTheSameWhenAskedOften()
    {
        const RoceSettings settings = GetSettings();
        Dcqcn rarely(settings, GetPath());
        Dcqcn often(settings, GetPath());
        int64_t us = 0;
        for (const int64_t notified : {0, 7, 8, 30, 1500, 1501, 60'000})
        {
            rarely.OnNotification(notified * US);
            for (; us < notified; ++us)
            {
                often.Advance(us * US);
            }
            often.OnNotification(notified * US);
            Near(often.GetRateBps(), rarely.GetRateBps(), "the rate");
        }
        for (; us <= 400'000; ++us)
        {
            often.Advance(us * US);
        }
        rarely.Advance(400'000 * US);
        Near(often.GetRateBps(), rarely.GetRateBps(), "the rate at the end");
        NS_TEST_ASSERT_MSG_GT(often.GetRateBps(), 0.5 * LINE, "it has risen again");
    }

    /// With a byte counter of 1 MB, sent bytes let the rate rise before the time does.
    void DcqcnCountsBytes()
    {
        RoceSettings settings = GetSettings();
        settings.dcqcn.counterBytes = 1'000'000;
        Dcqcn control(settings, GetPath());
        control.OnNotification(0);
        control.Advance(5 * US);
        const double cut = control.GetRateBps();
        control.OnSent(6 * US, 999'999);
        NS_TEST_ASSERT_MSG_EQ(control.GetRateBps(), cut, "one byte is missing");
        control.OnSent(7 * US, 1);
        Near(control.GetRateBps(), (cut + LINE) / 2, "fast recovery");
    }

    /**
     * One hop, window 50 kB, base round trip 4 us. Within 2 us the port sends 12 500 bytes (97
     * units of 128 = 12 416) and its queue is 8 000 bytes at both ends: u = 12416 · 8 / 2 us / 100
     * Gb/s + 8000 / 50000 = 0.49664 + 0.16; U = (1 - 2/4) · 1 + 2/4 · u; R = R_c / (U / 0.95) + 50
     * Mb/s.
     */
    void HpccFollowsTheBusiestLink()
    {
        const RoceSettings settings = GetSettings();
        Hpcc control(settings, GetPath());
        Telemetry telemetry;
        telemetry.Add(10 * US, 0, 8000, 100'000'000'000);
        control.OnFeedback({10 * US, 1000, 50'000, 0, false, &telemetry});
        NS_TEST_ASSERT_MSG_EQ(control.GetRateBps(), LINE, "nothing to compare with");
        telemetry.count = 0;
        telemetry.Add(12 * US, 12'500, 8000, 100'000'000'000);
        control.OnFeedback({12 * US, 51'000, 100'000, 0, false, &telemetry});
        const double utilization = 0.5 + 0.5 * (12'416 * 8 / 2e-6 / LINE + 0.16);
        Near(control.GetUtilization(), utilization, "U");
        Near(control.GetRateBps(), std::min(LINE, LINE / (utilization / 0.95) + 50e6), "rate");

        // In the same round trip, an acknowledgment changes the rate from the same reference.
        const double reference = control.GetRateBps();
        telemetry.count = 0;
        telemetry.Add(16 * US, 12'500 + 100'000, 16'000, 100'000'000'000);
        control.OnFeedback({16 * US, 60'000, 100'000, 0, false, &telemetry});
        const uint64_t sent = (112'500 / 128 - 12'500 / 128) * 128;
        const double second = static_cast<double>(sent) * 8 / 4e-6 / LINE + 0.16;
        Near(control.GetUtilization(), second, "the whole round trip counts");
        Near(control.GetRateBps(), reference / (second / 0.95) + 50e6, "fast reaction");
    }

    /// 100 ms later, all fields of the telemetry have wrapped, and their differences are right.
    void TelemetryWraps()
    {
        const RoceSettings settings = GetSettings();
        Hpcc control(settings, GetPath());
        Telemetry telemetry;
        const uint64_t sent = (uint64_t{1} << 27) - 128; // one unit below the largest number
        const int64_t timePs = 16'777'215'000;           // likewise, 2^24 ns - 1
        telemetry.Add(timePs, sent, 0, 100'000'000'000);
        control.OnFeedback({timePs, 1000, 50'000, 0, false, &telemetry});
        telemetry.count = 0;
        telemetry.Add(timePs + 4 * US, sent + 25'600, 0, 100'000'000'000);
        control.OnFeedback({timePs + 4 * US, 51'000, 100'000, 0, false, &telemetry});
        Near(control.GetUtilization(), 25'600 * 8 / 4e-6 / LINE, "U");
    }

    /**
     * The first round trip has 10 packets. In the second, of 20 packets plus one, 7 of the
     * acknowledgments are marked: alpha = (1 - g) + g · 7/21, and the first mark halves the rate.
     */
    void DctcpFollowsTheMarks()
    {
        const RoceSettings settings = GetSettings();
        RateDctcp control(settings, GetPath());
        control.OnFeedback({0, 1000, 10'000, 0, false, nullptr});
        NS_TEST_ASSERT_MSG_EQ(control.GetRateBps(), LINE, "line rate is the most");
        control.OnFeedback({0, 11'000, 31'000, 0, true, nullptr});
        const double gain = 3906250e-9;
        const double firstAlpha = (1 - gain) + gain * 1 / 11;
        Near(control.GetAlpha(), firstAlpha, "one of eleven");
        Near(control.GetRateBps(), LINE * (1 - firstAlpha / 2), "cut");
        const double cut = control.GetRateBps();
        for (int i = 0; i < 7; ++i)
        {
            control.OnFeedback({0, 12'000, 32'000, 0, true, nullptr});
        }
        NS_TEST_ASSERT_MSG_EQ(control.GetRateBps(), cut, "once per round trip");
        control.OnFeedback({0, 32'000, 60'000, 0, false, nullptr});
        const double alpha = (1 - gain) * firstAlpha + gain * 7 / 21;
        Near(control.GetAlpha(), alpha, "seven of twenty-one");
        Near(control.GetRateBps(), cut + 1e9, "no mark: a step");
    }

    /**
     * Round trips of 100, 120 us: diff = 0.875 · 20, gradient = 17.5 / 20; the rate falls by 0.8 ·
     * 0.875 = 0.7. Then 600 us, beyond the limit of 500: by 0.8 · (1 - 500/600). Then 40 us, below
     * 50: five steps of 50 Mb/s, then of 100 Mb/s.
     */
    void TimelyFollowsTheRoundTrip()
    {
        const RoceSettings settings = GetSettings();
        Timely control(settings, GetPath());
        uint64_t acked = 0;
        const auto answer = [&](int64_t rttUs) {
            ++acked;
            control.OnFeedback({0, acked, acked, rttUs * US, false, nullptr});
        };
        answer(100);
        NS_TEST_ASSERT_MSG_EQ(control.GetRateBps(), LINE, "nothing to compare with");
        answer(120);
        double rate = LINE * (1 - 0.8 * 17.5 / 20);
        Near(control.GetRateBps(), rate, "the gradient");
        answer(600);
        rate *= 1 - 0.8 * (1 - 500.0 / 600);
        Near(control.GetRateBps(), rate, "too long");
        for (int i = 0; i < 7; ++i)
        {
            answer(40);
        }
        Near(control.GetRateBps(), rate + 5 * 50e6 + 2 * 100e6, "short");
    }

  private:
    static RoceSettings GetSettings()
    {
        RoceSettings settings;
        settings.dcqcn.alphaIntervalPs = US;
        settings.dcqcn.riseIntervalPs = 900 * US;
        return settings;
    }

    static PathFacts GetPath()
    {
        return {LINE, 4 * US, 50'000, 1000};
    }

    void Near(double value, double expected, const char* what)
    {
        NS_TEST_ASSERT_MSG_EQ_TOL(value, expected, 1e-9 * expected, what);
    }
};

const UnitTestSuite<RateControlTest> g_rateControlTests(
    "rate-control",
    {
        {"DCQCN starts at line rate", &RateControlTest::DcqcnStartsAtLineRate},
        {"DCQCN cuts after a notification", &RateControlTest::DcqcnCutsAfterANotification},
        {"DCQCN rises in steps", &RateControlTest::DcqcnRisesInSteps},
        {"DCQCN keeps its target", &RateControlTest::DcqcnKeepsItsTarget},
        {"DCQCN is the same when asked often", &RateControlTest::DcqcnIsTheSameWhenAskedOften},
        {"DCQCN counts bytes", &RateControlTest::DcqcnCountsBytes},
        {"HPCC follows the busiest link", &RateControlTest::HpccFollowsTheBusiestLink},
        {"telemetry wraps", &RateControlTest::TelemetryWraps},
        {"DCTCP follows the marks", &RateControlTest::DctcpFollowsTheMarks},
        {"TIMELY follows the round trip", &RateControlTest::TimelyFollowsTheRoundTrip},
    });

} // namespace

} // namespace cosim
