// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#include "services/routes/route_service.hpp"

#include <algorithm>
#include <chrono>
#include <thread>
#include <utility>

#include "services/functions/route/live/store_live.hpp"
#include "services/functions/route/route_settings.hpp"
#include "shared/base/clock.hpp"
#include "shared/base/error.hpp"
#include "shared/base/say.hpp"

namespace millrace {
namespace {

constexpr std::uint64_t kMs = 1'000'000;
constexpr std::uint64_t kGatherNs = 20 * kMs;     // links and addresses change in groups
constexpr std::uint64_t kPauseNs = 100 * kMs;     // between two dumps, or as long as the last took
constexpr std::uint64_t kUnknownNs = 1000 * kMs;  // of changes that do not fit what is known
constexpr std::uint64_t kRoomNs = 2000 * kMs;     // the longest wait for a piece of an image
constexpr std::size_t kAliveEach = 1024;          // routes of a dump
constexpr int kIdleMs = 100;

bool follows_in_place(const PlanFunction& function) {
  if (function.gone || function.type != "route" || function.image.empty()) return false;
  return route_settings(function).follows_kernel && read_image_header(function.image).live != 0;
}

}  // namespace

RouteService::RouteService(ReaderGrace& grace, std::string run_dir, std::function<void()> alive)
    : grace_(grace), run_dir_(std::move(run_dir)), alive_(std::move(alive)) {}

void RouteService::use(const Plan& plan) {
  ports_ = plan.ports;
  interfaces_ = host_interfaces(ports_, run_dir_);
  std::vector<Followed> before = std::exchange(followed_, {});
  for (const PlanFunction& function : plan.functions) {
    try {
      if (!follows_in_place(function)) continue;
      const auto same = [&](const Followed& one) {
        return one.function == function.name && one.image == function.image;
      };
      if (const auto at = std::ranges::find_if(before, same); at != before.end()) {
        followed_.push_back(std::move(*at));
        continue;
      }
      followed_.push_back({function.name, function.image,
                           std::make_unique<RouteFollower>(function.image, ports_,
                                                           route_settings(function).answers)});
      ask_for_dump(monotonic_ns());
    } catch (const Error& error) {  // the image was replaced: the plan with the next one comes
      say("millrace-routes", "function " + function.name + ": " + error.what());
    }
  }
}

void RouteService::ask_for_dump(std::uint64_t at_ns) {
  at_ns = std::max(at_ns, next_dump_ns_);
  dump_at_ns_ = dump_at_ns_ == 0 ? at_ns : std::min(dump_at_ns_, at_ns);
}

/// Waits for room in an image. While a reader hangs nothing can be freed: after a wait in vain
/// there is no second one until something is freed.
void RouteService::await_room(RouteFollower& follower) {
  follower.tend(grace_);
  if (follower.has_room()) {
    in_vain_ = false;
    return;
  }
  if (in_vain_) return;
  const std::uint64_t end = monotonic_ns() + kRoomNs;
  while (!follower.has_room() && monotonic_ns() < end) {
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
    alive_();
    follower.tend(grace_);
  }
  in_vain_ = !follower.has_room();
}

/// Notes that an image is full: a new one with more room is built.
void RouteService::note_full() {
  for (const Followed& one : followed_) {
    if (!one.follower->is_full() || one.follower->live().wants_rebuild != 0) continue;
    say("millrace-routes", "function " + one.function + ": " + one.follower->why_full() +
                               "; a new table is asked for");
    store_live(one.follower->live().wants_rebuild, 1);
  }
}

void RouteService::note_lost() {
  for (const Followed& one : followed_) ++one.follower->live().lost_count;
}

/// Reads all routes. Messages from before the dump are dropped: they may be older than what it
/// finds. False: read it again.
bool RouteService::dump() {
  if (events_.discard(alive_)) note_lost();
  interfaces_ = host_interfaces(ports_, run_dir_);
  for (const Followed& one : followed_) one.follower->begin_dump();
  std::size_t count = 0;
  const bool whole = for_each_kernel_route([&](std::span<const std::byte> message) {
    if (++count % kAliveEach == 0) alive_();
    const auto route = parse_kernel_route(message, interfaces_);
    if (!route) return;
    for (const Followed& one : followed_) one.follower->add(*route);
  });
  for (const Followed& one : followed_) {
    await_room(*one.follower);
    alive_();
    one.follower->end_dump();
  }
  note_full();
  return whole;
}

void RouteService::take(std::span<const std::byte> message, std::uint64_t now_ns) {
  const auto route = parse_kernel_route(message, interfaces_);
  if (!route) return;
  for (const Followed& one : followed_) {
    if (!one.follower->has_room()) await_room(*one.follower);
    if (!one.follower->apply(*route)) ask_for_dump(now_ns + kUnknownNs);
  }
}

bool RouteService::turn(std::uint64_t now_ns) {
  if (dump_at_ns_ != 0 && now_ns >= dump_at_ns_) {
    dump_at_ns_ = 0;
    const bool whole = dump();
    const std::uint64_t took = monotonic_ns() - now_ns;
    next_dump_ns_ = monotonic_ns() + std::max(kPauseNs, took);
    if (!whole) ask_for_dump(next_dump_ns_);
  }
  const KernelEvents::Heard heard =
      events_.read([&](std::span<const std::byte> message) { take(message, now_ns); });
  if (heard.lost) {
    note_lost();
    ask_for_dump(now_ns);
  }
  if (heard.disturbed) ask_for_dump(now_ns + kGatherNs);
  for (const Followed& one : followed_) one.follower->tend(grace_);
  note_full();
  return !heard.more;
}

std::vector<RouteFacts> RouteService::facts() const {
  std::vector<RouteFacts> facts;
  for (const Followed& one : followed_) {
    const RouteLive& live = one.follower->live();
    facts.push_back({.function = one.function,
                     .prefixes = live.route_count,
                     .changes = live.change_count,
                     .dumps = live.dump_count,
                     .overruns = live.lost_count});
  }
  return facts;
}

int RouteService::wait_ms(std::uint64_t now_ns) const {
  if (dump_at_ns_ == 0) return kIdleMs;
  const std::uint64_t left = dump_at_ns_ > now_ns ? (dump_at_ns_ - now_ns) / kMs + 1 : 0;
  return static_cast<int>(std::min<std::uint64_t>(left, kIdleMs));
}

}  // namespace millrace
