// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "services/functions/ids/detect/buffer_value.hpp"
#include "services/functions/ids/detect/flow_memory.hpp"
#include "services/functions/ids/detect/packet_view.hpp"
#include "services/functions/ids/detect/pending_rules.hpp"
#include "services/functions/ids/protocols/transaction.hpp"
#include "services/functions/ids/rules/signature.hpp"
#include "services/functions/ids/work_budget.hpp"

/// Finds the rules that match: the prefilter names candidates, and each of them is tested exactly.
/// Flowbits are asked for behind all other tests, and set when a rule matches, in the order of the
/// signatures within one call.

namespace millrace {

/// A rule that has matched, and why it may count for the whole flow.
struct MatchedRule {
  std::uint32_t signature;
  bool by_stream;             ///< in a stream or a transaction
  std::uint64_t transaction;  ///< its number; kNoTransaction
  bool by_head = false;       ///< it holds for all of the flow: Signature::looks_at_heads_only()
  /// In its flow, of the data that match: a packet may decide what the other side has sent, as one
  /// does that acknowledges the end of a stream.
  std::uint8_t direction = 0;
  /// `drop` and `pass` are for the flow.
  bool is_of_flow() const noexcept { return by_stream || by_head; }
};

/// Looks at rules that did not come to an end.
struct GivenUp {
  std::uint32_t looks = 0;
  /// The lowest number of a signature with `drop` or `reject`, or that changes flowbits or xbits.
  std::uint32_t first = kNone;
  static constexpr std::uint32_t kNone = UINT32_MAX;
};

/// One a worker. One thread.
class Detector {
 public:
  /// `signatures` in the order in which they are to count (RuleSet::sort); borrowed, as is `built`
  /// (build_prefilter). Throws Error.
  Detector(std::span<const Signature> signatures, std::span<const std::byte> built);
  ~Detector();

  /// What expressions may cost; borrowed. Once, in front of all packets; without it each worker has
  /// one share for all of them.
  void use(WorkShare& share) noexcept;
  /// Looks that were given up for want of units since the last call. Their rules did not match.
  GivenUp take_given_up() noexcept;

  /// Rules that look at single packets: headers, and `packet.payload` but for rules that look at
  /// streams alone; these too without a flow, and of data that are unread. `matched`, here
  /// and below, is of this packet. With a history, rules that ask for flowbits wait for
  /// look_at_stream() and conclude_packet().
  void look_at_packet(const PacketView& packet, RuleMemory& memory,
                      std::vector<MatchedRule>& matched) noexcept;

  /// Rules that look at streams. `text`: what the receiver reads now (behind `seen`), and as many
  /// bytes before it as the prefilter needs (carry()); `base` counts from the first byte of the
  /// stream. Behind look_at_packet(): a rule that this has put into `matched` is not put there
  /// twice.
  void look_at_stream(const PacketView& packet, const BufferValue& text, StreamHistory& history,
                      PendingRules& pending, RuleMemory& memory,
                      std::vector<MatchedRule>& matched) noexcept;

  /// Behind look_at_packet(), and look_at_stream() if it is called: rules of packets that ask for
  /// flowbits and have waited for rules in front of them that look at its stream.
  void conclude_packet(const PacketView& packet, RuleMemory& memory,
                       std::vector<MatchedRule>& matched) noexcept;

  /// Rules that look at transactions, when `direction` of it has something new. Each rule matches
  /// a direction of a transaction once, as in Suricata.
  void look_at_transaction(const PacketView& packet, Transaction& transaction,
                           std::uint8_t direction, RuleMemory& memory,
                           std::vector<MatchedRule>& matched) noexcept;

  /// Some rule asks for what only this needs.
  bool wants_streams() const noexcept;
  bool wants_transactions() const noexcept;
  bool wants_events() const noexcept;  ///< of parsers
  /// Bytes of the longest literal of a stream that is looked for, less one: by the prefilter, or
  /// by a rule that waits.
  std::uint32_t carry() const noexcept;
  /// Rules that waited for more of a stream and were forgotten: kPendingMax.
  std::uint64_t forgotten() const noexcept;

 private:
  struct Parts;
  std::unique_ptr<Parts> parts_;
};

}  // namespace millrace
