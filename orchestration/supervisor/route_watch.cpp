// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#include "orchestration/supervisor/route_watch.hpp"

#include <linux/netlink.h>
#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <utility>

#include "io-worker/ports/rtnetlink.hpp"
#include "services/functions/image_file.hpp"
#include "services/functions/route/route_image.hpp"
#include "shared/base/error.hpp"
#include "shared/config/plan_settings.hpp"

namespace millrace {
namespace {

constexpr std::chrono::seconds kTryAgain{1};
constexpr std::chrono::milliseconds kLook{100};
constexpr int kReadsMax = 10'000;  // more than a socket holds

/// One that is not there is not: it is being built.
bool is_live(const PlanFunction& function) {
  try {
    return read_image_header(function.image).live != 0;
  } catch (const Error&) {
    return false;
  }
}

}  // namespace

RouteWatch::RouteWatch(const Plan& plan) : plan_(plan) {}

std::vector<std::string> RouteWatch::followers(bool in_place) const {
  std::vector<std::string> names;
  for (const PlanFunction& function : plan_.functions) {
    if (function.gone || !follows_kernel(function)) continue;
    if (is_live(function) == in_place) names.push_back(function.name);
  }
  return names;
}

/// True when there was one. What comes while a build is due waits in the socket, or is lost: then
/// the socket says so.
bool RouteWatch::read_changes() {
  alignas(nlmsghdr) std::array<std::byte, 8192> unread;  // a message that is longer is cut
  bool any = false;
  for (int i = 0; i < kReadsMax; ++i) {
    const ssize_t got = ::recv(changes_.get(), unread.data(), unread.size(), 0);
    if (got < 0 && errno != ENOBUFS) break;
    any = true;
  }
  return any;
}

std::vector<std::string> RouteWatch::changed(Clock::time_point now) {
  std::vector<std::string> names = followers(false);
  if (names.empty()) {
    changes_ = UniqueFd();
    changed_ = false;
    return names;
  }
  const bool first = !changes_;
  if (first) changes_ = route_changes();
  if (!changes_) throw system_error("listen to the kernel's routes", errno);
  if (!changed_ && (first || read_changes())) {
    changed_ = true;
    changed_at_ = now;
  }
  if (!changed_ || now < changed_at_ + kGather || now < next_) return {};
  read_changes();  // those until now will be in the tables
  changed_ = false;
  return names;
}

/// Those that are changed in place and have no room for a change.
std::vector<std::string> RouteWatch::full(Clock::time_point now) {
  if (now < look_ || now < next_) return {};
  look_ = now + kLook;
  std::vector<std::string> names = followers(true);
  std::erase_if(names, [&](const std::string& name) {
    const auto at = std::ranges::find(plan_.functions, name, &PlanFunction::name);
    const auto live = read_route_live(at->image);
    return !live || live->wants_rebuild == 0;
  });
  return names;
}

std::vector<std::string> RouteWatch::due(Clock::time_point now) {
  std::vector<std::string> names = changed(now);
  for (std::string& name : full(now)) names.push_back(std::move(name));
  if (!names.empty()) began_ = now;
  return names;
}

void RouteWatch::done(Clock::time_point now, bool again) {
  next_ = now + std::max<Clock::duration>(kPause, now - began_);
  if (!again) return;
  next_ = now + kTryAgain;
  changed_at_ = now;
  changed_ = true;
}

}  // namespace millrace
