// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#include "io-worker/ports/taken.hpp"

#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <fstream>
#include <sstream>
#include <utility>

#include "shared/base/error.hpp"

namespace millrace {
namespace {

/// The last record for the name: the interface may have gone and been taken again.
std::optional<TakenInterface> last_taken(const std::string& run_dir, const std::string& interface) {
  std::optional<TakenInterface> last;
  for (TakenInterface& taken : read_taken(run_dir)) {
    if (taken.interface == interface) last = std::move(taken);
  }
  return last;
}

}  // namespace

std::string taken_path(const std::string& run_dir) { return run_dir + "/interfaces"; }

void append_taken(const std::string& run_dir, const TakenInterface& taken) {
  std::ofstream file(taken_path(run_dir), std::ios::app);
  file << taken.netns << ' ' << taken.index << ' ' << taken.interface << ' ' << taken.own_clsact
       << ' ' << taken.rx_queues << ' ' << taken.offloads.size();
  for (const std::string& name : taken.offloads) file << ' ' << name;
  file << ' ' << taken.alias << '\n' << std::flush;
  if (!file) throw system_error("write " + taken_path(run_dir), errno);
}

std::vector<TakenInterface> read_taken(const std::string& run_dir) {
  std::vector<TakenInterface> all;
  std::ifstream file(taken_path(run_dir));
  for (std::string line; std::getline(file, line);) {
    std::istringstream words(line);
    TakenInterface taken;
    std::size_t count = 0;
    words >> taken.netns >> taken.index >> taken.interface >> taken.own_clsact >> taken.rx_queues >>
        count;
    for (std::string name; count > 0 && words >> name; --count) taken.offloads.push_back(name);
    if (!words) continue;
    words.get();
    std::getline(words, taken.alias);
    all.push_back(std::move(taken));
  }
  return all;
}

std::string network_namespace() {
  struct stat info {};
  return ::stat("/proc/self/ns/net", &info) == 0 ? std::to_string(info.st_ino) : "";
}

std::optional<Link> find_taken(const TakenInterface& taken) {
  if (taken.netns != network_namespace()) return std::nullopt;
  auto link = find_link(taken.index);
  if (!link || !link->alias.starts_with(kTakenAlias)) return std::nullopt;
  return link;
}

bool sees_interfaces_of(const std::string& run_dir) {
  const std::string here = network_namespace();
  return std::ranges::any_of(read_taken(run_dir),
                             [&](const TakenInterface& taken) { return taken.netns == here; });
}

std::optional<std::uint32_t> taken_index(const std::string& run_dir, const std::string& interface) {
  const auto taken = last_taken(run_dir, interface);
  if (!taken || taken->netns != network_namespace()) return std::nullopt;
  return taken->index;
}

bool has_gone(const std::string& run_dir, const std::string& interface) {
  const auto index = taken_index(run_dir, interface);
  return index && !find_link(*index) && !find_link(interface);
}

std::string name_now(const std::string& run_dir, const std::string& interface) {
  const auto taken = last_taken(run_dir, interface);
  if (!taken) return interface;
  if (const auto link = find_taken(*taken)) return link->name;
  return interface;
}

}  // namespace millrace
