// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#include "orchestration/planner/host.hpp"

#include <algorithm>
#include <charconv>
#include <fstream>
#include <optional>
#include <sstream>
#include <system_error>

#include "shared/base/limits.hpp"

namespace fs = std::filesystem;

namespace millrace {
namespace {

std::string first_line(const fs::path& file) {
  std::ifstream in(file);
  std::string line;
  std::getline(in, line);
  return line;
}

std::optional<int> number_in(const std::string& text) {
  int number = 0;
  const auto [stop, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc{} || stop != text.data() + text.size()) return std::nullopt;
  return number;
}

std::vector<std::string> names_in(const fs::path& folder) {
  std::vector<std::string> names;
  std::error_code error;
  for (fs::directory_iterator at(folder, error), end; !error && at != end; at.increment(error)) {
    names.push_back(at->path().filename());
  }
  std::sort(names.begin(), names.end());
  return names;
}

/// Of a folder of sysfs, or of the one above it (a virtio device lies below its PCI device).
std::optional<int> node_below(const fs::path& device) {
  std::error_code error;
  const fs::path folder = fs::canonical(device, error);
  if (error) return std::nullopt;
  for (const fs::path& at : {folder, folder.parent_path()}) {
    const std::optional<int> node = number_in(first_line(at / "numa_node"));
    if (node) return *node < 0 ? std::nullopt : node;
  }
  return std::nullopt;
}

/// A bond or a VLAN has no device: then that of the first interface below it.
std::optional<int> node_of_interface(const fs::path& interfaces, std::string name) {
  constexpr int kDepthMax = 4;
  for (int depth = 0; depth < kDepthMax; ++depth) {
    std::error_code error;
    const fs::path folder = interfaces / name;
    if (fs::exists(folder / "device", error)) return node_below(folder / "device");
    const std::string lower = "lower_";
    const auto names = names_in(folder);
    const auto below = std::find_if(names.begin(), names.end(),
                                    [&](const std::string& n) { return n.starts_with(lower); });
    if (below == names.end()) return std::nullopt;
    name = below->substr(lower.size());
  }
  return std::nullopt;
}

std::vector<int> allowed_cores(const fs::path& root) {
  std::ifstream in(root / "proc/self/status");
  const std::string key = "Cpus_allowed_list:";
  std::vector<int> allowed;
  for (std::string line; std::getline(in, line);) {
    if (line.starts_with(key)) allowed = numbers_of_list(line.substr(key.size()));
  }
  const std::vector<int> online =
      numbers_of_list(first_line(root / "sys/devices/system/cpu/online"));
  if (online.empty()) return allowed;
  std::vector<int> both;
  std::set_intersection(allowed.begin(), allowed.end(), online.begin(), online.end(),
                        std::back_inserter(both));
  return both;
}

std::vector<HostNode> nodes_of(const fs::path& root, const std::vector<int>& cores) {
  std::vector<HostNode> nodes;
  const fs::path folder = root / "sys/devices/system/node";
  for (const std::string& name : names_in(folder)) {
    if (!name.starts_with("node")) continue;
    const std::optional<int> number = number_in(name.substr(4));
    if (!number || *number < 0) continue;
    HostNode node{.number = *number, .cores = {}};
    const std::vector<int> all = numbers_of_list(first_line(folder / name / "cpulist"));
    std::set_intersection(all.begin(), all.end(), cores.begin(), cores.end(),
                          std::back_inserter(node.cores));
    if (!node.cores.empty()) nodes.push_back(std::move(node));  // else memory alone, or not for us
  }
  std::sort(nodes.begin(), nodes.end(),
            [](const HostNode& a, const HostNode& b) { return a.number < b.number; });
  if (nodes.size() > kNodeCountMax) nodes.resize(kNodeCountMax);
  return nodes;
}

}  // namespace

std::vector<int> numbers_of_list(const std::string& list) {
  std::istringstream parts(list);
  std::vector<int> numbers;
  for (std::string part; std::getline(parts, part, ',');) {
    int first = 0, last = 0;
    char dash = 0;
    std::istringstream range(part);
    if (!(range >> first) || first < 0) continue;
    if (!(range >> dash >> last) || dash != '-') last = first;
    last = std::min(last, static_cast<int>(kCoreCountMax) - 1);
    for (int number = first; number <= last; ++number) numbers.push_back(number);
  }
  std::sort(numbers.begin(), numbers.end());
  numbers.erase(std::unique(numbers.begin(), numbers.end()), numbers.end());
  return numbers;
}

int Host::node_of_core(int core) const {
  for (const HostNode& node : nodes) {
    if (std::binary_search(node.cores.begin(), node.cores.end(), core)) return node.number;
  }
  return -1;
}

int Host::node_of_device(const std::string& name) const {
  const auto at = devices.find(name);
  return at == devices.end() ? -1 : at->second;
}

int Host::node_of_gpu(std::size_t number) const { return number < gpus.size() ? gpus[number] : -1; }

Host this_host(const fs::path& root) {
  Host host{.cores = allowed_cores(root)};
  host.nodes = nodes_of(root, host.cores);
  const fs::path pci = root / "sys/bus/pci/devices";
  for (const std::string& address : names_in(pci)) {
    if (const auto node = node_below(pci / address)) host.devices[address] = *node;
  }
  const fs::path interfaces = root / "sys/class/net";
  for (const std::string& name : names_in(interfaces)) {
    if (const auto node = node_of_interface(interfaces, name)) host.devices[name] = *node;
  }
  for (const std::string& address : names_in(root / "proc/driver/nvidia/gpus")) {
    host.gpus.push_back(host.node_of_device(address));
  }
  return host;
}

}  // namespace millrace
