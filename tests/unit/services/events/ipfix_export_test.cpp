// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#include "services/events/ipfix_export.hpp"

#include <gtest/gtest.h>
#include <poll.h>

#include <optional>
#include <string>
#include <vector>

#include "shared/base/error.hpp"
#include "tests/unit/services/events/ipfix_reader.hpp"

namespace millrace {
namespace {

using test::flow_record;
using test::IpfixReader;
using test::number_of;

constexpr std::uint64_t kNowNs = 1'795'608'000'000'000'000;

/// A collector at a port of the loopback, and what an export needs.
class IpfixExportTest : public ::testing::Test {
 protected:
  IpfixExportTest() { listen("127.0.0.1:0"); }

  void listen(const std::string& at) {
    const auto address = socket_address(at);
    collector_ = UniqueFd(::socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0));
    ASSERT_EQ(::bind(collector_.get(), address->get(), address->bytes), 0);
    settings_.collector = "127.0.0.1:" + std::to_string(port_of(collector_));
  }
  IpfixExport start() { return IpfixExport(settings_, sink_); }
  static void give(IpfixExport& to, std::span<const EventRecord> records,
                   std::uint64_t now_ns = kNowNs) {
    const std::vector<std::uint64_t> times(records.size(), now_ns);
    to.begin(records);
    to.send(records, times, now_ns);
  }
  static void give(IpfixExport& to, std::uint64_t number, std::uint64_t now_ns = kNowNs) {
    const EventRecord record = flow_record(number);
    give(to, {&record, 1}, now_ns);
  }
  /// The next message that has arrived; loopback keeps none back.
  std::optional<IpfixReader::Message> next() {
    std::byte bytes[2048];
    const ssize_t count = ::recv(collector_.get(), bytes, sizeof bytes, MSG_DONTWAIT);
    if (count < 0) return std::nullopt;
    return reader_.read({bytes, static_cast<std::size_t>(count)});
  }

  EventSink sink_{};
  PlanIpfix settings_{.collector = "", .domain = 5};
  UniqueFd collector_;
  IpfixReader reader_;
};

TEST_F(IpfixExportTest, SendsFlowsAndNumbersThem) {
  IpfixExport to = start();
  std::vector<EventRecord> records;
  for (std::uint64_t i = 0; i < 256; ++i) {
    records.push_back(flow_record(i));
    records.push_back({});  // an alert
  }
  give(to, records);
  give(to, 256);
  std::uint64_t read = 0, messages = 0;
  while (const auto message = next()) {
    EXPECT_EQ(message->sequence, read);
    EXPECT_EQ(message->domain, 5u);
    EXPECT_EQ(message->time_s, kNowNs / 1'000'000'000);
    EXPECT_EQ(message->templates != 0, messages == 0);
    for (const auto& record : message->records) EXPECT_EQ(number_of(record, 2), read++);
    ++messages;
  }
  EXPECT_EQ(read, 257u);
  EXPECT_LT(messages, 25u);
  EXPECT_EQ(sink_.ipfix_begun, 257u);
  EXPECT_EQ(sink_.ipfix_sent, 257u);
  EXPECT_EQ(sink_.ipfix_lost, 0u);
}

TEST_F(IpfixExportTest, SendsTemplatesAgainByTimeAndByCount) {
  IpfixExport to = start();
  const auto templates_at = [&](std::uint64_t now_ns) {
    give(to, 1, now_ns);
    return next()->templates != 0;
  };
  EXPECT_TRUE(templates_at(kNowNs));
  EXPECT_FALSE(templates_at(kNowNs));
  EXPECT_FALSE(templates_at(kNowNs + IpfixExport::kTemplatePauseNs - 1));
  EXPECT_TRUE(templates_at(kNowNs + IpfixExport::kTemplatePauseNs));
  EXPECT_TRUE(templates_at(kNowNs)) << "a clock that was set back";
  for (std::uint32_t i = 1; i < IpfixExport::kTemplatePauseMessages; ++i) {
    ASSERT_FALSE(templates_at(kNowNs)) << i;
  }
  EXPECT_TRUE(templates_at(kNowNs));
}

TEST_F(IpfixExportTest, CountsWhatACollectorThatIsAwayDoesNotGet) {
  IpfixExport to = start();
  const std::string at = settings_.collector;
  collector_ = UniqueFd();
  ::testing::internal::CaptureStderr();
  for (std::uint64_t i = 0; i < 10; ++i) give(to, i);
  EXPECT_EQ(sink_.ipfix_begun, 10u);
  EXPECT_EQ(sink_.ipfix_sent + sink_.ipfix_lost, 10u);
  EXPECT_GE(sink_.ipfix_lost, 5u) << "each refusal is told of by the next message";
  listen(at);
  for (std::uint64_t i = 10; i < 20; ++i) give(to, i);
  const std::string said = ::testing::internal::GetCapturedStderr();
  EXPECT_NE(said.find("collector " + at + " (`events: ipfix`): Connection refused"),
            std::string::npos)
      << said;
  EXPECT_EQ(said.find("refused", said.find("refused") + 1), std::string::npos) << "said once";
  EXPECT_NE(said.find("gets records again"), std::string::npos) << said;
  EXPECT_EQ(sink_.ipfix_sent + sink_.ipfix_lost, 20u);
  const auto first = next();
  ASSERT_TRUE(first);
  EXPECT_NE(first->templates, 0u) << "it knows none";
  EXPECT_EQ(first->sequence, number_of(first->records.at(0), 2)) << "the gap is seen";
}

TEST_F(IpfixExportTest, ASuccessorCountsWhatWasBegunAsLost) {
  {
    IpfixExport first = start();
    give(first, 0);
    const EventRecord records[] = {flow_record(1), flow_record(2)};
    first.begin(records);  // killed here
  }
  next();
  IpfixExport second = start();
  EXPECT_EQ(sink_.ipfix_lost, 2u);
  give(second, 3);
  const auto message = next();
  ASSERT_TRUE(message);
  EXPECT_EQ(message->sequence, 3u);
  EXPECT_NE(message->templates, 0u);
  EXPECT_EQ(sink_.ipfix_begun, sink_.ipfix_sent + sink_.ipfix_lost);
}

TEST_F(IpfixExportTest, NeedsAnAddress) {
  settings_.collector = "name:4739";
  EXPECT_THROW(start(), Error);
}

}  // namespace
}  // namespace millrace
