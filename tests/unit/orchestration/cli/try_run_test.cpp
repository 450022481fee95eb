// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0

#include "orchestration/cli/try_run.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "io-worker/ports/capture_reader.hpp"
#include "shared/base/error.hpp"
#include "shared/config/plan_reasons.hpp"
#include "tests/unit/orchestration/cli/capture_bytes.hpp"
#include "tests/unit/services/functions/route/route_packet.hpp"

namespace millrace {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;

class TryRunTest : public testing::Test {
 protected:
  void SetUp() override {
    fs::create_directory(folder_);
    std::ofstream(folder_ / "routes.txt") << "10.2.0.0/16 wan 02:00:00:00:00:02\n";
    options_.functions = "route";
    options_.captures = {folder_ / "in.pcap"};
    options_.settings = {"table=" + (folder_ / "routes.txt").string()};
  }
  void TearDown() override { fs::remove_all(folder_); }

  void save_capture(std::size_t count, const std::string& name = "in.pcap") {
    CaptureBytes capture;
    for (std::size_t i = 0; i < count; ++i) capture.add(frame(i % 2 == 0 ? 64 : 1), 60);
    capture.save(folder_ / name);
  }
  static std::string frame(std::uint8_t ttl) {
    const std::vector<std::byte> bytes = make_frame({.ttl = ttl});
    return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
  }
  std::string error() {
    try {
      TryRun(options_).run();
    } catch (const Error& error) {
      return error.what();
    }
    return "no error";
  }
  static std::uint64_t dropped(const TryRun& run, std::string_view why) {
    return run.totals().dropped.at(reason_number(run.reasons(), why));
  }

