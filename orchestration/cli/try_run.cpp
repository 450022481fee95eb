// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0

#include "orchestration/cli/try_run.hpp"

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <sstream>
#include <utility>

#include "io-worker/ports/capture_reader.hpp"
#include "orchestration/cli/fate.hpp"
#include "orchestration/cli/same_place.hpp"
#include "orchestration/cli/try_settings.hpp"
#include "services/functions/builder/build_image.hpp"
#include "services/functions/ids/work_clock.hpp"
#include "services/functions/table.hpp"
#include "shared/base/error.hpp"
#include "shared/base/limits.hpp"
#include "shared/base/nearest.hpp"

namespace millrace {
namespace {

namespace fs = std::filesystem;

std::vector<std::string> split(const std::string& list) {
  std::vector<std::string> parts;
  std::size_t start = 0;
  while (start <= list.size()) {
    const std::size_t end = std::min(list.find(',', start), list.size());
    parts.push_back(list.substr(start, end - start));
    start = end + 1;
  }
  return parts;
}

/// Where the output for one of `count` captures goes.
std::string place_of(const std::string& out, const std::string& capture, std::size_t count) {
  if (out.empty() || count == 1) return out;
  return fs::path(out) / fs::path(capture).filename();
}

/// Several captures go to a folder by their file names, which must differ then.
void prepare_folder(const std::string& out, const std::vector<std::string>& captures) {
  if (out.empty() || captures.size() < 2) return;
  std::vector<std::string> names;
  names.reserve(captures.size());
  for (const std::string& capture : captures) names.push_back(fs::path(capture).filename());
  std::ranges::sort(names);
  const auto twice = std::ranges::adjacent_find(names);
  if (twice != names.end()) {
    throw Error("two captures are named " + *twice +
                "; their outputs would be one file: rename one");
  }
  std::error_code error;
  fs::create_directories(out, error);
  if (error) throw Error("create folder " + out + ": " + error.message());
}

/// `number`: of the packet in its capture, from 0.
std::string verdict_line(std::span<const PlanReason> reasons, const Batch& batch,
                         std::uint32_t packet, std::uint64_t number) {
  std::ostringstream out;
  out << number << '\t' << fate_name(static_cast<Verdict>(batch.verdict[packet])) << '\t'
      << reason_text(reasons, batch.reason[packet]) << '\t';
  if (batch.output[packet] == kOutputDefault) {
    out << "default";
  } else {
    out << static_cast<unsigned>(batch.output[packet]);
  }
  out << '\t' << batch.classes[packet] << '\n';
  return out.str();
}

/// Packets and time of each function.
class Stopwatch : public StageListener {
 public:
  explicit Stopwatch(std::vector<TriedFunction>& functions) : functions_(functions) {}
  void ran(std::uint32_t function, Selection selected, std::span<const std::uint32_t>,
           std::uint64_t) noexcept override {
    const auto now = std::chrono::steady_clock::now();
    functions_[function].packets += selected.packets.size();
    functions_[function].time_ns += static_cast<std::uint64_t>(
        std::chrono::nanoseconds(now - std::exchange(began_, now)).count());
  }

