// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "services/functions/ids/detect/compiled_rule.hpp"
#include "services/functions/ids/detect/detector.hpp"
#include "services/functions/ids/detect/head_index.hpp"
#include "services/functions/ids/detect/prefilter.hpp"

/// The inside of Detector: candidates, and what is tested of each of them.

namespace millrace {

/// What is read of a stream at a moment.
class StreamText {
 public:
  StreamText(const BufferValue& text, StreamHistory& history) : text_(text), history_(history) {}
  const BufferValue& text() const noexcept { return text_; }
  /// All that is kept; fetched once. What is new of the text is new of it.
  const BufferValue& whole() noexcept;

 private:
  const BufferValue& text_;
  StreamHistory& history_;
  std::optional<BufferValue> whole_;
};

/// Of one packet, while it is looked at.
struct Matching {
  const PacketView& packet;
  RuleMemory& memory;
  std::vector<MatchedRule>& matched;
};

struct Detector::Parts {
  Parts(std::span<const Signature> signatures, std::span<const std::byte> built);

  void add(std::span<const std::uint32_t> rules);
  void sort_found() noexcept;

  /// Null: they are not kept for the packet's flow. The head of each fits the packet.
  const FlowRules* rules_of(const PacketView& packet);
  /// What one search finds in the text of the packet's segment; null: there is none. Good until the
  /// next packet.
  const FoundLiterals* literals_of(StreamHistory* history) noexcept;
  void name_by_payload(PayloadOf kind, const PacketView& packet);

  /// As the matcher does; notes in `given_up` what it did not finish.
  Look look_at_value(const CompiledRule& rule, const BufferMatcher& matcher,
                     const BufferValue& value) noexcept;
  /// Everything of a rule on one packet but its head.
  bool packet_passes(const CompiledRule& rule, const PacketView& packet) noexcept;
  /// Everything of a rule on a stream but its head and its flowbits. `missing`: also kAwaitsApp.
  Look look_at_stream_rule(const CompiledRule& rule, const PacketView& packet, StreamText& stream,
                           const PendingRule* before) noexcept;
  void wake(const PendingRules& pending, const PacketView& packet, const BufferValue& text);
  static std::optional<std::uint16_t> awaited(const CompiledRule& rule, const Look& look,
                                              const StreamText& stream) noexcept;
  void settle(std::uint32_t number, const Look& look, StreamText& stream, PendingRules& pending,
              Matching& matching) noexcept;

  /// Adds rules that new values name; marks nothing as seen.
  void name_by_values(const PacketView& packet, Transaction& transaction, std::uint8_t direction);
  void name_by_body(const PacketView& packet, const BufferPart& part) noexcept;
  /// `found` is sorted, before and behind it.
  void wake(const PacketView& packet, Transaction& transaction, std::uint8_t direction);
  bool is_worth_a_look(WaitingRule& waiting, const PacketView& packet,
                       Transaction& transaction) noexcept;
  bool payload_is_worth_a_look(WaitingRule& waiting, const PacketView& packet) noexcept;
  /// Which buffer does not match, and how; with kYes all of them do.
  struct BufferLook {
    Look look;
    std::uint16_t buffer;
  };
  BufferLook look_at_buffers(const CompiledRule& rule, const PacketView& packet,
                             Transaction& transaction, std::uint8_t direction) noexcept;
  Look look_at_buffer(const CompiledRule& rule, std::size_t buffer, Transaction& transaction,
                      std::uint8_t direction) noexcept;
  Look look_at_payload(const CompiledRule& rule, std::size_t buffer,
                       const PacketView& packet) noexcept;

  /// All else has passed. Asks for flowbits; true: they pass, and the match has taken effect. It is
  /// in `matched` if the rule's detection_filter lets it be.
  bool conclude(std::uint32_t number, bool by_stream, std::uint64_t transaction,
                Matching& matching) noexcept;

  /// Concludes those of `late` in front of rule `end`.
  void conclude_late(std::uint32_t end, Matching& matching) noexcept;

  std::vector<CompiledRule> rules;  ///< by number of the signature
  Prefilter prefilter;
  HeadIndex heads;
  std::vector<std::uint32_t> stream_heads;  ///< rules without buffers that look at streams
  bool wants_streams = false, wants_transactions = false, wants_events = false;
  std::uint32_t carry = 0;
  std::uint64_t forgotten = 0;
  // Of the call in hand.
  Candidates found;
  Candidates late;  ///< of the packet in hand: all but their flowbits has passed; the first is last
  RuleVariables variables;
  MatcherScratch scratch;
  WorkShare* share = nullptr;  ///< of `scratch`; null: it has one of its own
  GivenUp given_up;            ///< since it was asked for
  NewBytes news;
  FoundLiterals literals;      ///< of the segment in hand
  std::uint64_t searches = 0;  ///< of segments, so far
};

/// The same bytes are new in both, and a literal that reaches so far in front of them as `carry`
/// finds the same there.
bool ends_with(const BufferValue& text, const BufferValue& value, std::uint32_t carry) noexcept;

}  // namespace millrace
