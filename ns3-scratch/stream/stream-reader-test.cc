/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "stream/stream-reader.h"
#include "stream/wire-writer.h"
#include "support/unit-test.h"

#include <string>

namespace cosim
{

namespace
{

/// @return a record with its length in front, as in a stream
std::string
Record(uint32_t kind, const WireWriter& message)
{
    const std::string record = WireWriter().Bytes(kind, message.GetBytes()).GetBytes();
    return WireWriter().Varint(record.size()).Raw(record).GetBytes();
}

/// @return a header record
std::string
Header(uint32_t version = STREAM_VERSION)
{
    return Record(1, WireWriter().Number(1, version).Bytes(3, "two ranks"));
}

/// @return the TCP settings that are required
WireWriter
Tcp()
{
    return WireWriter()
        .Number(2, 1500)
        .Number(3, 1460)
        .Number(4, 500000)
        .Number(5, 500000)
        .Number(6, 10)
        .Number(11, 1)
        .Number(12, 15);
}

/// @return a settings record
std::string
Settings(const WireWriter& tcp)
{
    return Record(2,
                  WireWriter()
                      .Bytes(1, "express")
                      .Bytes(2, tcp.GetBytes())
                      .Bytes(3, WireWriter().Packed(2, {4}).GetBytes()));
}

/// @return a topology record with two ranks and the links between them
std::string
Topology()
{
    return Record(3,
                  WireWriter()
                      .Number(1, 2)
                      .Number(2, 2)
                      .Bytes(3, "fabric")
                      .Packed(4, {0, 1})
                      .Packed(5, {1, 0})
                      .Packed(6, {1'000'000'000, 1'000'000'000})
                      .Packed(7, {1000, 1000})
                      .Packed(8, {0, 0})
                      .Packed(9, {0, 0})
                      .Packed(10, {0, 0})
                      .Packed(11, {0, 1})
                      .Packed(12, {1, 0})
                      .Packed(13, {0, 1, 2})
                      .Packed(14, {0, 1}));
}

Stream
Read(const std::string& bytes)
{
    return ReadStream(bytes.data(), bytes.size());
}

class StreamReaderTest : public UnitTest<StreamReaderTest>
{
  public:
    using UnitTest::UnitTest;

    void ReadsTheLeastStream()
    {
        const Stream stream = Read(Header() + Settings(Tcp()) + Topology());
        NS_TEST_ASSERT_MSG_EQ(stream.header.name, "two ranks", "header");
        NS_TEST_ASSERT_MSG_EQ(stream.settings.fabric, "express", "settings");
        NS_TEST_ASSERT_MSG_EQ(stream.settings.tcp.segmentBytes, 1460, "a message in settings");
        NS_TEST_ASSERT_MSG_EQ(Join(stream.settings.system.concurrentChunks), "4", "and another");
        NS_TEST_ASSERT_MSG_EQ(Join(stream.topology.linkTarget), "1 0", "topology");
        NS_TEST_ASSERT_MSG_EQ(stream.programs.size() + stream.collectives.size() +
                                  stream.traces.size(),
                              0,
                              "no work");
    }

    void ReadsWhatIsLeftOutAsZero()
    {
        const Stream stream = Read(Header() + Settings(Tcp()) + Topology());
        NS_TEST_ASSERT_MSG_EQ(stream.header.seed, 0, "1 by default of the struct");
        NS_TEST_ASSERT_MSG_EQ(stream.settings.tcp.congestionControl, "", "NewReno by default");
        NS_TEST_ASSERT_MSG_EQ(stream.settings.tcp.sack, false, "true by default");
        NS_TEST_ASSERT_MSG_EQ(stream.settings.tcp.linkHeaderBytes, 0, "2 by default");
    }

