// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#include "services/events/stats_json.hpp"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "services/functions/flow/flow_counter.hpp"
#include "shared/config/plan_reasons.hpp"
#include "shared/layout/mapping.hpp"
#include "shared/metrics/counter_ids.hpp"
#include "tests/unit/support/small_world.hpp"

namespace millrace {
namespace {

using nlohmann::json;

constexpr std::uint64_t kCreatedNs = 5'000'000'000;

class StatsTest : public ::testing::Test {
 protected:
  StatsTest() {
    plan_.functions[0].type = "flow";
    plan_.functions[0].counter_count = static_cast<std::uint32_t>(FlowCounter::kCount);
    plan_.reasons = {{"rule", ReasonCause::kPolicy, ""},
                     {"too_costly", ReasonCause::kPolicy, ""},
                     {"stream_conflict", ReasonCause::kPolicy, ""},
                     {"stream_full", ReasonCause::kLoss, ""},
                     {"flow_table_full", ReasonCause::kLoss, ""}};
    memory_ = Mapping::create_anonymous(status_layout(plan_).bytes);
    status_ = StatusView::create(memory_.base(), plan_, 1'000'000'000);
    status_.header().created_ns = kCreatedNs;
  }
  void drop(LaneRecord& record, std::string_view reason, std::uint64_t packets) const {
    record.dropped[reason_number(plan_.reasons, reason)] += packets;
  }
  void release(std::uint32_t lane, const LaneRecord& record) const {
    LaneLedger& ledger = status_.ledger(0, lane);
    const std::uint64_t next = ledger.flips.load() + 1;
    ledger.record[next & 1] = record;
    ledger.flips.store(next);
  }
  void count(std::uint32_t actor, FlowCounter counter, std::uint64_t times) const {
    const std::uint32_t first = function_counter_first(plan_, 0);
    status_.function_counters(actor, first + static_cast<std::uint32_t>(counter), 1)[0] = times;
  }
  json line(const std::vector<std::uint64_t>& rules = {}) {
    const std::uint64_t now_ns = kCreatedNs + 12'999'999'999;
    std::string out;
    put_stats(stats_sums(plan_, status_, now_ns), rules, plan_, now_ns, times_, out);
    EXPECT_EQ(lines_in(out), 1u);
    EXPECT_EQ(out.back(), '\n');
    return json::parse(out);
  }

  Plan plan_ = test::plan_of_text(test::kTwoPaths);
  Mapping memory_;
  StatusView status_;
  EventTimes times_;
};

TEST_F(StatsTest, NothingIsZeros) {
  const json line = this->line();
  EXPECT_EQ(line["event_type"], "stats");
  EXPECT_EQ(line["millrace"]["topology"], "small");
  EXPECT_EQ(line["stats"]["uptime"], 12);
  EXPECT_EQ(line["stats"]["decoder"],
            json({{"pkts", 0}, {"bytes", 0}, {"invalid", 0}, {"avg_pkt_size", 0}}));
  EXPECT_FALSE(line["stats"]["detect"].contains("engines"));
}

TEST_F(StatsTest, PacketsAreSummedOverLanes) {
  LaneRecord record{};
  record.received = 100;
  record.received_bytes = 6050;
  record.transmitted[0] = 20;
  record.transmitted[1] = 50;
  drop(record, "malformed", 1);
  drop(record, "rule", 2);
  drop(record, "too_costly", 20);
  drop(record, "stream_conflict", 3);
  drop(record, "stream_full", 4);
  drop(record, "flow_table_full", 5);
  drop(record, "worker_lost", 15);
  release(0, record);
  release(3, record);
  status_.ingress_lane(0, 1).refused.add(7, 420, 0);
  const json stats = line()["stats"];
  EXPECT_EQ(stats["decoder"],
            json({{"pkts", 207}, {"bytes", 12520}, {"invalid", 2}, {"avg_pkt_size", 60}}));
  EXPECT_EQ(stats["capture"], json({{"kernel_packets", 207}, {"kernel_drops", 7}}));
  EXPECT_EQ(stats["ips"]["accepted"], 140);
  EXPECT_EQ(stats["ips"]["blocked"], 52) << "what is lost is not blocked";
  EXPECT_EQ(stats["ips"]["drop_reason"], json({{"decode_error", 2},
                                               {"flow_memcap", 10},
                                               {"rules", 44},
                                               {"stream_error", 6},
                                               {"stream_memcap", 8}}));
}

TEST_F(StatsTest, ACaptureMissesNothing) {
  const std::uint32_t ingress = plan_.streams[0].ingress;
  status_.counters(ingress)[static_cast<std::size_t>(Counter::kRxMissed)] = 9;
  EXPECT_EQ(line()["stats"]["capture"]["kernel_drops"], 0);
  plan_.ports[plan_.streams[0].port].device = "eth0";
  EXPECT_EQ(line()["stats"]["capture"], json({{"kernel_packets", 9}, {"kernel_drops", 9}}));
}

TEST_F(StatsTest, FlowsAndAlertsAreSummedOverActors) {
  for (const std::uint32_t actor : {1u, 3u}) {
    count(actor, FlowCounter::kBegun, 10);
    count(actor, FlowCounter::kEnded, 4);
    count(actor, FlowCounter::kExpired, 2);
    count(actor, FlowCounter::kGivenUp, 1);
    count(actor, FlowCounter::kTableFull, 6);
    status_.tally(actor, 1).alerts = 8;
    status_.tally(actor, 2).alerts = 100;
  }
  const json stats = line({70, 5})["stats"];
  EXPECT_EQ(stats["flow"], json({{"total", 20},
                                 {"active", 12},
                                 {"memcap", 12},
                                 {"mgr", {{"flows_timeout", 4}}},
                                 {"wrk", {{"flows_evicted", 2}}}}));
  EXPECT_EQ(stats["detect"]["alert"], 216);
  EXPECT_EQ(stats["detect"]["engines"],
            json::parse(R"([{"id": 0, "rules_loaded": 70}, {"id": 1, "rules_loaded": 5}])"));
}

TEST_F(StatsTest, ABeginThatAKilledWorkerLeftUncountedMakesNoNegativeSum) {
  count(1, FlowCounter::kEnded, 3);
  EXPECT_EQ(line()["stats"]["flow"]["active"], 0);
}

TEST_F(StatsTest, AFunctionThatIsGoneHasNoFlows) {
  count(1, FlowCounter::kBegun, 3);
  plan_.functions[0].gone = true;
  EXPECT_EQ(line()["stats"]["flow"]["total"], 0);
}

}  // namespace
}  // namespace millrace
