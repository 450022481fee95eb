// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#include "services/functions/ids/detect/detector.hpp"

#include <algorithm>
#include <iterator>
#include <utility>

#include "services/functions/ids/detect/detector_parts.hpp"
#include "services/functions/ids/detect/packet_tests.hpp"
#include "services/functions/ids/detect/rule_effects.hpp"
#include "services/functions/ids/rules/regex_literal.hpp"
#include "shared/base/ip_protocol.hpp"

namespace millrace {
namespace {

/// Bytes of the longest literal of a stream rule: any of its contents, or what a pcre needs, may be
/// the one that waits.
std::size_t longest_literal(const Signature& signature) {
  std::size_t longest = 0;
  for (const BufferTests& tests : signature.buffers) {
    for (const Match& test : tests.tests) {
      const auto* content = std::get_if<ContentMatch>(&test);
      if (content != nullptr) longest = std::max(longest, content->bytes.size());
      const auto* pcre = std::get_if<PcreMatch>(&test);
      const auto literal = pcre == nullptr ? std::nullopt : required_literal(*pcre);
      if (literal) longest = std::max(longest, literal->bytes.size());
    }
  }
  return std::min(longest, kGateBytesMax);
}

}  // namespace

Detector::Parts::Parts(std::span<const Signature> signatures, std::span<const std::byte> built)
    : prefilter(built, signatures), heads(signatures) {
  rules.reserve(signatures.size());
  std::size_t longest = 1;
  for (std::uint32_t number = 0; number < signatures.size(); ++number) {
    const CompiledRule& rule = rules.emplace_back(signatures[number]);
    const bool streams = rule.routes.takes(PayloadOf::kStream);
    wants_streams |= streams || (rule.routes.transactions && rule.routes.has_payload);
    wants_transactions |= signatures[number].looks_at_transactions();
    wants_events |= std::ranges::any_of(signatures[number].buffers, [](const BufferTests& tests) {
      return tests.buffer == RuleBuffer::kAppEvent;
    });
    // A rule that is looked at with transactions may wait for a content of the stream too.
    if (streams || rule.routes.transactions) {
      longest = std::max(longest, longest_literal(signatures[number]));
    }
    if (streams && !rule.routes.has_payload) stream_heads.push_back(number);
  }
  carry = static_cast<std::uint32_t>(longest) - 1;
  found.reserve(rules.size());
  late.reserve(rules.size());
}

void Detector::Parts::add(std::span<const std::uint32_t> numbers) {
  found.insert(found.end(), numbers.begin(), numbers.end());
}

const FlowRules* Detector::Parts::rules_of(const PacketView& packet) {
  if (packet.rules == nullptr || packet.headers.fragment || !packet.has_flow) return nullptr;
  FlowRules& kept = *packet.rules;
  if (kept.is_of(packet.is_established, packet.app)) return &kept;
  const auto keep = [&](std::span<const std::uint32_t> numbers, std::vector<std::uint32_t>& to) {
    std::ranges::copy_if(numbers, std::back_inserter(to), [&](std::uint32_t number) {
      const Signature& signature = *rules[number].signature;
      return head_fits(signature, packet) && app_fits(signature, packet.app) != AppFit::kNo;
    });
  };
  kept.clear();
  keep(heads.of_protocol(packet), kept.heads);
  keep(prefilter.ungated(PayloadOf::kTcpPacket), kept.packets);
  keep(prefilter.ungated(PayloadOf::kStream), kept.streams);
  kept.know(packet.is_established, packet.app);
  return &kept;
}

bool ends_with(const BufferValue& text, const BufferValue& value, std::uint32_t carry) noexcept {
  const std::size_t fresh = value.bytes.size() - value.seen;
  const std::size_t bytes = fresh + std::min(value.seen, carry);
  return fresh <= text.bytes.size() - text.seen && bytes <= text.bytes.size() &&
         is_equal(text.bytes.last(bytes), value.bytes.last(bytes));
}

const FoundLiterals* Detector::Parts::literals_of(StreamHistory* history) noexcept {
  if (history == nullptr) return nullptr;
  if (history->search != 0 && history->search == searches) return &literals;
  const BufferValue text = history->text();
  if (text.bytes.empty()) return nullptr;
  prefilter.search_segment(text, literals, history->is_clean);
  history->search = ++searches;
  return &literals;
}

/// A segment that lets its receiver read itself alone is searched with the stream.
void Detector::Parts::name_by_payload(PayloadOf kind, const PacketView& packet) {
  const BufferValue payload{.bytes = packet.payload};
  const bool is_text = kind == PayloadOf::kTcpPacket && packet.history != nullptr &&
                       ends_with(packet.history->text(), payload, 0);
  if (const FoundLiterals* found_there = is_text ? literals_of(packet.history) : nullptr) {
    prefilter.name(kind, *found_there, found);
  } else if (!packet.is_clean) {
    prefilter.search(kind, payload, found);
  }
  const FlowRules* kept = kind == PayloadOf::kTcpPacket ? rules_of(packet) : nullptr;
  add(kept == nullptr ? prefilter.ungated(kind) : kept->packets);
}

void Detector::Parts::sort_found() noexcept {
  std::ranges::sort(found);
  found.erase(std::unique(found.begin(), found.end()), found.end());
}

Look Detector::Parts::look_at_value(const CompiledRule& rule, const BufferMatcher& matcher,
                                    const BufferValue& value) noexcept {
  const Look found = matcher.look(value, variables, scratch);
  const bool has_exceeded = scratch.take_exceeded();
  if (scratch.take_given_up() == 0) return found;
  const Signature& signature = *rule.signature;
  ++given_up.looks;
  if (blocks(signature) || changes_flowbits(signature)) {
    const auto number = static_cast<std::uint32_t>(&rule - rules.data());
    given_up.first = std::min(given_up.first, number);
    if (has_exceeded && share != nullptr) share->exceed();
  }
  return found;
}

bool Detector::Parts::packet_passes(const CompiledRule& rule, const PacketView& packet) noexcept {
  const Signature& signature = *rule.signature;
  if (signature.flow.only_stream) return false;
  if (app_fits(signature, packet.app) != AppFit::kYes) return false;
  if (signature.at_recognition && !packet.is_recognised) return false;
  if (!headers_pass(signature.packet, packet)) return false;
  const BufferValue payload{.bytes = packet.payload};
  return std::ranges::all_of(rule.matchers, [&](const BufferMatcher& matcher) {
    return look_at_value(rule, matcher, payload).found == Found::kYes;
  });
}

bool Detector::Parts::conclude(std::uint32_t number, bool by_stream, std::uint64_t transaction,
                               Matching& matching) noexcept {
  if (transaction == kNoTransaction) {
    const auto before = std::ranges::find_if(matching.matched, [&](const MatchedRule& rule) {
      return rule.signature == number && rule.transaction == kNoTransaction &&
             rule.direction == matching.packet.direction;
    });
    if (before != matching.matched.end()) {
      before->by_stream |= by_stream;
      return true;
    }
  }
  const Signature& signature = *rules[number].signature;
  matching.memory.set_tuple(matching.packet.tuple);
  if (!flowbits_pass(signature, matching.packet.has_flow, matching.memory)) return false;
  if (take_effect(signature, number, matching.memory)) {
    const bool by_head = rules[number].is_of_flow && matching.packet.has_flow;
    matching.matched.push_back(
        {number, by_stream, transaction, by_head, matching.packet.direction});
  }
  return true;
}

Detector::Detector(std::span<const Signature> signatures, std::span<const std::byte> built)
    : parts_(std::make_unique<Parts>(signatures, built)) {}
Detector::~Detector() = default;

void Detector::use(WorkShare& share) noexcept {
  parts_->share = &share;
  parts_->scratch.use(share);
}

GivenUp Detector::take_given_up() noexcept { return std::exchange(parts_->given_up, {}); }

void Detector::look_at_packet(const PacketView& packet, RuleMemory& memory,
                              std::vector<MatchedRule>& matched) noexcept {
  Parts& parts = *parts_;
  parts.found.clear();
  parts.late.clear();
  const FlowRules* const rules = parts.rules_of(packet);
  if (rules != nullptr) {
    parts.add(rules->heads);
    parts.add(parts.heads.of_app(packet));
  } else {
    parts.heads.find(packet, parts.found);
  }
  if (!packet.payload.empty()) {
    const bool is_tcp = packet.headers.protocol == ip_protocol::kTcp;
    parts.name_by_payload(is_tcp ? PayloadOf::kTcpPacket : PayloadOf::kDatagram, packet);
    if (is_tcp && (!packet.has_flow || packet.is_unread)) {
      parts.name_by_payload(PayloadOf::kStream, packet);
    }
  }
  parts.sort_found();
  Matching matching{packet, memory, matched};
  for (const std::uint32_t number : parts.found) {
    const CompiledRule& rule = parts.rules[number];
    const bool fits =
        (rules != nullptr && rules->is_of_packets(number)) || head_fits(*rule.signature, packet);
    if (!fits || !parts.packet_passes(rule, packet)) continue;
    if (packet.history != nullptr && asks_for_flowbits(*rule.signature)) {
      parts.late.push_back(number);
    } else {
      parts.conclude(number, false, kNoTransaction, matching);
    }
  }
  std::ranges::reverse(parts.late);
}

void Detector::Parts::conclude_late(std::uint32_t end, Matching& matching) noexcept {
  while (!late.empty() && late.back() < end) {
    const std::uint32_t number = late.back();
    late.pop_back();
    conclude(number, false, kNoTransaction, matching);
  }
}

void Detector::conclude_packet(const PacketView& packet, RuleMemory& memory,
                               std::vector<MatchedRule>& matched) noexcept {
  Matching matching{packet, memory, matched};
  parts_->conclude_late(UINT32_MAX, matching);
}

bool Detector::wants_streams() const noexcept { return parts_->wants_streams; }
bool Detector::wants_transactions() const noexcept { return parts_->wants_transactions; }
bool Detector::wants_events() const noexcept { return parts_->wants_events; }
std::uint32_t Detector::carry() const noexcept { return parts_->carry; }
std::uint64_t Detector::forgotten() const noexcept { return parts_->forgotten; }

}  // namespace millrace
