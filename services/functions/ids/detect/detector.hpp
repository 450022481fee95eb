// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "services/functions/flow/flow_tuple.hpp"
#include "services/functions/ids/detect/buffer_value.hpp"
#include "services/functions/ids/detect/flow_memory.hpp"
#include "services/functions/ids/protocols/transaction.hpp"
#include "services/functions/ids/rules/signature.hpp"
#include "shared/base/packet.hpp"

/// Finds the rules that match: the prefilter names candidates, and each of them is tested exactly.

namespace millrace {

/// The packet that is looked at, or that brings what is looked at. Borrowed.
struct PacketView {
  std::span<const std::byte> frame;
  const PacketHeaders& headers;
  FlowTuple tuple;             ///< as this packet has it
  std::uint8_t direction = 0;  ///< 0: to the server
  bool has_flow = false;       ///< of a flow that is tracked and not invalid
  bool is_established = false;
  AppProtocol app = AppProtocol::kUnknown;  ///< what its flow carries
  std::span<const std::byte> payload;
};

/// A rule that has matched, and why it may count for the whole flow.
struct MatchedRule {
  std::uint32_t signature;
  bool by_stream;             ///< in a stream or a transaction: `drop` and `pass` are for the flow
  std::uint64_t transaction;  ///< its number; kNoTransaction
};
inline constexpr std::uint64_t kNoTransaction = UINT64_MAX;

/// Rules that have begun to match in a direction of a stream, and wait for more of it. A cache: it
/// is made anew from the bytes that the stream keeps.
struct PendingRule {
  std::uint32_t signature;
  std::uint16_t missing;  ///< Look::missing
  std::uint64_t until;    ///< byte of the stream from which on there is no use in waiting
};
using PendingRules = std::vector<PendingRule>;

/// The bytes of a stream that are kept. Asked for only where a rule has begun to match.
class StreamHistory {
 public:
  virtual ~StreamHistory() = default;
  /// The text, with all bytes before it that are kept. Good until the next packet.
  virtual BufferValue whole() noexcept = 0;
};

/// One a worker. One thread.
class Detector {
 public:
  /// `signatures` in the order in which they are to count (RuleSet::sort); borrowed, as is `built`
  /// (build_prefilter). Throws Error.
  Detector(std::span<const Signature> signatures, std::span<const std::byte> built);
  ~Detector();

  /// Rules that look at single packets: headers, and `packet.payload` but for rules that look at
  /// streams alone.
  void look_at_packet(const PacketView& packet, RuleMemory& memory,
                      std::vector<MatchedRule>& matched) noexcept;

  /// Rules that look at streams. `text`: what the receiver reads now (behind `seen`), and as many
  /// bytes before it as the prefilter needs (carry()); `base` counts from the first byte of the
  /// stream.
  void look_at_stream(const PacketView& packet, const BufferValue& text, StreamHistory& history,
                      PendingRules& pending, RuleMemory& memory,
                      std::vector<MatchedRule>& matched) noexcept;

  /// Rules that look at transactions, when `direction` of it has something new. Each rule matches
  /// a transaction once.
  void look_at_transaction(const PacketView& packet, Transaction& transaction,
                           std::uint8_t direction, RuleMemory& memory,
                           std::vector<MatchedRule>& matched) noexcept;

  /// Some rule asks for what only this needs.
  bool wants_streams() const noexcept;
  bool wants_transactions() const noexcept;
  /// Bytes of the longest literal of a stream that the prefilter looks for, less one.
  std::uint32_t carry() const noexcept;

 private:
  struct Parts;
  std::unique_ptr<Parts> parts_;
};

}  // namespace millrace
