// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "services/functions/ids/protocols/transaction.hpp"

namespace millrace {

/// Rules that are looked at whatever a packet of TCP carries, less those with heads that do not fit
/// one direction of a flow in its state, or that ask for what it does not carry. The detector works
/// them out with the first packet that needs them, and anew when the flow is established or
/// recognised. A cache.
class FlowRules {
 public:
  // Numbers of signatures, ascending.
  std::vector<std::uint32_t> heads;    ///< of headers alone, of the packet's protocol
  std::vector<std::uint32_t> packets;  ///< Prefilter::ungated() of packets
  std::vector<std::uint32_t> streams;  ///< of streams

  /// They are of a flow in this state.
  bool is_of(bool is_established, AppProtocol app) const noexcept {
    return is_known_ && is_established_ == is_established && app_ == app;
  }
  void know(bool is_established, AppProtocol app) noexcept {
    is_known_ = true;
    is_established_ = is_established;
    app_ = app;
  }
  bool is_of_packets(std::uint32_t number) const noexcept {
    return std::ranges::binary_search(packets, number) || std::ranges::binary_search(heads, number);
  }
  bool is_of_streams(std::uint32_t number) const noexcept {
    return std::ranges::binary_search(streams, number);
  }

  /// Nothing is known; room is kept.
  void clear() noexcept {
    is_known_ = false;
    heads.clear();
    packets.clear();
    streams.clear();
  }
  /// Bytes of memory beside itself.
  std::size_t held() const noexcept {
    return (heads.capacity() + packets.capacity() + streams.capacity()) * sizeof heads[0];
  }

 private:
  bool is_known_ = false, is_established_ = false;
  AppProtocol app_ = AppProtocol::kUnknown;  ///< what the flow carries
};

}  // namespace millrace
