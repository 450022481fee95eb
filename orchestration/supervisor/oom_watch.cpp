// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#include "orchestration/supervisor/oom_watch.hpp"

#include <fstream>
#include <string_view>
#include <utility>

namespace millrace {
namespace {

constexpr std::chrono::seconds kPause{1};
// From the kernel's count until all of a large process has gone and was reaped.
constexpr std::chrono::seconds kForgotten{10};
// A limit above it is none (version 1 says nearly 2^63).
constexpr std::uint64_t kNoLimit = std::uint64_t{1} << 60;

/// The value behind `oom_kill`; 0: the file does not say.
std::uint64_t kills_in(const std::string& path) {
  std::ifstream file(path);
  std::string key;
  for (std::uint64_t value = 0; file >> key;) {
    if (key == "oom_kill") return file >> value ? value : 0;
  }
  return 0;
}

struct Group {
  std::string name, events, limit;
};

/// Of version 1 when the memory controller is there, else of version 2.
Group own_group(const std::string& root) {
  const std::string mounted = root + "/sys/fs/cgroup";
  std::ifstream file(root + "/proc/self/cgroup");
  Group group;
  for (std::string line; std::getline(file, line);) {
    const std::size_t first = line.find(':'), second = line.find(':', first + 1);
    if (first == line.npos || second == line.npos) continue;
    const std::string controllers = "," + line.substr(first + 1, second - first - 1) + ",";
    std::string name = line.substr(second + 1);
    if (controllers.find(",memory,") != controllers.npos) {
      const std::string folder = mounted + "/memory" + name;
      return {name, folder + "/memory.oom_control", folder + "/memory.limit_in_bytes"};
    }
    if (controllers == ",,") {
      const std::string folder = mounted + name;
      group = {std::move(name), folder + "/memory.events", folder + "/memory.max"};
    }
  }
  return group;
}

}  // namespace

OomWatch::OomWatch(const std::string& root) {
  Group group = own_group(root);
  group_.path = std::move(group.events);
  group_name_ = std::move(group.name);
  limit_path_ = std::move(group.limit);
  host_.path = root + "/proc/vmstat";
  for (Count* count : {&group_, &host_}) count->seen = kills_in(count->path);
}

void OomWatch::read(Count& count, Time now) {
  if (now - count.risen >= kForgotten) count.unexplained = 0;
  const std::uint64_t kills = kills_in(count.path);
  if (kills > count.seen) {
    count.unexplained += kills - count.seen;
    count.risen = now;
  }
  count.seen = kills;
}

void OomWatch::look(Time now) {
  if (now - looked_ < kPause) return;
  looked_ = now;
  read(group_, now);
  read(host_, now);
}

std::optional<std::string> OomWatch::explain(Time now) {
  looked_ = {};
  look(now);
  const bool group = group_.unexplained != 0;
  if (!group && host_.unexplained == 0) return std::nullopt;
  for (Count* count : {&group_, &host_}) count->unexplained -= count->unexplained != 0 ? 1 : 0;
  if (!group) return "out of memory: the kernel ended it (oom_kill of /proc/vmstat has risen)";
  return "out of memory: the kernel ended it, in control group " + group_name_ + limit();
}

std::string OomWatch::limit() const {
  std::uint64_t bytes = 0;
  std::ifstream file(limit_path_);
  if (!(file >> bytes) || bytes >= kNoLimit) return ", which has no limit of its own";
  return ", whose limit is " + std::to_string(bytes >> 20) + " MB (" + limit_path_ + ")";
}

}  // namespace millrace
