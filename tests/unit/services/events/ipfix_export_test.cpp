// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#include "services/events/ipfix_export.hpp"

#include <gtest/gtest.h>
#include <sys/socket.h>

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "services/events/event_pump.hpp"
#include "shared/base/error.hpp"
#include "tests/unit/services/events/event_world.hpp"
#include "tests/unit/services/events/ipfix_reader.hpp"
#include "tests/unit/shared/layout/stop_before_store.hpp"

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

constexpr std::uint64_t kTicksHz = 1'000'000'000;

/// Rings of a topology, and a collector of what lies in them.
class IpfixPumpTest : public ::testing::Test {
 protected:
  IpfixPumpTest() {
    const auto address = socket_address("127.0.0.1:0");
    collector_ = UniqueFd(::socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0));
    EXPECT_EQ(::bind(collector_.get(), address->get(), address->bytes), 0);
    ipfix_.collector = "127.0.0.1:" + std::to_string(port_of(collector_));
  }
  EventSink& sink() const { return of_.rings.sink(); }
  PlanEvents settings() const {
    return {.file = folder_.path("eve.json"),
            .rotate_bytes = 0,
            .keep = 2,
            .socket = "",
            .ipfix = ipfix_};
  }
  /// Flows with so many packets each, and an alert behind them.
  void tell(std::uint32_t ring, std::uint64_t first, std::uint32_t many) const {
    EventLog log(of_.rings, ring);
    for (std::uint32_t i = 0; i < many; ++i) *log.add() = test::flow_record(first + i);
    *log.add() = {};
    log.publish();
  }
  /// A process `events`, until nothing is left.
  void pump_all() const {
    EventFile file(settings());
    EventSocket socket(folder_.path("sock"), sink());
    IpfixExport ipfix(ipfix_, sink());
    EventPump pump(of_.plan, of_.rings, kTicksHz, &file, socket, &ipfix);
    while (pump.turn() != 0) continue;
  }
  bool killed_before(std::uint32_t store) const {
    return killed_in_child([&] {
      EventFile file(settings());
      EventSocket socket(folder_.path("sock"), sink());
      IpfixExport ipfix(ipfix_, sink());
      EventPump pump(of_.plan, of_.rings, kTicksHz, &file, socket, &ipfix);
      const StopBeforeStore stop({of_.memory.base(), of_.memory.bytes()}, store);
      pump.turn();
      ::_exit(0);  // as a kill: nothing is taken down
    });
  }
  /// How often each flow has arrived since the start.
  const std::map<std::uint64_t, int>& arrived() {
    std::byte bytes[2048];
    for (ssize_t got; (got = ::recv(collector_.get(), bytes, sizeof bytes, MSG_DONTWAIT)) > 0;) {
      const auto message = reader_.read({bytes, static_cast<std::size_t>(got)});
      for (const auto& record : message.records) ++arrived_[test::number_of(record, 2)];
    }
    return arrived_;
  }

  test::EventFolder folder_;
  test::EventWorld of_;
  PlanIpfix ipfix_;
  UniqueFd collector_;
  test::IpfixReader reader_;
  std::map<std::uint64_t, int> arrived_;
};

TEST_F(IpfixPumpTest, FlowsGoToTheFileAndToTheCollector) {
  tell(0, 10, 3);
  tell(2, 20, 2);
  pump_all();
  EXPECT_EQ(arrived(), (std::map<std::uint64_t, int>{{10, 1}, {11, 1}, {12, 1}, {20, 1}, {21, 1}}));
  EXPECT_EQ(sink().ipfix_sent, 5u);
  EXPECT_EQ(sink().ipfix_lost, 0u);
  EXPECT_EQ(sink().file_written, 7u);
}

TEST_F(IpfixPumpTest, KilledBeforeAnyStoreNoFlowIsSentTwiceAndNoLossGoesUncounted) {
  std::uint64_t told = 0;
  std::uint32_t kills = 0;
  for (std::uint32_t store = 0;; ++store) {
    tell(0, told, 3);
    tell(1, told + 3, 3);
    told += 6;
    const bool killed = killed_before(store);
    pump_all();
    for (const auto& [number, times] : arrived()) ASSERT_EQ(times, 1) << number;
    ASSERT_EQ(sink().ipfix_begun, sink().ipfix_sent + sink().ipfix_lost);
    ASSERT_LE(told - arrived().size(), sink().ipfix_lost) << "killed before store " << store;
    if (!killed) break;
    ++kills;
  }
  EXPECT_GE(kills, 20u);
}

}  // namespace
}  // namespace millrace
