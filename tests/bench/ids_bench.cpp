// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
//
// The stage `flow`, `ids` beside `flow` alone and beside a bare scan of the same payloads by
// Vectorscan, which looks for the fast patterns of all rules in one database. One run, one core;
// bytes of payload a second. 64 connections ask for pages of HTTP: a request, a response of 16
// segments, an acknowledgment for every other one. Without MILLRACE_RULES (rule files, with colons
// between them) there are 2,000 rules of made words. The caller's own work, new numbers and
// checksums, is part of both stages. `behind_prefilter` is the same stage with the hints of a
// `prefilter` on a GPU in front: its results are there, its finish is part of the stage. `clean`
// says in how many of a hundred packets with data it has found no fast pattern.

#include <benchmark/benchmark.h>

#include <algorithm>
#include <cstdlib>
#include <memory>
#include <random>
#include <sstream>
#include <string>
#include <variant>
#include <vector>

#include "services/functions/flow/flow.hpp"
#include "services/functions/ids/ids.hpp"
#include "services/functions/ids/ids_image.hpp"
#include "services/functions/match/vectorscan.hpp"
#include "services/functions/prefilter/prefilter.hpp"
#include "services/functions/stage_runner.hpp"
#include "shared/layout/batch_arena.hpp"
#include "tests/unit/services/functions/lane_memory.hpp"
#include "tests/unit/services/functions/match/match_fixture.hpp"
#include "tests/unit/services/functions/stream/tcp_frames.hpp"