    void TakesTheLastOfRepeatedFields()
    {
        WireWriter tcp = Tcp();
        tcp.Number(3, 1000).Number(16, 1).Number(3, 1200);
        const Stream stream = Read(Header() + Settings(tcp) + Topology());
        NS_TEST_ASSERT_MSG_EQ(stream.settings.tcp.segmentBytes, 1200, "as protobuf does");
        NS_TEST_ASSERT_MSG_EQ(stream.settings.tcp.ecn, true, "a truth value");
    }

    void SkipsWhatItDoesNotKnow()
    {
        WireWriter tcp = Tcp();
        tcp.Number(1000, 1).Bytes(1001, "of a later version");
        const std::string unknown = Record(7, WireWriter().Number(1, 1));
        const Stream stream = Read(Header() + unknown + Settings(tcp) + Topology() + unknown);
        NS_TEST_ASSERT_MSG_EQ(stream.settings.tcp.delayedAckSegments, 1, "all else is read");
    }

    void RefusesAnotherOrder()
    {
        const std::string settings = Settings(Tcp());
        const std::pair<std::string, std::string> cases[] = {
            {"", "the stream has no header record"},
            {Header(), "the stream has no settings record"},
            {Header() + settings, "the stream has no topology record"},
            {Header() + Topology(), "the stream has no settings record"},
            {settings + Header(),
             "the stream does not start with a header record: it is not a cosim stream"},
            {Header() + Header(), "the stream has a second header record"},
            {Header() + settings + settings, "the stream has a second settings record"},
            {Header() + Topology() + Topology(), "the stream has a second topology record"},
            {Header() + Record(4, WireWriter().Number(1, 1)),
             "the stream's program 0 has id 1, but ids count from 0 without gaps"},
            {Header() + Record(5, WireWriter()) + Record(5, WireWriter()),
             "the stream's collective 1 has id 0, but ids count from 0 without gaps"},
        };
        for (const auto& [bytes, text] : cases)
        {
            NS_TEST_ASSERT_MSG_EQ(GetRefusal([&] { Read(bytes); }), text, "refused");
        }
    }

    void RefusesOtherVersionsAndEnumerators()
    {
        NS_TEST_ASSERT_MSG_EQ(GetRefusal([] { Read(Header(STREAM_VERSION + 1)); }),
                              "the stream has version 3, but this build reads version 2",
                              "a later version");
        const std::string unknown =
            Record(2, WireWriter().Bytes(3, WireWriter().Number(1, 2).GetBytes()));
        NS_TEST_ASSERT_MSG_EQ(GetRefusal([&] { Read(Header() + unknown); }),
                              "scheduling 2 is unknown; the largest known value is 1",
                              "an enumerator of a later version");
    }

    void RefusesWhatIsCutOff()
    {
        const std::string whole = Header() + Settings(Tcp()) + Topology();
        for (std::size_t size = 0; size < whole.size(); ++size)
        { // use a buffer of exactly that size
            const std::string bytes(whole, 0, size);
            NS_TEST_ASSERT_MSG_NE(GetRefusal([&] { Read(bytes); }),
                                  "",
                                  "the first " << size << " of " << whole.size() << " bytes");
        }
    }
};

const UnitTestSuite<StreamReaderTest> g_streamReaderTests(
    "stream-reader",
    {
        {"a header, settings and a topology are a stream", &StreamReaderTest::ReadsTheLeastStream},
        {"what is left out is zero, whatever a struct's default",
         &StreamReaderTest::ReadsWhatIsLeftOutAsZero},
        {"the last of repeated fields counts", &StreamReaderTest::TakesTheLastOfRepeatedFields},
        {"unknown records and fields are skipped", &StreamReaderTest::SkipsWhatItDoesNotKnow},
        {"records in another order are refused", &StreamReaderTest::RefusesAnotherOrder},
        {"other versions and unknown enumerators are refused",
         &StreamReaderTest::RefusesOtherVersionsAndEnumerators},
        {"a stream that is cut off anywhere is refused", &StreamReaderTest::RefusesWhatIsCutOff},
    });

} // namespace

} // namespace cosim
