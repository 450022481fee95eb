// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#include "orchestration/cli/watching.hpp"

#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <iostream>
#include <thread>

#include "orchestration/planner/filter.hpp"
#include "orchestration/planner/plan_printer.hpp"
#include "shared/base/error.hpp"
#include "shared/base/nearest.hpp"
#include "shared/base/patience.hpp"

namespace millrace {
namespace {

/// A record is seen that long after its time at the latest, unless its actor lost its core.
constexpr std::uint64_t kMergeDelayNs = 50'000'000;
constexpr std::uint64_t kLookIntervalNs = 200'000'000;
constexpr std::chrono::milliseconds kAttachLimit{2000};

Error unknown(const std::string& what, const std::string& name,
              const std::vector<std::string>& names) {
  const std::vector<std::string_view> views(names.begin(), names.end());
  return Error(no_such(what, name, views));
}

void add_port(const Plan& plan, const std::string& text, std::vector<WatchPlace>& places) {
  const std::size_t colon = text.find(':');
  const std::string name = text.substr(0, colon);
  const std::string way = colon == std::string::npos ? "" : text.substr(colon + 1);
  if (!way.empty() && way != "in" && way != "out") {
    throw Error("'" + text + "' is not PORT, PORT:in or PORT:out");
  }
  std::vector<std::string> names;
  for (const PlanPort& port : plan.ports) names.push_back(port.name);
  const auto at = std::ranges::find(names, name);
  if (at == names.end()) throw unknown("port", name, names);
  const auto number = static_cast<std::uint32_t>(at - names.begin());
  using Kind = WatchPlace::Kind;
  if (way != "out") places.push_back({Kind::kPortIn, number, name + " in"});
  if (way != "in") places.push_back({Kind::kPortOut, number, name + " out"});
}

void add_link(const Plan& plan, const std::string& name, std::vector<WatchPlace>& places) {
  std::vector<std::string> names;
  for (const PlanLink& link : plan.links) names.push_back(link_name(plan, link));
  const auto at = std::ranges::find(names, name);
  if (at == names.end()) throw unknown("link", name, names);
  const auto number = static_cast<std::uint32_t>(at - names.begin());
  places.push_back({WatchPlace::Kind::kLink, number, name});
}

/// What shows the batches of a link: its producer, but for a GPU, which owns nothing that it
/// passes.
std::uint32_t shower_of(const Plan& plan, const PlanLink& link) {
  return plan.actors[link.producer].kind == ActorKind::kGpu ? link.consumer : link.producer;
}

}  // namespace

std::vector<WatchPlace> watch_places(const Plan& plan, const std::vector<std::string>& ports,
                                     const std::vector<std::string>& links, bool dropped) {
  std::vector<WatchPlace> places;
  for (const std::string& port : ports) add_port(plan, port, places);
  for (const std::string& link : links) add_link(plan, link, places);
  if (dropped) places.push_back({WatchPlace::Kind::kDropped, 0, "dropped"});
  if (places.empty()) {
    for (const PlanPort& port : plan.ports) add_port(plan, port.name, places);
  }
  if (places.size() > kWatchPointMax) {
    throw Error(std::to_string(places.size()) + " places to look at; at most " +
                std::to_string(kWatchPointMax) + " at a time");
  }
  return places;
}

std::vector<std::uint64_t> filter_of_option(const std::string& text) {
  if (text.empty()) return {};
  FilterProblem problem;
  auto compiled = compile_filter(text, problem);
  if (compiled) return std::move(compiled->program);
  throw Error("--filter: " + problem.found + " at character " + std::to_string(problem.at + 1) +
              "; allowed: " + problem.allowed +
              (problem.nearest.empty() ? "" : "; did you mean '" + problem.nearest + "'?"));
}

WatchWish wish_of(const Plan& plan, const std::vector<WatchPlace>& places) {
  WatchWish wish;
  wish.actors.resize(plan.actors.size());
  const auto all_of_kind = [&](ActorKind kind) {
    for (std::size_t i = 0; i < plan.actors.size(); ++i) {
      if (plan.actors[i].kind == kind) wish.actors[i] = true;
    }
  };
  for (std::size_t i = 0; i < places.size(); ++i) {
    const auto point = static_cast<std::uint8_t>(i);
    const std::uint32_t number = places[i].number;
    switch (places[i].kind) {
      case WatchPlace::Kind::kPortIn:
        wish.port_in[number] = point;
        for (const PlanStream& stream : plan.streams) {
          if (stream.port == number) wish.actors[stream.ingress] = true;
        }
        break;
      case WatchPlace::Kind::kPortOut:
        wish.port_out[number] = point;
        all_of_kind(ActorKind::kEgress);
        break;
      case WatchPlace::Kind::kLink:
        wish.link[number] = point;
        wish.actors[shower_of(plan, plan.links[number])] = true;
        break;
      case WatchPlace::Kind::kDropped:
        wish.dropped = point;
        all_of_kind(ActorKind::kEgress);
        break;
    }
  }
  return wish;
}

namespace {

unsigned owner_of(const std::string& path) {
  struct stat info {};
  if (::stat(path.c_str(), &info) != 0) throw system_error("stat " + path, errno);
  return info.st_uid;
}

}  // namespace

Watching::Watching(const Observed& observed, const std::string& run_dir, const WatchWish& wish)
    : observed_(observed),
      file_(WatchFile::create(observed.plan.name, wish, owner_of(run_dir))),
      scale_(observed.status.header().tsc_hz),
      clock_(scale_) {
  for (std::uint32_t i = 0; i < file_.header().ring_count; ++i) {
    rings_.push_back({&file_.ring(i), file_.ring_base(i)});
  }
}

std::vector<std::string> Watching::not_attached() const {
  std::vector<std::string> names;
  for (std::uint32_t i = 0; i < observed_.plan.actors.size(); ++i) {
    const std::uint8_t number = file_.header().ring_of[i];
    const ActorEntry& entry = observed_.status.actor(i);
    const auto state = static_cast<ActorState>(entry.state.load(std::memory_order_acquire));
    if (number == kNoRing || state != ActorState::kAlive) continue;
    const std::uint32_t attached = rings_[number].indexes->attached.load(std::memory_order_acquire);
    if (attached != entry.incarnation.load(std::memory_order_relaxed)) {
      names.push_back(observed_.plan.actors[i].name);
    }
  }
  return names;
}

std::vector<std::string> Watching::await_attached(std::chrono::milliseconds limit) const {
  Patience patience(limit);
  for (;;) {
    std::vector<std::string> names = not_attached();
    if (names.empty() || patience.is_over()) return names;
    std::this_thread::sleep_for(kWatchPause);
  }
}

std::vector<std::string> Watching::await_all(const std::string& what) const {
  std::vector<std::string> names = await_attached(kAttachLimit);
  for (const std::string& name : names) {
    std::cerr << "millrace: " << name << " does not answer; its " << what << " are missing\n";
  }
  return names;
}

std::vector<std::string> Watching::still_silent(const std::vector<std::string>& names) const {
  std::vector<std::string> silent;
  for (std::uint32_t i = 0; i < observed_.plan.actors.size(); ++i) {
    const std::string& name = observed_.plan.actors[i].name;
    const std::uint8_t number = file_.header().ring_of[i];
    if (number == kNoRing || std::ranges::find(names, name) == names.end()) continue;
    const std::atomic<std::uint32_t>& attached = rings_[number].indexes->attached;
    if (attached.load(std::memory_order_acquire) == 0) silent.push_back(name);
  }
  return silent;
}

bool Watching::goes_on() {
  const std::uint64_t now_ns = monotonic_ns();
  if (goes_on_ && now_ns - looked_ns_ >= kLookIntervalNs) {
    looked_ns_ = now_ns;
    goes_on_ = anybody_runs(observed_);
  }
  return goes_on_;
}

const WatchRecord* Watching::peek(const Ring& ring) const {
  const std::uint64_t ring_bytes = file_.header().ring_bytes;
  for (;;) {
    const std::uint64_t head = ring.indexes->head.load(std::memory_order_relaxed);
    if (head == ring.indexes->tail.load(std::memory_order_acquire)) return nullptr;
    const std::uint64_t at = head & (ring_bytes - 1);
    const std::uint64_t to_end = ring_bytes - at;
    const auto* record = reinterpret_cast<const WatchRecord*>(ring.base + at);
    // Behind the last record there may not even be room for one that says so.
    if (to_end >= sizeof(WatchRecord) && record->point != kNoPoint) return record;
    ring.indexes->head.store(head + to_end, std::memory_order_release);
  }
}

bool Watching::next(Shown& shown, bool at_once) {
  if (shown_ != nullptr) {
    std::atomic<std::uint64_t>& head = shown_->indexes->head;
    head.store(head.load(std::memory_order_relaxed) + shown_bytes_, std::memory_order_release);
    shown_ = nullptr;
  }
  const WatchRecord* first = nullptr;
  const Ring* from = nullptr;
  for (const Ring& ring : rings_) {
    const WatchRecord* record = peek(ring);
    if (record == nullptr || (first != nullptr && record->time_tsc >= first->time_tsc)) continue;
    first = record;
    from = &ring;
  }
  if (first == nullptr) return false;
  if (rings_.size() > 1 && !at_once &&
      tsc_now() < first->time_tsc + scale_.to_ticks(kMergeDelayNs)) {
    return false;
  }
  clock_.look();
  shown_ = from;
  shown_bytes_ = first->record_bytes;
  shown = {first,
           {reinterpret_cast<const std::byte*>(first + 1), first->length},
           clock_.to_ns(first->time_tsc)};
  return true;
}

std::uint64_t Watching::missed(std::uint32_t point) const {
  std::uint64_t count = 0;
  for (const Ring& ring : rings_) {
    count += ring.indexes->missed[point].load(std::memory_order_relaxed);
  }
  return count;
}

}  // namespace millrace
