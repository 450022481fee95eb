// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <charconv>

#include "orchestration/doctor/doctor.hpp"
#include "shared/base/control_group.hpp"
#include "shared/config/observers.hpp"

namespace millrace {
namespace {

constexpr std::uint32_t kProcessesBeside = 3 + kObserverCount;  ///< supervisor, hub, standby
constexpr std::uint64_t kBytesOfProcess = 16 << 20;             ///< without its tables
constexpr std::uint64_t kThreadsOfProcess = 3;

/// Where versions 1 and 2 of control groups keep a limit, and what is used of it. The key of
/// memory.stat is of what the kernel takes back when it is short of memory; null: none.
struct Controller {
  const char* name;
  const char* limit1;
  const char* usage1;
  const char* cache1;
  const char* limit2;
  const char* usage2;
  const char* cache2;
};
constexpr Controller kMemory{
    "memory",     "memory.limit_in_bytes", "memory.usage_in_bytes", "total_inactive_file",
    "memory.max", "memory.current",        "inactive_file"};
constexpr Controller kPids{"pids",     "pids.max",     "pids.current", nullptr,
                           "pids.max", "pids.current", nullptr};

std::optional<std::uint64_t> number_of(const std::optional<std::string>& text) {
  std::uint64_t number = 0;
  if (!text) return std::nullopt;
  const auto [stop, error] = std::from_chars(text->data(), text->data() + text->size(), number);
  return error == std::errc{} ? std::optional(number) : std::nullopt;  // "max" is none
}

/// Without the cache of files that would be given back.
std::uint64_t used_of(const HostFiles& host, const Controller& of, const ControlGroup& group) {
  const std::string usage = group.folder + "/" + (group.version2 ? of.usage2 : of.usage1);
  const std::uint64_t used = number_of(host.text(usage)).value_or(0);
  const char* cache = group.version2 ? of.cache2 : of.cache1;
  if (cache == nullptr) return used;
  const std::uint64_t cached =
      number_of(host.line(group.folder + "/memory.stat", cache)).value_or(0);
  return used - std::min(cached, used);
}

/// The limit that leaves least.
struct Limit {
  std::string file;
  std::uint64_t limit = 0, left = UINT64_MAX;
};
Limit least_of(const HostFiles& host, const Controller& of) {
  Limit least;
  for_each_control_group(host.at("/"), of.name, [&](const ControlGroup& group) {
    const std::string file = group.folder + "/" + (group.version2 ? of.limit2 : of.limit1);
    const auto limit = number_of(host.text(file));
    if (!limit) return;
    const std::uint64_t used = used_of(host, of, group);
    const std::uint64_t left = *limit - std::min(used, *limit);
    if (left < least.left) least = {file, *limit, left};
  });
  return least;
}

/// Processor time a second that the strictest group allows, in percent of a core; 0: all.
struct Quota {
  std::string file;
  std::uint64_t percent = 0;
};
Quota quota_of(const HostFiles& host) {
  Quota least;
  for_each_control_group(host.at("/"), "cpu", [&](const ControlGroup& group) {
    const std::string file = group.folder + (group.version2 ? "/cpu.max" : "/cpu.cfs_quota_us");
    const std::vector<std::string> words = words_of(host.text(file).value_or(""));
    if (words.empty()) return;
    const auto quota = number_of(words[0]);
    const auto period = group.version2 ? number_of(words.size() > 1 ? words[1] : "")
                                       : number_of(host.text(group.folder + "/cpu.cfs_period_us"));
    if (!quota || !period || *period == 0) return;
    const std::uint64_t percent = *quota * 100 / *period;
    if (least.file.empty() || percent < least.percent) least = {file, percent};
  });
  return least;
}

void examine_limit(const HostFiles& host, const Controller& of, std::uint64_t wanted,
                   std::uint64_t unit, const std::string& words, Finding& finding) {
  const Limit least = least_of(host, of);
  if (least.file.empty() || least.left >= wanted) return;
  finding.health = Health::kProblem;
  finding.found = least.file + " leaves " + std::to_string(least.left / unit) + words + ", " +
                  std::to_string(wanted / unit) + " needed";
  finding.mend = "raise the limit of this cgroup or container by " +
                 std::to_string((wanted - least.left + unit - 1) / unit) + words;
}

}  // namespace

void examine_control_group(const HostFiles& host, const Needs& needs,
                           std::vector<Finding>& findings) {
  const std::uint64_t processes = needs.actors + kProcessesBeside;
  Finding memory{.check = "memory of the cgroup", .found = "enough without tables"};
  examine_limit(host, kMemory, processes * kBytesOfProcess, 1 << 20, " MB", memory);
  findings.push_back(std::move(memory));
  Finding tasks{.check = "processes of the cgroup", .found = "enough"};
  examine_limit(host, kPids, processes * kThreadsOfProcess, 1, " threads", tasks);
  findings.push_back(std::move(tasks));
  Finding time{.check = "processor time of the cgroup", .found = "not limited"};
  if (const Quota quota = quota_of(host); !quota.file.empty()) {
    time.found = quota.file + " allows " + std::to_string(quota.percent) + " % of a core";
    if (needs.actors != 0 && quota.percent < 100ull * (needs.actors + 1)) {
      time.health = Health::kNote;
      time.found += ", " + std::to_string(needs.actors) +
                    " actors move packets: they stand still when it is used up";
      time.mend = "for full speed: " + std::to_string(100ull * (needs.actors + 1)) +
                  " % (a container: --cpus=" + std::to_string(needs.actors + 1) + ")";
    }
  }
  findings.push_back(std::move(time));
}

}  // namespace millrace
