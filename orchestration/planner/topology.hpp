// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "orchestration/planner/problem.hpp"
#include "shared/config/known.hpp"
#include "shared/config/plan.hpp"

/// A topology file as plain structs: what it says, with defaults filled in and every name checked,
/// and where it says so. Order is the order of the file. Made by loader.hpp, read by planner.hpp.

namespace millrace {

struct TopologySetting {
  std::string key;
  Marked<std::string> value;  ///< files: absolute
  SettingKind kind = SettingKind::kText;
};

struct TopologyPort {
  Marked<std::string> name;
  Marked<std::string> device;  ///< empty: it was wrong
  std::vector<TopologySetting> settings;
  std::uint32_t mtu = 1500;  ///< bytes of an IP packet, kMtuMin..kMtuMax
  std::uint32_t queues = 1;  ///< receive queues: one stream each
  Marked<std::uint32_t> queues_max{
      .value = 0};  ///< that it can get while it runs: there are streams for all; 0: not said
  std::string mac;  ///< lower case; empty: derived from the port's number
  std::vector<std::string> addresses;
  Marked<std::vector<int>> cores;      ///< of its ingress actors; empty: wherever there is room
  Marked<std::string> host_interface;  ///< of the host behind the port; empty: none
  std::optional<std::size_t> host_of;  ///< the port that it is the host behind; not in the file
};

struct TopologyGroup {
  Marked<std::string> name;
  GroupKind kind = GroupKind::kClassifier;
  std::uint32_t count = 1;
  Marked<std::uint32_t> max{.value = 1};
  Dispatch dispatch = Dispatch::kAny;
  PlanAutoscale autoscale;
  Marked<std::vector<int>> cores;  ///< empty: wherever there is room
  std::vector<TopologySetting> settings;
  std::optional<Marked<std::uint32_t>> offload;  ///< gpu: percent of the batches; 0: auto
  std::optional<Marked<std::uint32_t>> spill;    ///< gpu: batches of one producer
};

struct TopologyFunction {
  Marked<std::string> name;
  Marked<std::string> type;  ///< empty: it was wrong
  std::vector<TopologySetting> settings;
  Marked<std::string> on;                    ///< group
  Marked<std::string> beside;                ///< group that shares the work; empty: none
  std::vector<Marked<std::string>> when;     ///< classes, any of which a packet needs
  std::vector<Marked<std::string>> classes;  ///< that it can set, in the function's own order
  Fallback unavailable = Fallback::kWait;
  Fallback overload = Fallback::kWait;
  std::optional<Marked<std::uint32_t>> share;  ///< batches that may wait for it
};

struct TopologyPath {
  Marked<std::string> name;
  std::vector<Marked<std::string>> from;  ///< ports
  std::vector<Marked<std::string>> run;   ///< functions
  Marked<std::string> match;              ///< filter; empty: takes every packet
  std::vector<std::uint64_t> filter;      ///< it compiled
  std::optional<Marked<std::string>> to;  ///< port; without: the other one of two, or the only one
  Marked<bool> unordered;                 ///< `order: none`
  std::optional<Marked<std::uint32_t>> lanes;
  std::optional<Marked<std::uint32_t>> slots;    ///< a stream
  std::optional<Marked<std::uint32_t>> buffers;  ///< a stream
};

/// `control:`, by TCP. Files: absolute; what is in them has not been looked at.
struct TopologyControl {
  Marked<std::string> listen;                ///< "tcp://ADDRESS:PORT"
  Marked<std::string> key;                   ///< file with our secret key
  std::vector<Marked<std::string>> clients;  ///< files with the public keys of clients
};

/// `ipfix:` of `events:`.
struct TopologyIpfix {
  std::string collector;
  std::uint32_t domain = 1;
};

/// `events:`. Files: absolute.
struct TopologyEvents {
  SourceMark mark;
  Marked<std::string> file;    ///< empty: none
  Marked<std::string> socket;  ///< empty: the run directory's
  std::uint64_t rotate_bytes = 0;
  std::uint32_t keep = 5;
  std::optional<TopologyIpfix> ipfix;
  std::uint32_t stats_s = 0;  ///< 0: none
};

/// What is to be said of a topology that is right.
struct TopologyWarning {
  SourceMark mark;
  std::string text;
};
/// "file:line:column: warning: TEXT"
std::string to_text(const TopologyWarning& warning);

struct Topology {
  SourceMark mark;  ///< the file's begin
  std::string name;
  std::uint32_t batch_capacity = 64;
  std::uint32_t heartbeat_limit_ms = 1000;
  std::uint32_t crash_limit = 5;
  std::uint32_t neighbour_limit = kNeighbourCountDefault;
  std::vector<Marked<std::string>> bypass_bridge;   ///< two ports; empty: no bridge
  std::vector<Marked<std::string>> bypass_command;  ///< words; empty: no command
  std::optional<TopologyControl> control;
  std::optional<TopologyEvents> events;
  std::string telemetry_listen = "127.0.0.1:0";
  bool fused = false;
  Marked<std::uint32_t> egress_count{.value = 1};
  Marked<std::vector<int>> egress_cores;
  std::vector<TopologyPort> ports;
  std::vector<TopologyGroup> groups;
  std::vector<TopologyFunction> functions;
  std::vector<TopologyPath> paths;
  std::vector<TopologyWarning> warnings;
  std::vector<std::string> secrets;  ///< values of settings that came from files: never shown
};

/// Index of the item with this name; items.size() when there is none.
template <typename Item>
std::size_t index_of(const std::vector<Item>& items, const std::string& name) {
  std::size_t i = 0;
  while (i < items.size() && items[i].name.value != name) ++i;
  return i;
}

/// Names of the items, in their order. Views of the items.
template <typename Item>
std::vector<std::string_view> names_of(const std::vector<Item>& items) {
  std::vector<std::string_view> names;
  names.reserve(items.size());
  for (const Item& item : items) names.push_back(item.name.value);
  return names;
}

}  // namespace millrace
