// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

namespace millrace {

/// Rules that are looked at whatever a packet of TCP carries, less those whose heads no packet of
/// one direction of a flow fits: worked out by the detector with the first packet that needs them.
/// A cache.
struct FlowRules {
  bool is_known = false;
  // Numbers of signatures, ascending.
  std::vector<std::uint32_t> heads;    ///< of headers alone, of the packet's protocol
  std::vector<std::uint32_t> packets;  ///< Prefilter::ungated() of packets
  std::vector<std::uint32_t> streams;  ///< of streams

  /// Nothing is known; room is kept.
  void clear() noexcept {
    is_known = false;
    heads.clear();
    packets.clear();
    streams.clear();
  }
};

}  // namespace millrace
