// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <sstream>
#include <string>

#include "services/functions/flow/tcp_track.hpp"
#include "tests/unit/services/functions/flow/tcp_script.hpp"

/// The filter of tests/golden/flow-cases for TCP, made of begin_tcp() and follow_tcp() alone.

namespace millrace::tcp_filter {

using Flow = std::optional<TcpTrack>;

/// Connections begin inside: that of lines with ">", direction 0.
inline bool begins(Flow& flow, std::uint8_t direction, const TcpSegment& segment,
                   const TcpPolicy& policy) {
  const auto track = begin_tcp(segment, policy);
  if (!track || direction != 0) return false;
  flow = track;
  return true;
}

inline bool passes(Flow& flow, const tcp_script::Line& line, const TcpPolicy& policy) {
  const auto segment = parse_tcp_segment(line.bytes);
  if (!segment) return false;
  if (!flow) return begins(flow, line.direction, *segment, policy);
  switch (follow_tcp(*flow, line.direction, *segment, policy)) {
    case TcpStep::kFine:
    case TcpStep::kIgnored:
      return true;
    case TcpStep::kOver:
      flow.reset();
      return true;
    case TcpStep::kInvalid:
      return false;
    case TcpStep::kReopened:
      flow.reset();
      return begins(flow, line.direction, *segment, policy);
  }
  return false;
}

/// The words that say between which ports it is.
inline std::string ports_of(const std::string& text) {
  std::istringstream in(text);
  std::string word, number, ports;
  while (in >> word) {
    if ((word == "port" || word == "peer") && in >> number) ports += word + number;
  }
  return ports;
}

/// The flows of one case, by their ports.
class Filter {
 public:
  /// A line with ">" or "<".
  bool passes(const std::string& text) {
    const bool good_sum = text.find(" badsum") == std::string::npos;
    return good_sum &&
           tcp_filter::passes(flows_[ports_of(text)], tcp_script::read_line(text), policy);
  }

  void forget() { flows_.clear(); }

  TcpPolicy policy;

 private:
  std::map<std::string, Flow> flows_;
};

}  // namespace millrace::tcp_filter