  fs::path folder_ = fs::path(testing::TempDir()) / ("millrace-try-" + std::to_string(getpid()));
  TryOptions options_;
};

TEST_F(TryRunTest, CountsEveryPacketOfMoreBatchesThanOne) {
  save_capture(2 * kBatchCapacityDefault + 1);
  options_.out = folder_ / "out.pcap";
  options_.verdicts = folder_ / "verdicts.tsv";
  TryRun run(options_);
  run.run();
  EXPECT_EQ(run.totals().packets, 129u);
  EXPECT_EQ(run.totals().passed, 65u);
  EXPECT_EQ(dropped(run, "ttl_expired"), 64u);
  EXPECT_EQ(run.functions()[0].packets, 129u);
  EXPECT_EQ(run.functions()[0].report.accepted, 1u);
  CaptureReader out(folder_ / "out.pcap");
  std::size_t packets = 0;
  for (CaptureRecord packet; out.next(packet) == CaptureStatus::kRecord; ++packets) {
    EXPECT_EQ(packet.bytes[5], std::byte{2});
  }
  EXPECT_EQ(packets, 65u);
  std::ifstream verdicts(folder_ / "verdicts.tsv");
  std::string line;
  std::getline(verdicts, line);
  std::getline(verdicts, line);
  EXPECT_EQ(line, "0\tpass\tnone\t0\t0");
  std::getline(verdicts, line);
  EXPECT_EQ(line, "1\tdrop\tttl_expired\tdefault\t0");
}

TEST_F(TryRunTest, APacketBeyondTheBufferIsOversize) {
  CaptureBytes capture;
  capture.add(frame(64) + std::string(3000, 'x'), 3060);
  capture.add(frame(64), 60);
  capture.save(folder_ / "in.pcap");
  TryRun run(options_);
  run.run();
  EXPECT_EQ(dropped(run, "oversize"), 1u);
  EXPECT_EQ(run.totals().passed, 1u);
}

TEST_F(TryRunTest, AnswersAreWrittenOutWithTheirPort) {
  std::string expired = frame(1);
  expired.replace(0, 12, std::string("\x02\0\0\0\0\x0b\x02\0\0\0\0\x0c", 12));
  CaptureBytes capture;
  capture.add(expired, 60);
  capture.add(frame(64), 60);
  capture.save(folder_ / "in.pcap");
  options_.ports = {"wan=02:00:00:00:00:0a,192.0.2.1/24", "lan=02:00:00:00:00:0b,10.1.0.1/24"};
  options_.port_in = "lan";
  options_.out = folder_ / "out.pcap";
  options_.verdicts = folder_ / "verdicts.tsv";
  TryRun run(options_);
  run.run();
  EXPECT_EQ(run.totals().passed, 1u);
  EXPECT_EQ(run.totals().done[static_cast<std::size_t>(Reason::kReport)], 1u);
  EXPECT_EQ(dropped(run, "ttl_expired") + dropped(run, "report"), 0u);
  CaptureReader out(folder_ / "out.pcap");
  CaptureRecord packet;
  ASSERT_EQ(out.next(packet), CaptureStatus::kRecord);
  EXPECT_EQ(packet.bytes[14 + 9], std::byte{1}) << "ICMP";
  EXPECT_EQ(out.next(packet), CaptureStatus::kRecord);
  EXPECT_EQ(out.next(packet), CaptureStatus::kEnd);
  std::ifstream verdicts(folder_ / "verdicts.tsv");
  std::string line;
  std::getline(verdicts, line);
  std::getline(verdicts, line);
  EXPECT_EQ(line, "0\tdone\treport\t1\t0");
}

TEST_F(TryRunTest, WhatIsConsumedIsNoDrop) {
  std::vector<std::byte> bytes = make_frame({.payload = 3000});
  bytes[20] = std::byte{0};  // DF
  put16(bytes, 24, header_checksum(bytes));
  CaptureBytes capture;
  const std::string text(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  capture.add(text, static_cast<std::uint32_t>(bytes.size()));
  capture.save(folder_ / "in.pcap");
  options_.mtu = 9000;
  options_.ports = {"wan=02:00:00:00:00:0a"};
  options_.out = folder_ / "out.pcap";
  TryRun run(options_);
  run.run();
  EXPECT_EQ(run.totals().consumed[static_cast<std::size_t>(Reason::kFragmented)], 1u);
  EXPECT_EQ(dropped(run, "fragmented"), 0u);
  CaptureReader out(folder_ / "out.pcap");
  CaptureRecord packet;
  EXPECT_EQ(out.next(packet), CaptureStatus::kEnd);
}

TEST_F(TryRunTest, ThePortThatPacketsComeInByHasToBeThere) {
  save_capture(1);
  options_.ports = {"wan=02:00:00:00:00:0a"};
  options_.port_in = "wam";
  EXPECT_THAT(error(), HasSubstr("--in: no --port 'wam'; there are: wan; did you mean 'wan'?"));
}

TEST_F(TryRunTest, AnMtuMakesRoomForWhatWasOversize) {
  CaptureBytes capture;
  for (const std::size_t more : {8'940u, 8'963u, 65'475u, 92'000u}) {
    capture.add(frame(64) + std::string(more, 'x'), static_cast<std::uint32_t>(60 + more));
  }
  capture.save(folder_ / "in.pcap");
  const auto tried = [&](std::uint32_t mtu) {
    options_.mtu = mtu;
    TryRun run(options_);
    run.run();
    return std::pair(run.totals().passed, run.totals().oversize_longest);
  };
  EXPECT_EQ(tried(1'500), std::pair(std::uint64_t{0}, 92'060u));
  EXPECT_EQ(tried(8'986), std::pair(std::uint64_t{1}, 92'060u));
  EXPECT_EQ(tried(kTryMtuMax), std::pair(std::uint64_t{3}, 92'060u));
  options_.mtu = kTryMtuMax + 1;
  EXPECT_THAT(error(), HasSubstr("--mtu"));
}

TEST_F(TryRunTest, FunctionsHaveTheRoomBehindAPacketThatTheyAskFor) {
  for (const std::uint32_t mtu : {68u, 1'500u, 9'000u}) {
    BatchArena arena = try_arena(mtu, 100);
    arena.add(std::vector<std::byte>(try_room(mtu)));
    EXPECT_TRUE(arena.batch().grow_back(0, 100)) << mtu;
    EXPECT_FALSE(arena.batch().grow_back(0, 1)) << "that is all of it";
  }
}

TEST_F(TryRunTest, SeveralCapturesGoToAFolderByTheirNames) {
  save_capture(3, "a.pcap");
  save_capture(5, "b.pcap");
  options_.captures = {folder_ / "a.pcap", folder_ / "b.pcap"};
  options_.out = folder_ / "out";
  TryRun run(options_);
  run.run();
  EXPECT_EQ(run.totals().packets, 8u);
  EXPECT_TRUE(fs::exists(folder_ / "out/a.pcap"));
  EXPECT_TRUE(fs::exists(folder_ / "out/b.pcap"));
  options_.captures = {folder_ / "a.pcap", folder_ / "x/../a.pcap"};
  EXPECT_THAT(error(), HasSubstr("two captures are named a.pcap; their outputs would be one file"));
}

TEST_F(TryRunTest, SeveralFunctionsRunInTheOrderGiven) {
  save_capture(4);
  options_.functions = "record,route,record";
  TryRun run(options_);
  run.run();
  ASSERT_EQ(run.functions().size(), 3u);
  EXPECT_EQ(run.functions()[0].hits[0], 4u);
  EXPECT_EQ(run.functions()[2].hits[0], 2u) << "route dropped the others before";
}

TEST_F(TryRunTest, ABrokenCaptureIsToldAndWhatCameBeforeIsCounted) {
  CaptureBytes capture;
  capture.add(frame(64), 60);
  capture.add(frame(64), 60);
  capture.cut(5);
  capture.save(folder_ / "in.pcap");
  TryRun run(options_);
  run.run();
  EXPECT_EQ(run.totals().packets, 1u);
  ASSERT_EQ(run.totals().broken.size(), 1u);
  EXPECT_THAT(run.totals().broken[0], HasSubstr("in.pcap ends in a record that is incomplete"));
}

TEST_F(TryRunTest, SaysWhatIsWrongWithTheCommand) {
  save_capture(1);
  options_.functions = "rote";
  EXPECT_THAT(error(), HasSubstr("'rote'"));
  options_.functions = "route";
  options_.settings = {};
  EXPECT_THAT(error(), HasSubstr("table is missing"));
  options_.settings = {"table=/nowhere"};
  EXPECT_THAT(error(), HasSubstr("/nowhere"));
  options_.settings = {"table=" + (folder_ / "routes.txt").string()};
  options_.captures = {"/nowhere.pcap"};
  EXPECT_THAT(error(), HasSubstr("/nowhere.pcap"));
}

TEST_F(TryRunTest, TheCaptureThatIsReadIsNotOverwritten) {
  save_capture(2);
  const auto bytes = fs::file_size(folder_ / "in.pcap");
  options_.out = folder_ / "../" / folder_.filename() / "in.pcap";
  EXPECT_THAT(error(), HasSubstr("name another file"));
  EXPECT_EQ(fs::file_size(folder_ / "in.pcap"), bytes);
}

TEST_F(TryRunTest, LeavesNoTableBehind) {
  save_capture(1);
  const auto folders = [] {
    std::size_t count = 0;
    for (const auto& entry : fs::directory_iterator("/dev/shm")) {
      count += entry.path().filename().string().starts_with("millrace-try-") ? 1 : 0;
    }
    return count;
  };
  const std::size_t before = folders();
  {
    TryRun run(options_);
    EXPECT_EQ(folders(), before + 1);
  }
  options_.mtu = kTryMtuMax + 1;
  EXPECT_THROW(TryRun{options_}, Error);
  EXPECT_EQ(folders(), before);
  options_.mtu = 1500;
  options_.settings = {"table=/nowhere"};
  EXPECT_THROW(TryRun{options_}, Error);
  EXPECT_EQ(folders(), before);
}

}  // namespace
}  // namespace millrace
