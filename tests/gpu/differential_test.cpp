// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
//
// The same packets through the GPU and through the CPU: all columns and all bytes are the same.

#include <cstdlib>
#include <random>

#include "io-worker/ports/capture_reader.hpp"
#include "tests/gpu/gpu_test.hpp"
#include "tests/gpu/made_data.hpp"
#include "tests/unit/io-worker/ports/capture_files.hpp"

namespace millrace {
namespace {

using test::compare, test::GpuWorld;

constexpr const char* kChain = R"(
millrace: 1
name: differential
batch: { capacity: 256 }
ports: { a: { device: "null" }, b: { device: "null" } }
workers:
  cpu: { kind: classifier }
  gpu: { kind: gpu, device: cuda }
functions:
  scan: { type: match, rules: scan.rules, classes: [odd, plain], on: gpu }
  again: { type: match, rules: again.rules, when: class odd, on: gpu }
  way: { type: route, table: routes.txt, on: gpu }
paths:
  one: { from: [a], run: [scan, again, way], slots: 64 }
)";

constexpr const char* kRoutes =
    "0.0.0.0/0 b 02:00:00:00:00:01\n10.0.0.0/8 drop\n10.1.0.0/16 b 02:00:00:00:00:02\n"
    "192.0.2.0/28 b 02:00:00:00:00:03\n192.0.2.9/32 a 02:00:00:00:00:04\n"
    "5053::/16 b 02:00:00:00:00:05\n5053:5659:5c5f::/48 a 02:00:00:00:00:06\n"
    "5053:5659:5c5f:6265:686b:6e71:7477:7a00/123 b 02:00:00:00:00:07\n";

class Differential : public test::GpuTest {};

std::string letters(std::mt19937& random, std::size_t bytes) {
  std::string text(bytes, 'a');
  for (char& letter : text) letter = "abcdABCD"[random() % 8];
  return text;
}

/// Literals of few letters, so that they overlap and nearly match; of all short lengths too.
std::string random_rules(std::mt19937& random, std::size_t shortest) {
  std::string rules;
  const char* const kActions[] = {"drop", "class odd", "class plain", "alert", "alert"};
  const char* const kOptions[] = {"", " nocase", " proto tcp", " proto udp port 53", " port 80"};
  for (std::size_t i = 0; i < 1 + random() % 60; ++i) {
    rules += std::string(kActions[random() % 5]) + " \"" +
             letters(random, shortest + random() % 9) + "\"" + kOptions[random() % 5] + "\n";
  }
  return rules;
}

Frame random_packet(std::mt19937& random) {
  Frame frame = random_frame(random);
  if (random() % 4 != 0) {
    const std::string text = letters(random, random() % (random() % 8 == 0 ? 1400 : 80));
    const auto bytes = static_cast<unsigned>(text.size());
    FrameBuilder builder;
    builder.ipv4(random() % 2 == 0 ? 17 : 6, 20 + bytes, random() % 4 == 0 ? 24 : 20);
    frame = (random() % 2 == 0 ? builder.tcp(5) : builder.udp(bytes)).text(text).build();
    frame[33] = static_cast<std::byte>(random());
    frame[30] = random() % 2 == 0 ? std::byte{10} : std::byte{192};
    if (random() % 8 == 0) frame.resize(random() % frame.size());
  }
  if (random() % 8 != 0) test::mend_checksum(frame);
  return frame;
}

TEST_F(Differential, RandomPacketsAndRules) {
  const std::uint32_t sets = test::many(40);
  std::mt19937 random(7);
  for (std::uint32_t set = 0; set < sets; ++set) {
    const std::size_t shortest = set % 3 == 0 ? 1 : 4;
    const GpuWorld world(kChain, {{"scan.rules", random_rules(random, shortest)},
                                  {"again.rules", random_rules(random, 2 + set % 3)},
                                  {"routes.txt", kRoutes}});
    FunctionStages cpu(world.context("cpu.0"));
    ResidentDevice gpu(world.context("gpu.0.a"), 0);
    for (std::uint32_t batch = 0; batch < 200; ++batch) {
      std::vector<Frame> frames(1 + random() % 256);
      for (Frame& frame : frames) frame = random_packet(random);
      compare(world, gpu, cpu, frames, set * 1000 + batch);
      if (HasFatalFailure()) return;
    }
  }
}

/// Its packets go past it, also those that it would have ended: the GPU has to have looked further.
TEST_F(Differential, AFunctionThatIsOutOfServiceEndsNothing) {
  std::mt19937 random(13);
  const std::uint32_t batches = 100 * test::many(4);
  for (const char* unavailable : {"pass", "drop"}) {
    std::string chain = kChain;
    const std::string scan = "scan: { type: match,";
    chain.replace(chain.find(scan), scan.size(), scan + " unavailable: " + unavailable + ",");
    const GpuWorld world(chain, {{"scan.rules", "drop \"a\"\nclass odd \"b\"\n"},
                                 {"again.rules", random_rules(random, 2)},
                                 {"routes.txt", kRoutes}});
    FunctionStages cpu(world.context("cpu.0"));
    ResidentDevice gpu(world.context("gpu.0.a"), 0);
    for (std::uint32_t batch = 0; batch < batches; ++batch) {
      world.context("cpu.0").status.header().functions_out = batch / 100 % 2;  // the first: scan
      std::vector<Frame> frames(1 + random() % 256);
      for (Frame& frame : frames) frame = random_packet(random);
      compare(world, gpu, cpu, frames, batch);
      if (HasFatalFailure()) return;
    }
  }
}

void write_capture(const std::string& path, std::mt19937& random,
                   const std::vector<std::string>& literals, std::uint32_t packets) {
  std::ofstream out(path, std::ios::binary);
  out << test::pcap_header();
  for (std::uint32_t i = 0; i < packets; ++i) {
    Frame frame = test::made_frame(random, literals);
    test::mend_checksum(frame);
    out << test::pcap_record({reinterpret_cast<const char*>(frame.data()), frame.size()});
  }
}

/// Real packets where MILLRACE_CAPTURE names a capture and MILLRACE_RULES rules of match, else made
/// ones: some thousand literals over requests, pages and binary payloads.
TEST_F(Differential, ACapture) {
  const char* const capture = std::getenv("MILLRACE_CAPTURE");
  const char* const rules = std::getenv("MILLRACE_RULES");
  const bool real = capture != nullptr && rules != nullptr;
  std::mt19937 random(17);
  const test::MadeRules made = test::made_rules(random, 4400);
  std::string text = made.text;
  if (real) {
    std::ifstream file(rules);
    text.assign(std::istreambuf_iterator<char>(file), {});
  }
  const GpuWorld world(
      kChain,
      {{"scan.rules", text}, {"again.rules", "class plain \"GET\"\n"}, {"routes.txt", kRoutes}});
  const std::string path = real ? capture : world.path("made.pcap");
  if (!real) write_capture(path, random, made.literals, test::many(20'000));
  FunctionStages cpu(world.context("cpu.0"));
  ResidentDevice gpu(world.context("gpu.0.a"), 0);
  CaptureReader reader(path);
  CaptureRecord record;
  std::uint32_t packets = 0;
  for (bool more = true; more;) {
    std::vector<Frame> frames;
    while (frames.size() < 256 && (more = reader.next(record) == CaptureStatus::kRecord)) {
      if (record.bytes.size() > 2048) continue;
      frames.emplace_back(record.bytes.begin(), record.bytes.end());
    }
    if (frames.empty()) break;
    packets += static_cast<std::uint32_t>(frames.size());
    compare(world, gpu, cpu, frames, packets);
    if (HasFatalFailure()) return;
  }
  EXPECT_GT(packets, 0u);
  std::printf("%u packets of %s\n", packets, real ? capture : "a capture that was made");
}

TEST_F(Differential, WhatIsReadOfASlotIsBounded) {
  std::mt19937 random(43);
  const GpuWorld world(kChain, {{"scan.rules", random_rules(random, 1)},
                                {"again.rules", random_rules(random, 2)},
                                {"routes.txt", kRoutes}});
  FunctionStages cpu(world.context("cpu.0"));
  ResidentDevice gpu(world.context("gpu.0.a"), 0);
  std::vector<Frame> frames(256);
  for (Frame& frame : frames) frame = random_packet(random);
  test::expect_nonsense_is_bounded(world, gpu, cpu, frames);
}

/// One slot, few buffers: each round is read anew, not from a cache that holds the last one.
TEST_F(Differential, NothingIsReadStale) {
  const GpuWorld world(kChain, {{"scan.rules", "drop \"abcd\"\nalert \"dcba\"\n"},
                                {"again.rules", "alert \"x\"\n"},
                                {"routes.txt", kRoutes}});
  FunctionStages cpu(world.context("cpu.0"));
  ResidentDevice gpu(world.context("gpu.0.a"), 0);
  std::mt19937 random(11);
  const auto frame_of = [](const char* text) {
    Frame frame = FrameBuilder().ipv4(17, 8 + 4).udp(4).text(text).build();
    test::mend_checksum(frame);
    return frame;
  };
  const std::uint32_t rounds = test::many(50'000);
  for (std::uint32_t round = 0; round < rounds; ++round) {
    const char* const texts[] = {"abcd", "dcba", "none"};
    const std::uint32_t chosen = random() % 3;
    world.fill(0, 0, std::vector<Frame>{frame_of(texts[chosen])});
    test::submit(world, gpu, 0);
    test::wait_for_one(gpu);
    const std::uint32_t expected[] = {1, 2, 0};
    ASSERT_EQ(world.segment().gpu_results(0, 0)[0], expected[chosen]) << "round " << round;
  }
}

}  // namespace
}  // namespace millrace