 private:
  std::vector<TriedFunction>& functions_;
  std::chrono::steady_clock::time_point began_ = std::chrono::steady_clock::now();
};

/// Packets of one batch came within this time.
constexpr std::uint64_t kBatchTimeNs = 100'000'000;
/// Bytes of one batch: a ring of events has room for the records of them.
constexpr std::uint64_t kBatchBytesMax = 128u << 10;

}  // namespace

std::uint32_t try_room(std::uint32_t mtu) {
  if (mtu > kTryMtuMax) {
    throw Error("--mtu " + std::to_string(mtu) + "; allowed: " + std::to_string(kMtuMin) + ".." +
                std::to_string(kTryMtuMax));
  }
  return std::max(kBufferStrideDefault - kBufferHeadroom, mtu + kTryFramingBytes);
}

BatchArena try_arena(std::uint32_t mtu, std::uint32_t tailroom) {
  return BatchArena(kBatchCapacityDefault, kBufferHeadroom + try_room(mtu) + tailroom);
}

TryRun::TryRun(const TryOptions& options) : options_(options), room_(try_room(options.mtu)) {
  for (const std::string& port : options_.ports) ports_.push_back(parse_try_port(port));
  if (ports_.size() > kPortCountMax) {
    throw Error(std::to_string(ports_.size()) + " ports; at most " + std::to_string(kPortCountMax));
  }
  if (!options_.port_in.empty()) port_in_ = port_number(options_.port_in);
  const std::vector<std::string> types = split(options_.functions);
  check_try_settings(options_.settings, types);
  // Traits and plans are referred to by what is made of them: no moves after this.
  functions_.reserve(types.size());
  std::uint32_t tailroom = 0;
  for (const std::string& type : types) {
    add_function(type);
    tailroom += functions_.back().traits->tailroom;
  }
  arena_ = try_arena(options_.mtu, tailroom);
  make_runner();
  plan_.ports = ports_;
  plan_.reasons = reasons_;
  for (const TriedFunction& tried : functions_) plan_.functions.push_back(tried.plan);
}

std::uint8_t TryRun::port_number(const std::string& name) const {
  std::vector<std::string_view> names;
  for (const PlanPort& port : ports_) names.emplace_back(port.name);
  const auto at = std::ranges::find(names, name);
  if (at == names.end()) throw Error("--in: " + no_such("--port", name, names));
  return static_cast<std::uint8_t>(at - names.begin());
}

void TryRun::add_function(const std::string& type) {
  const FunctionType& row = function_type(type);
  TriedFunction& tried = functions_.emplace_back();
  tried.traits = &row.traits;
  tried.plan.name = tried.plan.type = type;
  tried.plan.settings = try_settings(options_.settings, row.traits);
  tried.plan.class_mask = number_classes(tried.plan.settings, classes_);
  tried.plan.stateful = row.traits.stateful;
  if (row.traits.lane_needs != nullptr) {
    tried.plan.lane_state_bytes =
        row.traits.lane_needs({.settings = tried.plan.settings}).state_bytes;
  }
  row.check(tried.plan);
  if (row.translation != nullptr && !ports_.empty()) {
    path_.translation = row.translation(tried.plan.settings, ports_);
  }
  const FunctionContext context{.function = tried.plan, .ports = ports_, .paths = {&path_, 1}};
  tried.report.counter_count = row.traits.counter_count;
  if (row.build != nullptr) {
    tried.plan.image = folder_.path() + "/" + std::to_string(functions_.size()) + ".img";
    tried.report = build_image(context);
  }
  tried.hits.resize(tried.report.counter_count);
  if (tried.plan.lane_state_bytes != 0) {
    tried.state = Mapping::create_anonymous(tried.plan.lane_state_bytes);
  }
  tried.function = row.make(context);
  number_reasons(reasons_, row.traits.reasons);
  if (reasons_.size() > kDeclaredReasonCountMax) {
    throw Error(std::to_string(reasons_.size()) + " drop reasons of functions; at most " +
                std::to_string(kDeclaredReasonCountMax));
  }
}

/// One stage runs all of them, as one worker would.
void TryRun::make_runner() {
  if (functions_.size() > kStageFunctionCountMax) {
    throw Error(std::to_string(functions_.size()) + " functions; at most " +
                std::to_string(kStageFunctionCountMax));
  }
  std::vector<StageFunction> members;
  for (TriedFunction& tried : functions_) {
    members.push_back({.function = tried.function.get(),
                       .class_mask = tried.plan.class_mask,
                       .regions = tried.traits->regions,
                       .counters = {tried.hits},
                       .number = static_cast<std::uint32_t>(members.size()),
                       .reason_numbers = reason_numbers(reasons_, tried.traits->reasons),
                       .rewrites = tried.traits->rewrites});
  }
  work_clock::stop();
  runner_ = std::make_unique<StageRunner>(members);
}

/// What is written is nothing that is read, and no other thing that is written.
void TryRun::check_outputs() const {
  const std::size_t count = options_.captures.size();
  Places taken;
  for (const std::string& capture : options_.captures) taken.add(capture);
  for (const TriedFunction& tried : functions_) {
    for (const auto& setting : tried.plan.settings) {
      // Settings of every function, as `classes`, are not among those of its type.
      const bool read = std::ranges::any_of(tried.traits->settings, [&](const KnownSetting& known) {
        return known.kind == SettingKind::kInputFile && known.name == setting.first;
      });
      if (read) taken.add(setting.second);
    }
  }
  std::error_code ignored;
  if (!options_.events.empty() && !taken.add(options_.events)) {
    throw Error(options_.events + " is read; name another file to write");
  }
  for (const std::string& place : {options_.out, options_.verdicts}) {
    for (const std::string& capture : options_.captures) {
      const std::string out = place_of(place, capture, count);
      if (out.empty() || fs::is_character_file(out, ignored)) continue;  // /dev/null
      if (taken.add(out)) continue;
      throw Error(out + " is read, or written for something else; name another file to write");
    }
  }
}

void TryRun::run() {
  prepare_folder(options_.out, options_.captures);
  prepare_folder(options_.verdicts, options_.captures);
  check_outputs();
  const auto writes = [](const TriedFunction& tried) { return tried.plan.type == "streams"; };
  if (!options_.events.empty() || std::ranges::any_of(functions_, writes)) {
    events_ = std::make_unique<TryEvents>(options_.events, plan_);
  }
  const std::size_t count = options_.captures.size();
  for (const std::string& capture : options_.captures) {
    run_capture(capture, place_of(options_.out, capture, count),
                place_of(options_.verdicts, capture, count));
  }
  end_flows();
}

void TryRun::run_capture(const std::string& path, const std::string& out,
                         const std::string& verdicts) {
  CaptureReader reader(path);
  std::unique_ptr<CaptureWriter> writer;
  if (!out.empty()) writer = std::make_unique<CaptureWriter>(out);
  std::unique_ptr<RecordFile> lines;
  if (!verdicts.empty()) {
    lines = std::make_unique<RecordFile>(verdicts);
    lines->put("packet\tverdict\treason\toutput\tclasses\n");
  }
  first_number_ = 0;
  CaptureRecord packet;
  while (reader.next(packet) == CaptureStatus::kRecord) {
    const bool late = !times_ns_.empty() && packet.time_ns > times_ns_.front() + kBatchTimeNs;
    if (late) run_batch(writer.get(), lines.get());
    if (began_ns_ == 0) began_ns_ = packet.time_ns;
    // As ingress does: what does not fit is cut, and dropped before any function sees it.
    const bool oversize = packet.bytes.size() > room_;
    const auto bytes = packet.bytes.first(std::min<std::size_t>(packet.bytes.size(), room_));
    const std::uint32_t index = arena_.add(bytes, packet.wire_length);
    if (oversize) {
      arena_.batch().drop(index, Reason::kOversize);
      totals_.oversize_longest =
          std::max(totals_.oversize_longest, static_cast<std::uint32_t>(packet.bytes.size()));
    }
    times_ns_.push_back(packet.time_ns);
    arena_bytes_ += bytes.size();
    if (arena_.full() || arena_bytes_ >= kBatchBytesMax) run_batch(writer.get(), lines.get());
  }
  run_batch(writer.get(), lines.get());
  if (reader.errors() != 0) totals_.broken.push_back(path + " " + reader.trouble().text());
  if (writer != nullptr) writer->finish();
  if (lines != nullptr) lines->flush();
}

/// `time_ns`: of the batch; a capture that goes back in time stands still.
void TryRun::run_stage(const Batch& batch, std::uint64_t time_ns) {
  time_ns_ = std::max(time_ns_, time_ns);
  std::array<LaneState, kStageFunctionCountMax> states;
  for (std::size_t i = 0; i < functions_.size(); ++i) {
    const TriedFunction& tried = functions_[i];
    if (tried.state) states[i].bytes = {tried.state->base(), tried.plan.lane_state_bytes};
  }
  Stopwatch stopwatch(functions_);
  runner_->run(batch, std::span(states).first(functions_.size()),
               {.port_in = port_in_,
                .now_ns = time_ns_ - std::min(began_ns_, time_ns_),
                .events = events_ ? &events_->log() : nullptr},
               &stopwatch);
  if (events_) events_->write(time_ns_);
}

/// Time goes on without a packet, until every connection has ended and is told of.
void TryRun::end_flows() {
  if (!events_) return;
  arena_.clear();
  constexpr std::uint64_t kYearNs = 365ull * 24 * 3600 * 1'000'000'000;
  const std::uint64_t end_ns = time_ns_ + kYearNs;
  std::uint64_t lines = 0;
  do {
    lines = events_->lines();
    run_stage(arena_.batch(), end_ns);
  } while (events_->lines() != lines);
}

void TryRun::run_batch(CaptureWriter* out, RecordFile* verdicts) {
  const Batch batch = arena_.batch();
  if (!times_ns_.empty()) run_stage(batch, times_ns_.front());
  for (std::uint32_t packet = 0; packet < batch.count; ++packet) {
    count(batch, packet);
    if (verdicts != nullptr) {
      verdicts->put(verdict_line(reasons_, batch, packet, first_number_ + packet));
    }
    if (out != nullptr && batch.leaves(packet)) {
      out->write({.bytes = batch.bytes(packet),
                  .wire_length = batch.wire_length(packet),
                  .time_ns = times_ns_[packet]});
    }
  }
  if (verdicts != nullptr) verdicts->flush();
  first_number_ += batch.count;
  arena_.clear();
  arena_bytes_ = 0;
  times_ns_.clear();
}

void TryRun::count(const Batch& batch, std::uint32_t packet) {
  ++totals_.packets;
  const std::uint8_t reason = batch.reason[packet];
  switch (static_cast<Verdict>(batch.verdict[packet])) {
    case Verdict::kPass:
      ++totals_.passed;
      return;
    case Verdict::kDrop:
      ++totals_.dropped.at(reason);
      return;
    case Verdict::kDone:
      ++totals_.done.at(reason);
      return;
    case Verdict::kConsumed:
      ++totals_.consumed.at(reason);
      return;
  }
}

}  // namespace millrace
