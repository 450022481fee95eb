// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
//
// match over batches of UDP packets: nanoseconds a packet and bytes of payload a second, by the
// number of rules and the size of the payload. Payloads are random letters that hold no whole
// literal, which is the usual case.

#include <benchmark/benchmark.h>

#include <memory>
#include <random>
#include <string>
#include <vector>

#include "tests/unit/services/functions/batch_of_frames.hpp"
#include "tests/unit/services/functions/match/match_fixture.hpp"
#include "tests/unit/shared/base/packet_frames.hpp"

namespace {

using millrace::Frame;

std::string letters(std::mt19937& random, std::size_t bytes) {
  std::string text(bytes, 'a');
  for (char& byte : text) byte = static_cast<char>('a' + random() % 26);
  return text;
}

void match(benchmark::State& state) {
  const auto rule_count = static_cast<std::size_t>(state.range(0));
  const auto payload_bytes = static_cast<unsigned>(state.range(1));
  std::mt19937 random(3);
  std::string rules;
  for (std::size_t i = 0; i < rule_count; ++i) {
    rules +=
        "alert \"" + letters(random, 6 + random() % 18) + "\"" + (i % 2 == 0 ? "\n" : " nocase\n");
  }
  const millrace::MatchFolder folder;
  const millrace::PlanFunction plan = folder.plan(rules);
  millrace::build(plan);
  const std::unique_ptr<millrace::Function> function = millrace::make(plan);
  std::vector<Frame> frames;
  for (std::uint16_t i = 0; i < millrace::kBatchCapacityDefault; ++i) {
    const std::string payload = letters(random, payload_bytes);
    frames.push_back(millrace::FrameBuilder()
                         .ipv4(17, 8 + payload_bytes)
                         .udp(payload_bytes)
                         .text(payload)
                         .build());
  }
  millrace::BatchArena arena;
  const millrace::Batch batch = millrace::batch_of(arena, frames);
  std::vector<std::uint16_t> all(batch.count);
  for (std::uint16_t i = 0; i < all.size(); ++i) all[i] = i;
  for (auto _ : state) function->compute(batch, {all}, batch.results(0));
  state.SetItemsProcessed(state.iterations() * batch.count);
  state.SetBytesProcessed(state.iterations() * batch.count * payload_bytes);
}
BENCHMARK(match)->ArgsProduct({{1, 100, 4000}, {64, 512, 1460}})->ArgNames({"rules", "bytes"});

}  // namespace

BENCHMARK_MAIN();
