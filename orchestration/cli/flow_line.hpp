// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "services/functions/flow/flow_tuple.hpp"

/// Connections of a running topology as they were at one moment, for people and as data.

namespace millrace {

struct FlowLine {
  std::string function, path;
  std::uint32_t lane = 0;                           ///< of the path
  std::uint32_t number = 0;                         ///< of the lane's table
  FlowTuple tuple;                                  ///< of the first packet
  FlowTuple answer;                                 ///< of those that answer, as they come in
  std::array<std::uint64_t, 2> packets{}, bytes{};  ///< [0]: as the first packet, [1]: answers
  std::uint64_t started_ms = 0;                     ///< since the topology started
  std::uint64_t lasted_ms = 0;                      ///< from its first packet to its last one
  std::uint64_t now_ms = 0;                         ///< of the look, since the topology started
  std::uint64_t deadline_ms = 0;                    ///< it ends then, unless a packet comes
  std::string_view state;                           ///< of flow_state_names()
  bool is_assured = false;                          ///< no new flow takes its place
  double packets_s = 0, bytes_s = 0;                ///< since the look before; both ways

  std::uint64_t age_ms() const { return now_ms - std::min(now_ms, started_ms); }
  std::uint64_t idle_ms() const { return age_ms() - std::min(age_ms(), lasted_ms); }
  std::uint64_t expires_ms() const { return deadline_ms - std::min(deadline_ms, now_ms); }
  bool is_translated() const { return answer != reversed(tuple); }
};

/// Those that a line can have: `new`, `established` of all protocols, others of TCP.
std::span<const std::string_view> flow_state_names();
/// "TCP", "UDP", "132".
std::string flow_protocol_name(std::uint8_t protocol);

/// What one source has open, or has sent and got.
struct FlowTalker {
  std::string address;
  std::uint64_t flows = 0, packets = 0, bytes = 0;  ///< both ways
  double packets_s = 0, bytes_s = 0;
};
enum class FlowOrder : std::uint8_t { kBytes, kPackets, kRate, kFlows };
/// By source address, the greatest first, at most `count`.
std::vector<FlowTalker> top_talkers(std::span<const FlowLine> lines, FlowOrder by,
                                    std::size_t count);

/// A line each, with a line of names in front; without one where there is nothing.
std::string flows_text(std::span<const FlowLine> lines);
/// "TCP 10.0.0.1:5000 > 192.0.2.9:53", of its first packet.
std::string flow_ends_text(const FlowLine& line);
/// "new    TCP ...", a line.
std::string flow_change_text(std::string_view what, const FlowLine& line);
std::string talkers_text(std::span<const FlowTalker> talkers);
nlohmann::ordered_json flow_json(const FlowLine& line);
nlohmann::ordered_json talker_json(const FlowTalker& talker);

}  // namespace millrace
