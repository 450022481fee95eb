// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <chrono>
#include <string>
#include <thread>
#include <vector>

#include "io-worker/ports/pcap.hpp"
#include "shared/base/clock.hpp"
#include "shared/layout/batch_arena.hpp"
#include "tests/unit/io-worker/ports/capture_files.hpp"
#include "tests/unit/io-worker/ports/libpcap_oracle.hpp"
#include "tests/unit/io-worker/ports/test_pool.hpp"

namespace millrace {
namespace {

using test::frame_of;
using test::make_port;
using test::PcapPacket;
using test::read_with_libpcap;
using test::TestFolder;

std::unique_ptr<TxQueue> open(const std::string& path, bool restarted) {
  return open_tx_queue(make_port("pcap", {{"out", path}}), 0, restarted);
}

PcapPacket packet_of(std::uint32_t number) {
  const std::size_t length = number % 1500;
  return {frame_of(number, length), static_cast<std::uint32_t>(length) + number % 3,
          1'700'000'000'000'000'000ull + number};
}

// Sends packets [first, first + count) in one call.
std::uint32_t send(TxQueue& queue, std::uint32_t first, std::uint32_t count) {
  std::vector<PcapPacket> packets;
  std::vector<TxPacket> burst;
  for (std::uint32_t i = 0; i < count; ++i) packets.push_back(packet_of(first + i));
  for (const PcapPacket& packet : packets) {
    burst.push_back({.bytes = std::as_bytes(std::span(packet.bytes)),
                     .wire_length = packet.wire_length,
                     .time_ns = packet.time_ns});
  }
  return queue.send(burst);
}

void expect_packets(const std::string& path, std::uint32_t count) {
  const test::PcapReading oracle = read_with_libpcap(path);
  ASSERT_TRUE(oracle.opened) << oracle.error;
  EXPECT_TRUE(oracle.ended_well) << oracle.error;
  EXPECT_EQ(oracle.link_type, DLT_EN10MB);
  ASSERT_EQ(oracle.packets.size(), count);
  for (std::uint32_t i = 0; i < count; ++i) ASSERT_EQ(oracle.packets[i], packet_of(i)) << i;
}

TEST(PcapTx, WritesPacketsWhereTheirBatchHasThem) {
  const TestFolder folder;
  BatchArena arena;
  std::vector<std::string> frames;
  for (std::uint32_t i = 0; i < 5; ++i) {
    frames.push_back(frame_of(i, 60 + i));
    arena.add(std::as_bytes(std::span(frames.back())));
  }
  const Batch batch = arena.batch();
  batch.begin_cut(5);
  batch.wire_lengths[3] = 1000;
  const auto queue = open(folder.path("a"), false);
  ASSERT_TRUE(queue->reads_batches());
  EXPECT_EQ(queue->send_of(batch, std::array<std::uint16_t, 3>{0, 3, 4}), 3u);
  const test::PcapReading oracle = read_with_libpcap(folder.path("a"));
  ASSERT_EQ(oracle.packets.size(), 3u);
  EXPECT_EQ(oracle.packets[0].bytes, frames[0]);
  EXPECT_EQ(oracle.packets[1].bytes, frames[3]);
  EXPECT_EQ(oracle.packets[1].wire_length, 1000u);
  EXPECT_EQ(oracle.packets[2].bytes, frames[4]);
  EXPECT_EQ(oracle.packets[2].wire_length, 64u);
}

TEST(PcapTx, WritesWhatLibpcapReadsBack) {
  const TestFolder folder;
  const auto queue = open(folder.path("a"), false);
  std::uint32_t sent = 0;
  for (const std::uint32_t burst : {1u, 32u, 256u, 700u, 0u}) {
    EXPECT_EQ(send(*queue, sent, burst), burst);
    sent += burst;
    expect_packets(folder.path("a"), sent);  // without flush: it is out when send() returns
  }
  EXPECT_TRUE(queue->waits_when_full());
  EXPECT_FALSE(queue->failed());
  EXPECT_TRUE(queue->trouble().empty());
}

TEST(PcapTx, GivesAPacketWithoutATimeThatOfItsWriting) {
  const TestFolder folder;
  const auto queue = open(folder.path("a"), false);
  const std::string bytes = frame_of(1, 60);
  const TxPacket packet{.bytes = std::as_bytes(std::span(bytes)), .wire_length = 60};
  const std::uint64_t before = system_clock_ns();
  EXPECT_EQ(queue->send({&packet, 1}), 1u);
  const std::uint64_t after = system_clock_ns();
  const std::uint64_t time_ns = read_with_libpcap(folder.path("a")).packets.at(0).time_ns;
  EXPECT_GE(time_ns, before);
  EXPECT_LE(time_ns, after);
}

TEST(PcapTx, ReplacesAnOldFileAtTheFirstStart) {
  const TestFolder folder;
  const std::string path = folder.write("a", std::string(100'000, 'x'));
  const auto queue = open(path, false);
  expect_packets(path, 0);
  send(*queue, 0, 3);
  expect_packets(path, 3);
}

// A kill can stop a write at any byte.
TEST(PcapTx, GoesOnBehindTheLastWholeRecordAfterARestart) {
  const TestFolder folder;
  send(*open(folder.path("whole"), false), 100, 3);
  const std::string whole = TestFolder::read(folder.path("whole"));
  std::vector<std::size_t> ends{24};
  for (std::uint32_t i = 100; i < 103; ++i) ends.push_back(ends.back() + 16 + i);
  ASSERT_EQ(ends.back(), whole.size());
  for (std::size_t cut = 0; cut <= whole.size(); ++cut) {
    const std::string path = folder.write("cut", whole.substr(0, cut));
    send(*open(path, true), 500, 1);
    std::size_t kept = 0;
    while (kept < 3 && ends[kept + 1] <= cut) ++kept;
    const auto oracle = read_with_libpcap(path);
    ASSERT_TRUE(oracle.opened && oracle.ended_well) << cut;
    ASSERT_EQ(oracle.packets.size(), kept + 1) << cut;
    for (std::size_t i = 0; i < kept; ++i) ASSERT_EQ(oracle.packets[i], packet_of(100 + i));
    ASSERT_EQ(oracle.packets[kept], packet_of(500));
  }
}

TEST(PcapTx, DoesNotAppendToAFileThatItDidNotWrite) {
  const TestFolder folder;
  const std::string other = test::pcap_of(2);
  const std::string path = folder.write("a", other);
  const auto trouble = [&] {
    const auto queue = open(path, true);
    EXPECT_TRUE(queue->failed());
    EXPECT_EQ(send(*queue, 0, 1), 0u);
    return queue->trouble().text();
  };
  EXPECT_NE(trouble().find("not the file that this port wrote"), std::string::npos);
  EXPECT_EQ(TestFolder::read(path), other);
  const std::string corrupt =
      test::pcap_header({.nanoseconds = true}) + std::string(16, static_cast<char>(0xff));
  folder.write("a", corrupt);
  EXPECT_NE(trouble().find("no record at byte 24"), std::string::npos);
  EXPECT_EQ(TestFolder::read(path), corrupt);
}

TEST(PcapTx, KeepsEverySentPacketWhenItsProcessIsKilled) {
  const TestFolder folder;
  const std::string path = folder.path("a");
  std::uint32_t kept = 0;
  constexpr std::uint32_t kEnough = 20 * 32;
  for (int life = 0; life < 20 || (kept <= kEnough && life < 200); ++life) {
    int pipe_ends[2];
    ASSERT_EQ(::pipe(pipe_ends), 0);
    const pid_t child = ::fork();
    if (child == 0) {
      const auto queue = open(path, life > 0);
      for (std::uint32_t first = kept;; first += 32) {
        const std::uint32_t told = first + send(*queue, first, 32);
        if (::write(pipe_ends[1], &told, sizeof(told)) != sizeof(told)) ::_exit(1);
      }
    }
    ::usleep(2000 + 1000 * (life % 20));
    ::kill(child, SIGKILL);
    ::waitpid(child, nullptr, 0);
    ::close(pipe_ends[1]);
    std::uint32_t told = kept;
    while (::read(pipe_ends[0], &told, sizeof(told)) == sizeof(told)) {
    }
    ::close(pipe_ends[0]);
    open(path, true);  // a restart that sends nothing: only cuts
    const std::size_t there = read_with_libpcap(path).packets.size();
    EXPECT_GE(there, told);
    EXPECT_LE(there, told + 32);
    expect_packets(path, static_cast<std::uint32_t>(there));
    kept = static_cast<std::uint32_t>(there);
  }
  EXPECT_GT(kept, kEnough);
}

// A file that cannot grow stands for a full disk.
TEST(PcapTx, StopsAtAWholeRecordWhenTheDiskIsFull) {
  const TestFolder folder;
  const std::string path = folder.path("a");
  const pid_t child = ::fork();
  if (child == 0) {
    struct sigaction ignore {};
    ignore.sa_handler = SIG_IGN;
    ::sigaction(SIGXFSZ, &ignore, nullptr);
    const rlimit limit{20'000, 20'000};
    ::setrlimit(RLIMIT_FSIZE, &limit);
    const auto queue = open(path, false);
    const std::uint32_t sent = send(*queue, 0, 250);
    const bool stays = queue->failed() && send(*queue, sent, 1) == 0 && queue->failed() &&
                       queue->trouble().text() == "File too large: " + path +
                                                      " ends behind a whole record; dropped as "
                                                      "no_output until it can be written again";
    ::_exit(stays ? static_cast<int>(sent) : 255);
  }
  int status = 0;
  ::waitpid(child, &status, 0);
  ASSERT_TRUE(WIFEXITED(status));
  const auto sent = static_cast<std::uint32_t>(WEXITSTATUS(status));
  // 24 bytes and records of 16, 17, 18, ... bytes.
  std::uint32_t fit = 0;
  for (std::uint32_t bytes = 24; bytes + 16 + fit <= 20'000; ++fit) bytes += 16 + fit;
  EXPECT_EQ(sent, fit);
  expect_packets(path, sent);
}

TEST(PcapTx, GoesOnBehindTheLastWholeRecordOnceThereIsRoom) {
  const TestFolder folder;
  const std::string path = folder.path("a");
  const pid_t child = ::fork();
  if (child == 0) {
    ::signal(SIGXFSZ, SIG_IGN);
    const rlimit small{5'000, RLIM_INFINITY};
    ::setrlimit(RLIMIT_FSIZE, &small);
    const auto queue = open(path, false);
    const std::uint32_t sent = send(*queue, 0, 250);
    const bool failed = queue->failed() && sent < 250;
    const rlimit large{RLIM_INFINITY, RLIM_INFINITY};
    ::setrlimit(RLIMIT_FSIZE, &large);
    std::uint32_t more = 0;
    for (int looks = 0; more == 0 && looks < 60'000; ++looks) {
      more = send(*queue, sent, 3);  // what it does not take is not asked for again by an egress
      if (more == 0) std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
    const bool goes_on = more == 3 && !queue->failed() && queue->trouble().empty();
    ::_exit(failed && goes_on ? static_cast<int>(sent + more) : 255);
  }
  int status = 0;
  ::waitpid(child, &status, 0);
  ASSERT_TRUE(WIFEXITED(status));
  ASSERT_LT(WEXITSTATUS(status), 255);
  expect_packets(path, static_cast<std::uint32_t>(WEXITSTATUS(status)));
}

/// The file is new, as behind a rotation, and has no room for its header.
TEST(PcapTx, HasFailedWhenARestartFindsNoRoomToBegin) {
  const TestFolder folder;
  const std::string path = folder.path("a");
  const pid_t child = ::fork();
  if (child == 0) {
    ::signal(SIGXFSZ, SIG_IGN);
    const rlimit limit{10, 10};
    ::setrlimit(RLIMIT_FSIZE, &limit);
    bool stays = false;
    const std::string error = test::error_of([&] {
      const auto queue = open(path, true);
      stays = queue->failed() && send(*queue, 0, 1) == 0 && !queue->trouble().empty();
    });
    ::_exit(stays && error.empty() ? 0 : 1);
  }
  int status = 0;
  ::waitpid(child, &status, 0);
  EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0);
  EXPECT_EQ(send(*open(path, true), 0, 3), 3u) << "with room again it begins";
  expect_packets(path, 3);
}

}  // namespace
}  // namespace millrace
