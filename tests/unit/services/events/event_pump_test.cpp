// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#include "services/events/event_pump.hpp"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <sstream>
#include <vector>

#include "services/functions/image_file.hpp"
#include "tests/unit/services/events/event_world.hpp"
#include "tests/unit/shared/layout/stop_before_store.hpp"

namespace millrace {
namespace {

class EventPumpTest : public ::testing::Test {
 protected:
  static constexpr std::uint64_t kTscHz = 1'000'000'000;

  PlanEvents settings() const {
    return {.file = folder_.path("eve.json"), .rotate_bytes = 0, .keep = 2, .socket = ""};
  }
  /// Numbers of the rules that lines of `text` are about, with their rings' actors.
  static std::vector<std::pair<std::string, std::uint64_t>> told(const std::string& text) {
    std::vector<std::pair<std::string, std::uint64_t>> all;
    std::istringstream lines(text);
    for (std::string line; std::getline(lines, line);) {
      const auto json = nlohmann::json::parse(line);
      all.emplace_back(json["millrace"]["actor"], json["alert"]["signature_id"]);
    }
    return all;
  }
  EventSink& sink() const { return of_.rings.sink(); }

  test::EventFolder folder_;
  test::EventWorld of_;
};

TEST_F(EventPumpTest, WritesWhatLiesInTheRings) {
  EventFile file(settings());
  EventSocket socket(folder_.path("sock"), sink());
  EventPump pump(of_.plan, of_.rings, kTscHz, &file, socket);
  const UniqueFd client = test::connect_client(folder_.path("sock"));
  socket.turn(1);
  EXPECT_EQ(pump.turn(), 0u);
  of_.tell(0, 10, 3);
  of_.tell(2, 20, 2);
  EXPECT_EQ(pump.turn(), 5u);
  EXPECT_EQ(pump.turn(), 0u);
  socket.turn(1);
  const std::string text = folder_.text("eve.json");
  EXPECT_EQ(
      told(text),
      (std::vector<std::pair<std::string, std::uint64_t>>{
          {"front.0", 10}, {"front.0", 11}, {"front.0", 12}, {"front.2", 20}, {"front.2", 21}}));
  EXPECT_EQ(test::received(client), text);
  EXPECT_EQ(sink().file_written, 5u);
  EXPECT_EQ(sink().file_lost, 0u);
  EXPECT_EQ(sink().client_written, 5u);
}

TEST_F(EventPumpTest, TakesSoManyOfARingInATurnAndLosesNone) {
  EventFile file(settings());
  EventSocket socket(folder_.path("sock"), sink());
  EventPump pump(of_.plan, of_.rings, kTscHz, &file, socket);
  of_.tell(1, 0, 1000);
  of_.tell(0, 5, 1);
  EXPECT_EQ(pump.turn(), EventPump::kRecordsPerTurn + 1);
  while (pump.turn() != 0) continue;
  EXPECT_EQ(told(folder_.text("eve.json")).size(), 1001u);
}

TEST_F(EventPumpTest, ASignatureOfANewTableHasItsNameAtOnce) {
  const auto put_names = [&](const std::string& image, std::uint32_t sid) {
    Signature one;
    one.sid = sid;
    one.message = "a name";
    write_signature_names(names_beside_image(image), std::vector{one});
  };
  put_names(folder_.path("1.image"), 1);
  put_names(folder_.path("2.image"), 2);
  of_.plan.functions[0].image = folder_.path("1.image");
  EventFile file(settings());
  EventSocket socket(folder_.path("sock"), sink());
  EventPump pump(of_.plan, of_.rings, kTscHz, &file, socket);
  int asked = 0;
  pump.on_unknown([&]() -> std::optional<Plan> {
    if (++asked > 1) return std::nullopt;
    Plan next = of_.plan;
    next.functions[0].image = folder_.path("2.image");
    return next;
  });
  EventLog log(of_.rings, 0);
  for (const std::uint32_t sid : {1u, 2u, 3u, 4u}) {
    EventRecord* const record = log.add();
    *record = {};
    record->kind = EventKind::kSignature;
    record->signature.gid = 1;
    record->signature.sid = sid;
  }
  log.publish();
  EXPECT_EQ(pump.turn(), 4u);
  EXPECT_EQ(asked, 1) << "once a turn";
  std::vector<std::string> names;
  std::istringstream lines(folder_.text("eve.json"));
  for (std::string line; std::getline(lines, line);) {
    names.push_back(nlohmann::json::parse(line)["alert"]["signature"]);
  }
  EXPECT_EQ(names, (std::vector<std::string>{"a name", "a name", "", ""}));
}

TEST_F(EventPumpTest, LinesOfSeveralRecordsComeWhole) {
  EventFile file(settings());
  EventSocket socket(folder_.path("sock"), sink());
  EventPump pump(of_.plan, of_.rings, kTscHz, &file, socket);
  constexpr std::uint32_t kMany = 200;  // of four records: more than a turn takes
  of_.tell(0, 7, 1);
  of_.tell_long(0, 0, kMany);
  std::size_t turns = 0, lines = 0;
  for (std::size_t count = 1; count != 0; lines += count, ++turns) count = pump.turn();
  EXPECT_EQ(lines, kMany + 1);
  EXPECT_GT(turns, 3u);
  std::istringstream text(folder_.text("eve.json"));
  std::string line;
  std::getline(text, line);
  EXPECT_FALSE(nlohmann::json::parse(line)["millrace"].contains("records"));
  std::uint64_t next = 1, sid = 0;
  while (std::getline(text, line)) {
    const auto json = nlohmann::json::parse(line);
    EXPECT_EQ(json["alert"]["signature_id"], sid++);
    EXPECT_EQ(json["payload_printable"], std::string(2 * kEventTextBytes, 'p'));
    EXPECT_EQ(json["millrace"]["record"], next);
    next += json["millrace"]["records"].get<std::uint64_t>();
  }
  EXPECT_EQ(sid, kMany);
  EXPECT_EQ(next, of_.rings.ring(0).tail);
  EXPECT_EQ(sink().file_written, kMany + 1);
}

TEST_F(EventPumpTest, RecordsThatMakeNoLineAreLostAndCounted) {
  EventFile file(settings());
  EventSocket socket(folder_.path("sock"), sink());
  EventPump pump(of_.plan, of_.rings, kTscHz, &file, socket);
  of_.tell_long(0, 1, 3);
  of_.rings.records(0)[4].signature.texts = 2;  // of the second line, which has three
  EXPECT_EQ(pump.turn(), 6u);
  EXPECT_EQ(told(folder_.text("eve.json")).size(), 2u);
  EXPECT_EQ(sink().file_written, 2u);
  EXPECT_EQ(sink().file_lost, 4u) << "each record of it";
  EXPECT_EQ(of_.rings.ring(0).head, of_.rings.ring(0).tail);
}

TEST_F(EventPumpTest, ServesClientsWithoutAFile) {
  EventSocket socket(folder_.path("sock"), sink());
  EventPump pump(of_.plan, of_.rings, kTscHz, nullptr, socket);
  const UniqueFd client = test::connect_client(folder_.path("sock"));
  socket.turn(1);
  of_.tell(0, 10, 3);
  EXPECT_EQ(pump.turn(), 3u);
  socket.turn(1);
  EXPECT_EQ(told(test::received(client)).size(), 3u);
  EXPECT_EQ(sink().file_written, 0u);
  EXPECT_EQ(pump.turn(), 0u);
}

TEST_F(EventPumpTest, CountsWhatTheFileHasNoRoomFor) {
  PlanEvents there = settings();
  std::filesystem::create_directory(folder_.path("logs"));
  there.file = folder_.path("logs/eve.json");
  EventFile file(there);
  std::filesystem::remove_all(folder_.path("logs"));
  file.look();
  EventSocket socket(folder_.path("sock"), sink());
  EventPump pump(of_.plan, of_.rings, kTscHz, &file, socket);
  of_.tell(0, 10, 3);
  EXPECT_EQ(pump.turn(), 3u);
  EXPECT_EQ(sink().file_written, 0u);
  EXPECT_EQ(sink().file_lost, 3u);
  EXPECT_EQ(of_.rings.ring(0).head, 3u);
}

TEST_F(EventPumpTest, SaysWhenItWas) {
  EventSocket socket(folder_.path("sock"), sink());
  EventFile file(settings());
  EventPump pump(of_.plan, of_.rings, 1'000'000'000, &file, socket);
  of_.tell(0, 1, 1);
  of_.tell(0, 2, 1);
  of_.rings.records(0)[0].time_tsc = tsc_now() - 3'600'000'000'000;  // an hour, at this rate
  of_.rings.records(0)[1].time_tsc = tsc_now() + 3'600'000'000'000;  // another core's counter
  const std::uint64_t before = system_clock_ns();
  pump.turn();
  const std::string text = folder_.text("eve.json");
  EventTimes times;
  std::string hour_ago, now;
  times.put(before - 3'600'000'000'000, hour_ago);
  times.put(before, now);
  const auto minute_of = [](const std::string& line) {  // or the next one
    return line.substr(0, std::string("2026-11-25T12:0").size());
  };
  std::istringstream lines(text);
  std::string first, second;
  std::getline(lines, first);
  std::getline(lines, second);
  EXPECT_LE(minute_of(hour_ago), minute_of(nlohmann::json::parse(first)["timestamp"]));
  EXPECT_LT(std::string(nlohmann::json::parse(first)["timestamp"]), now);
  EXPECT_GE(std::string(nlohmann::json::parse(second)["timestamp"]), now);
}

/// Two turns over two rings, killed in front of store number `store` to the rings' memory; half of
/// what it wrote last may be missing then. True when it was, false when it came to its end.
bool killed_before(std::uint32_t store, const test::EventWorld& of, const PlanEvents& settings,
                   const std::string& socket_path) {
  return killed_in_child([&] {
    EventFile file(settings);
    EventSocket socket(socket_path, of.rings.sink());
    EventPump pump(of.plan, of.rings, 1'000'000'000, &file, socket);
    const StopBeforeStore stop({of.memory.base(), of.memory.bytes()}, store);
    pump.turn();
    pump.turn();
    ::_exit(0);  // as a kill: nothing is taken down
  });
}

TEST_F(EventPumpTest, KilledBeforeAnyStoreItsSuccessorWritesEachRecordOnce) {
  std::uint32_t kills = 0;
  std::uint32_t next = 0;
  std::vector<std::uint64_t> expected;
  for (std::uint32_t store = 0;; ++store) {
    for (std::uint32_t ring = 0; ring < 2; ++ring) {
      ring == 0 ? of_.tell(ring, next, 3) : of_.tell_long(ring, next, 3);
      for (std::uint32_t i = 0; i < 3; ++i) expected.push_back(next++);
    }
    const bool killed = killed_before(store, of_, settings(), folder_.path("sock"));
    {
      EventFile file(settings());
      EventSocket socket(folder_.path("sock"), sink());
      EventPump successor(of_.plan, of_.rings, kTscHz, &file, socket);
      while (successor.turn() != 0) continue;
    }
    std::vector<std::uint64_t> numbers;
    for (const auto& [actor, number] : told(folder_.text("eve.json"))) numbers.push_back(number);
    ASSERT_EQ(numbers, expected) << "killed before store " << store;
    ASSERT_EQ(sink().file_written, expected.size()) << "killed before store " << store;
    ASSERT_EQ(sink().file_lost, 0u);
    if (!killed) break;
    ++kills;
  }
  EXPECT_GE(kills, 20u);
}

TEST_F(EventPumpTest, HalfALineOfAKilledOneIsWrittenWhole) {
  of_.tell(1, 40, 3);
  EventFile file(settings());
  file.write("earlier\n");
  const EventFile::Place before = file.place();
  sink().intent_file = before.file;
  sink().intent_offset = before.offset;
  sink().intent_head = 0;
  sink().intent_written = 1;
  sink().intent_lost = 4;
  sink().intent_ring = 2;
  file.write(
      "{\"alert\":{\"signature_id\":40},\"millrace\":{\"actor\":\"front.1\"}}\n"
      "{\"alert\":{\"signature_id\":41},\"millr\n");
  std::filesystem::resize_file(folder_.path("eve.json"), file.place().offset - 5);
  EventSocket socket(folder_.path("sock"), sink());
  EventPump pump(of_.plan, of_.rings, kTscHz, &file, socket);
  EXPECT_EQ(pump.turn(), 2u);
  const std::string text = folder_.text("eve.json");
  const auto all = told(text.substr(text.find('\n') + 1));
  ASSERT_EQ(all.size(), 3u);
  for (std::uint64_t i = 0; i < 3; ++i) EXPECT_EQ(all[i].second, 40 + i);
  EXPECT_EQ(sink().file_written, 4u);
  EXPECT_EQ(sink().file_lost, 4u);
  EXPECT_EQ(sink().intent_ring, 0u);
}

TEST_F(EventPumpTest, AFileThatIsAwayAtARestartHasNoLineTwiceWhenItIsBack) {
  std::filesystem::create_directory(folder_.path("logs"));
  PlanEvents there = settings();
  there.file = folder_.path("logs/eve.json");
  of_.tell(1, 40, 3);
  const std::string begun =
      "{\"alert\":{\"signature_id\":40},\"millrace\":{\"actor\":\"front.1\"}}\n"
      "{\"alert\":{\"signature_id\":41},\"millrace\":{\"actor\":\"front.1\"}}\n";
  EventFile::Place place;
  {
    EventFile killed(there);
    place = killed.place();
    killed.write(begun);
    std::ofstream(there.file, std::ios::app) << "{\"alert\":";
  }
  sink().intent_file = place.file;
  sink().intent_offset = place.offset;
  sink().intent_head = 0;
  sink().intent_written = 1;
  sink().intent_lost = 4;
  sink().intent_ring = 2;
  sink().file_written = 3;  // one store in front of its death
  sink().file_lost = 4;
  std::filesystem::rename(folder_.path("logs"), folder_.path("away"));
  EventFile file(there, place, EventFile::Life::kRestarted);
  EventSocket socket(folder_.path("sock"), sink());
  EventPump pump(of_.plan, of_.rings, kTscHz, &file, socket);
  std::filesystem::rename(folder_.path("away"), folder_.path("logs"));
  file.look();
  EXPECT_EQ(pump.turn(), 0u);
  EXPECT_EQ(folder_.text("logs/eve.json"), begun);
  EXPECT_EQ(sink().file_written, 1u);
  EXPECT_EQ(sink().file_lost, 7u);
  EXPECT_EQ(sink().intent_ring, 0u);
  of_.tell(1, 43, 1);
  EXPECT_EQ(pump.turn(), 1u);
  const std::string text = folder_.text("logs/eve.json");
  EXPECT_EQ(told(text).back().second, 43u);
  EXPECT_EQ(told(text).size(), 3u);
}

TEST_F(EventPumpTest, StatsStandBesideTheLinesOfRings) {
  const Mapping memory = Mapping::create_anonymous(status_layout(of_.plan).bytes);
  const StatusView status = StatusView::create(memory.base(), of_.plan, kTscHz);
  EventFile file(settings());
  EventSocket socket(folder_.path("sock"), sink());
  EventPump pump(of_.plan, of_.rings, kTscHz, &file, socket);
  const UniqueFd client = test::connect_client(folder_.path("sock"));
  socket.turn(1);
  of_.tell(0, 10, 1);
  pump.turn();
  pump.tell_stats(status);
  of_.tell(0, 11, 1);
  pump.turn();
  socket.turn(1);
  const std::string text = folder_.text("eve.json");
  EXPECT_EQ(test::received(client), text);
  std::vector<std::string> types;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    types.push_back(nlohmann::json::parse(line)["event_type"]);
  }
  EXPECT_EQ(types, (std::vector<std::string>{"alert", "stats", "alert"}));
  EXPECT_EQ(sink().file_written, 2u) << "what functions have told";
  EXPECT_EQ(sink().intent_ring, 0u);
}

TEST_F(EventPumpTest, HalfALineOfStatsIsTakenOut) {
  {
    EventFile file(settings());
    file.write("earlier\n");
    sink().intent_file = file.place().file;
    sink().intent_offset = file.place().offset;
    sink().intent_ring = UINT64_MAX;
    file.write("{\"event_type\":\"stats\"\n");
    std::filesystem::resize_file(folder_.path("eve.json"), file.place().offset - 5);
  }
  EventFile file(settings(), {sink().intent_file, sink().intent_offset});
  EventSocket socket(folder_.path("sock"), sink());
  const EventPump pump(of_.plan, of_.rings, kTscHz, &file, socket);
  EXPECT_EQ(folder_.text("eve.json"), "earlier\n");
  EXPECT_EQ(sink().intent_ring, 0u);
  EXPECT_EQ(sink().file_written, 0u);
}

}  // namespace
}  // namespace millrace
