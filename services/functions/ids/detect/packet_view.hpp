// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "services/functions/flow/flow_tuple.hpp"
#include "services/functions/ids/detect/buffer_value.hpp"
#include "services/functions/ids/detect/flow_rules.hpp"
#include "services/functions/ids/protocols/transaction.hpp"
#include "shared/base/packet.hpp"

namespace millrace {

/// The bytes of a stream that are kept. Asked for only where a rule has begun to match.
class StreamHistory {
 public:
  virtual ~StreamHistory() = default;
  /// The text, with all bytes before it that are kept. Good until the next packet.
  virtual BufferValue whole() noexcept = 0;
  /// The text, with the bytes before it that are carried; costs nothing. Empty: it is not told.
  virtual BufferValue text() noexcept { return {}; }

  /// The new bytes of text() hold no payload_literals() of TCP.
  bool is_clean = false;
  std::uint64_t search = 0;  ///< the detector's: number of its search of text(); 0: none so far
};

/// The packet that is looked at, or that brings what is looked at. Borrowed.
struct PacketView {
  std::span<const std::byte> frame;
  const PacketHeaders& headers;
  FlowTuple tuple;             ///< as this packet has it
  std::uint8_t direction = 0;  ///< 0: to the server
  bool has_flow = false;       ///< of a flow that is tracked and not invalid
  bool is_established = false;
  bool is_unread = false;  ///< its data are of no stream that is read: a SYN's, say
  AppProtocol app = AppProtocol::kUnknown;  ///< what its flow carries, this packet read
  bool is_recognised = false;  ///< `app` is known by its data, or they are its direction's first
  std::span<const std::byte> payload;  ///< rule_payload()
  /// It holds no payload_literals() of the packet's protocol, which is TCP or UDP.
  bool is_clean = false;
  /// Of the stream that the packet belongs to, where rules ask for payload and for buffers of a
  /// transaction; null: its payload is all there is.
  StreamHistory* history = nullptr;
  /// Of its flow's direction, where the packet is of TCP; null: not kept. They are written.
  FlowRules* rules = nullptr;
};

}  // namespace millrace