namespace millrace {
namespace {

constexpr std::uint32_t kConnections = kBatchCapacityDefault, kBytes = 1460, kSegments = 16;
constexpr std::uint32_t kFirst = 100;
constexpr std::size_t kMadeRules = 2000;

std::string letters(std::mt19937& random, std::size_t bytes) {
  std::string text(bytes, 'a');
  for (char& byte : text) byte = static_cast<char>('a' + random() % 26);
  return text;
}

std::string made_rules() {
  constexpr std::string_view kBuffers[] = {"", "http.uri; ", "file.data; ", "http.header; "};
  std::mt19937 random(3);
  std::string rules;
  for (std::size_t i = 0; i < kMadeRules; ++i) {
    const std::string_view buffer = kBuffers[i % std::size(kBuffers)];
    rules += "drop " + std::string(buffer.empty() ? "tcp" : "http") +
             " any any -> any any (msg:\"made\"; " + std::string(buffer) + "content:\"" +
             letters(random, 6 + i % 18) + "\"; sid:" + std::to_string(i + 1) + ";)\n";
  }
  return rules;
}

/// What stands in front of the stage.
enum class Front : std::uint8_t { kNone, kPrefilter };

/// The same rules for what stands in front.
PlanFunction front_plan_of(const PlanFunction& ids, const MatchFolder& folder) {
  PlanFunction plan{.name = "prefilter", .type = "prefilter"};
  for (const auto& setting : ids.settings) {
    if (setting.first == "rules") plan.settings.push_back(setting);
  }
  plan.image = folder.path("prefilter.image");
  return plan;
}

/// Packets of one batch, and what is computed of them in front: their payloads stay the same.
struct Burst {
  std::vector<Frame> frames;
  std::vector<std::uint32_t> words;
};

/// The image of the rules, and the settings of a function that has it.
PlanFunction plan_of(const MatchFolder& folder) {
  PlanFunction plan{.name = "ids", .type = "ids", .settings = {{"mode", "ids"}}};
  if (const char* const files = std::getenv("MILLRACE_RULES")) {
    std::istringstream names(files);
    for (std::string name; std::getline(names, name, ':');)
      plan.settings.emplace_back("rules", name);
  } else {
    plan.settings.emplace_back("rules", folder.write("made.rules", made_rules()));
  }
  plan.image = folder.path("ids.image");
  return plan;
}

std::string request() {
  return "GET /index.html?page=1 HTTP/1.1\r\nHost: www.example.org\r\n"
         "User-Agent: Mozilla/5.0 (X11; Linux x86_64)\r\nAccept: text/html\r\n\r\n";
}

/// Words of HTML that fill kSegments segments.
std::string response() {
  std::mt19937 random(5);
  const std::size_t bytes = std::size_t{kSegments} * kBytes;
  const auto head = [](std::size_t body) {
    return "HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Length: " + std::to_string(body) +
           "\r\n\r\n";
  };
  const std::string begin = head(bytes - head(bytes).size());
  std::string body;
  while (body.size() < bytes)
    body += "<p class=\"x\">" + letters(random, 2 + random() % 9) + " </p>";
  return begin + body.substr(0, bytes - begin.size());
}

/// Connections through `flow` and, perhaps, `ids`.
class Stage {
 public:
  Stage(const MatchFolder& folder, bool reads, Front front = Front::kNone)
      : plan_(plan_of(folder)), front_plan_(front_plan_of(plan_, folder)) {
    hits_.resize(ids_type().build({.function = plan_, .ports = {}}).counter_count);
    flow_ = flow_type().make({.function = flow_plan_, .ports = {}});
    ids_ = ids_type().make({.function = plan_, .ports = {}});
    std::vector<StageFunction> stage{{.function = flow_.get()}};
    if (reads) stage.push_back({.function = ids_.get(), .counters = {hits_}, .number = 1});
    runner_ = std::make_unique<StageRunner>(stage);
    if (front == Front::kPrefilter) put_in_front();
    for (std::uint16_t i = 0; i < kConnections; ++i) open(static_cast<std::uint16_t>(10'000 + i));
  }
  /// A page for each connection. Returns false if a packet was dropped.
  bool round() {
    bool passes = run(asks_);
    for (std::uint32_t part = 0; part < kSegments; ++part) {
      passes &= run(parts_[part]);
      if (part % 2 == 1) passes &= run(acks_[part / 2]);
    }
    for (Frame& frame : asks_.frames) advance(frame, true);
    for (Burst& burst : parts_) {
      for (Frame& frame : burst.frames) advance(frame, false);
    }
    for (Burst& burst : acks_) {
      for (Frame& frame : burst.frames) advance(frame, true);
    }
    return passes;
  }
  /// Of packets with data, those that are clean, in percent.
  double clean() const {
    std::size_t clean = std::ranges::count(asks_.words, 0u), packets = asks_.words.size();
    for (const Burst& burst : parts_) {
      clean += static_cast<std::size_t>(std::ranges::count(burst.words, 0u));
      packets += burst.words.size();
    }
    return packets == 0 ? 0 : 100.0 * static_cast<double>(clean) / static_cast<double>(packets);
  }
  static std::size_t bytes() { return request().size() + std::size_t{kSegments} * kBytes; }

 private:
  void put_in_front() {
    front_hits_.resize(
        prefilter_type().build({.function = front_plan_, .ports = {}}).counter_count);
    prefilter_ = prefilter_type().make({.function = front_plan_, .ports = {}});
    front_ = std::make_unique<StageRunner>(
        std::vector<StageFunction>{{.function = prefilter_.get(), .counters = {front_hits_}}});
  }
  void open(std::uint16_t port) {
    for (const Frame& frame : {segment(false, kSyn, kFirst, 0, {}, port),
                               segment(true, kSyn | kAck, kFirst, kFirst + 1, {}, port),
                               segment(false, kAck, kFirst + 1, kFirst + 1, {}, port)}) {
      Burst alone{{frame}, {}};
      run(alone);
    }
    const std::string ask = request(), page = response();
    const auto asked = static_cast<std::uint32_t>(kFirst + 1 + ask.size());
    asks_.frames.push_back(segment(false, kAck, kFirst + 1, kFirst + 1, ask, port));
    for (std::uint32_t part = 0; part < kSegments; ++part) {
      const std::uint32_t at = kFirst + 1 + part * kBytes;
      parts_[part].frames.push_back(
          segment(true, kAck, at, asked, page.substr(std::size_t{part} * kBytes, kBytes), port));
      if (part % 2 == 1) {
        acks_[part / 2].frames.push_back(segment(false, kAck, asked, at + kBytes, {}, port));
      }
    }
  }
  /// To the numbers of the next page.
  static void advance(Frame& frame, bool of_client) {
    const auto asked = static_cast<std::uint32_t>(request().size());
    const std::uint32_t sent = of_client ? asked : kSegments * kBytes;
    const std::uint32_t received = of_client ? kSegments * kBytes : asked;
    add_to_number(frame, 4, sent);
    add_to_number(frame, 8, received);
  }
  bool run(Burst& burst) {
    arena_.clear();
    for (const Frame& frame : burst.frames) arena_.add(frame);
    if (front_ != nullptr) {
      if (burst.words.empty()) {
        burst.words.resize(kConnections);
        front_->run_compute(arena_.batch(), burst.words);
      }
      front_->run_finish(arena_.batch(), burst.words, {});
    }
    const std::array<LaneState, 2> states{of_flow_.state, of_ids_.state};
    ++sequence_;
    for (const LaneState& state : states) state.undo.begin(0, sequence_);
    runner_->run(arena_.batch(), states, {.port_in = 0, .now_ns = 1'000'000'000});
    return fates_in(arena_.batch()).dropped == 0;
  }

  PlanFunction flow_plan_{.name = "flow", .type = "flow", .settings = {{"max", "1000"}}};
  PlanFunction plan_, front_plan_;
  std::vector<std::uint64_t> hits_, front_hits_;
  LaneMemory of_flow_{flow_type().traits.lane_needs({.settings = flow_plan_.settings})};
  LaneMemory of_ids_{ids_type().traits.lane_needs({.settings = plan_.settings})};
  std::unique_ptr<Function> flow_, ids_, prefilter_;
  std::unique_ptr<StageRunner> runner_, front_;
  Burst asks_;
  std::array<Burst, kSegments> parts_;
  std::array<Burst, kSegments / 2> acks_;
  BatchArena arena_{kConnections};
  std::uint64_t sequence_ = 0;
};

void stage(benchmark::State& state, bool reads, Front front = Front::kNone) {
  const MatchFolder folder;
  Stage made(folder, reads, front);
  for (auto _ : state) {
    if (!made.round()) state.SkipWithError("a packet was dropped");
  }
  const auto bytes = static_cast<std::int64_t>(kConnections * Stage::bytes());
  state.SetBytesProcessed(state.iterations() * bytes);
  if (front != Front::kNone) state.counters["clean"] = made.clean();
}
void behind_prefilter(benchmark::State& state) { stage(state, true, Front::kPrefilter); }
void flow_alone(benchmark::State& state) { stage(state, false); }
void flow_and_ids(benchmark::State& state) { stage(state, true); }

/// The literal that the prefilter looks for.
HsLiteral literal_of(const Signature& signature, unsigned number) {
  const FastPattern& fast = *signature.fast_pattern;
  const auto& content = std::get<ContentMatch>(signature.buffers[fast.buffer].tests[fast.test]);
  return {.bytes = content.bytes.substr(fast.offset, fast.length),
          .nocase = content.nocase,
          .number = number};
}

void bare_scan(benchmark::State& state) {
  const MatchFolder folder;
  const PlanFunction plan = plan_of(folder);
  ids_type().build({.function = plan, .ports = {}});
  const IdsImage image(plan.image);
  std::vector<HsLiteral> literals;
  for (const Signature& signature : image.signatures()) {
    if (!signature.fast_pattern || signature.fast_pattern->length < 2) continue;
    literals.push_back(literal_of(signature, static_cast<unsigned>(literals.size())));
  }
  HsRefusal refusal;
  const HsDatabase database = compile_literals(literals, MatchPlaces::kEach, refusal);
  HsScratch scratch;
  grow_scratch(scratch, database.get());
  const std::string ask = request(), page = response();
  std::uint64_t found = 0;
  const auto count = [](unsigned, unsigned long long, unsigned long long, unsigned, void* to) {
    ++*static_cast<std::uint64_t*>(to);
    return 0;
  };
  for (auto _ : state) {
    scan_text(database.get(), std::as_bytes(std::span(ask)), scratch.get(), count, &found);
    for (std::size_t at = 0; at < page.size(); at += kBytes) {
      scan_text(database.get(), std::as_bytes(std::span(page)).subspan(at, kBytes), scratch.get(),
                count, &found);
    }
  }
  benchmark::DoNotOptimize(found);
  state.SetBytesProcessed(state.iterations() * static_cast<std::int64_t>(Stage::bytes()));
  state.counters["literals"] = static_cast<double>(literals.size());
}

BENCHMARK(bare_scan);
BENCHMARK(flow_and_ids);
BENCHMARK(behind_prefilter);
BENCHMARK(flow_alone);

}  // namespace
}  // namespace millrace

BENCHMARK_MAIN();
