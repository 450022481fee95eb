// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>
#include <sys/socket.h>

#include <map>
#include <string>

#include "services/events/event_pump.hpp"
#include "services/events/ipfix_export.hpp"
#include "shared/base/tcp_address.hpp"
#include "tests/unit/services/events/event_world.hpp"
#include "tests/unit/services/events/ipfix_reader.hpp"
#include "tests/unit/shared/layout/stop_before_store.hpp"

namespace millrace {
namespace {

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
