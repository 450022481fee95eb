// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "services/functions/ids/detect/detector_parts.hpp"
#include "services/functions/ids/detect/packet_tests.hpp"

namespace millrace {

const BufferValue& StreamText::whole() noexcept {
  if (!whole_) {
    whole_ = history_.whole();
    const std::uint64_t new_from = text_.base + text_.seen;
    whole_->seen = static_cast<std::uint32_t>(new_from - std::min(new_from, whole_->base));
    whole_->is_complete = text_.is_complete;
  }
  return *whole_;
}

Look Detector::Parts::look_at_stream_rule(const CompiledRule& rule, const PacketView& packet,
                                          StreamText& stream, const PendingRule* before) noexcept {
  const Signature& signature = *rule.signature;
  const AppFit app = app_fits(signature, packet.app);
  if (app == AppFit::kNo) return {};
  if (app == AppFit::kNotYet) return {.found = Found::kNotYet, .missing = kAwaitsApp};
  if (rule.matchers.empty()) return {.found = Found::kYes};
  BufferValue value = stream.whole();
  const bool awaited_app = before != nullptr && before->missing == kAwaitsApp;
  // What several tests ask for may have come at different times.
  if (awaited_app || rule.matchers.size() > 1) value.seen = 0;
  // The end can be what a rule has waited for: it brings no byte.
  if (before != nullptr && value.is_complete) {
    const std::uint64_t since = std::max(before->since, value.base);
    value.seen = std::min(value.seen, static_cast<std::uint32_t>(since - value.base));
  }
  for (const BufferMatcher& matcher : rule.matchers) {
    const Look look = look_at_value(rule, matcher, value);
    if (look.found != Found::kYes) {
      return rule.matchers.size() == 1 ? look : Look{.found = look.found, .missing = kNoTest};
    }
  }
  return {.found = Found::kYes};
}

void Detector::Parts::wake(const PendingRules& pending, const PacketView& packet,
                           const BufferValue& text) {
  if (pending.empty()) return;
  news.take(text, pending.size());
  for (const PendingRule& rule : pending) {
    if (rule.missing == kAwaitsApp) {
      if (packet.app != AppProtocol::kUnknown) found.push_back(rule.signature);
      continue;
    }
    if (rule.missing == kAwaitsEnd) {
      if (text.is_complete) found.push_back(rule.signature);
      continue;
    }
    if (rule.missing != kNoTest && !text.is_complete) {
      if (!news.has_mark(rule.mark)) continue;
      const ContentMatch* content = rules[rule.signature].content_at(0, rule.missing);
      if (content != nullptr && !news.has_end_of(*content)) continue;
    }
    found.push_back(rule.signature);
  }
}

/// What it waits for; nothing: it does not wait.
std::optional<std::uint16_t> Detector::Parts::awaited(const CompiledRule& rule, const Look& look,
                                                      const StreamText& stream) noexcept {
  if (look.found != Found::kNotYet) return std::nullopt;
  if (look.missing == kAwaitsApp) return kAwaitsApp;
  if (stream.text().is_complete) return std::nullopt;
  if (!rule.is_gated) return rule.minds_end ? std::optional(kAwaitsEnd) : std::nullopt;
  // It is named again when its gate is what is missing.
  if (rule.matchers.size() == 1 && rule.is_gate(0, look.missing)) return std::nullopt;
  return look.missing;
}

void Detector::Parts::settle(std::uint32_t number, const Look& look, StreamText& stream,
                             PendingRules& pending, Matching& matching) noexcept {
  const CompiledRule& rule = rules[number];
  const std::optional<std::uint16_t> missing = awaited(rule, look, stream);
  if (!missing) drop_pending(pending, number);
  if (look.found == Found::kYes) conclude(number, true, kNoTransaction, matching);
  if (!missing) return;
  const bool names_content = *missing != kAwaitsApp && *missing != kAwaitsEnd;
  const ContentMatch* content = names_content ? rule.content_at(0, *missing) : nullptr;
  const PendingRule kept{
      .signature = number,
      .missing = *missing,
      .mark = content == nullptr ? NewBytes::kNoMark : NewBytes::last_mark(*content),
      .since = stream.text().base + stream.text().seen};
  if (!keep_pending(pending, kept)) ++forgotten;
}

void Detector::look_at_stream(const PacketView& packet, const BufferValue& text,
                              StreamHistory& history, PendingRules& pending, RuleMemory& memory,
                              std::vector<MatchedRule>& matched) noexcept {
  Parts& parts = *parts_;
  const bool has_new = text.seen < text.bytes.size();
  if (!has_new && !text.is_complete) return;
  StreamText stream(text, history);
  parts.found.clear();
  parts.wake(pending, packet, text);
  const BufferValue searched = history.text();
  const bool is_searched =
      searched.bytes.data() == text.bytes.data() && searched.bytes.size() == text.bytes.size();
  if (const FoundLiterals* literals = is_searched ? parts.literals_of(&history) : nullptr) {
    parts.prefilter.name(PayloadOf::kStream, *literals, parts.found);
  } else {
    parts.prefilter.search(PayloadOf::kStream, text, parts.found);
  }
  const FlowRules* const rules = parts.rules_of(packet);
  if (has_new) {
    parts.add(rules == nullptr ? parts.prefilter.ungated(PayloadOf::kStream) : rules->streams);
    parts.add(parts.stream_heads);
  }
  parts.sort_found();
  Matching matching{packet, memory, matched};
  for (const std::uint32_t number : parts.found) {
    parts.conclude_late(number, matching);
    const PendingRule* before = find_pending(pending, number);
    const CompiledRule& rule = parts.rules[number];
    const bool fits =
        (rules != nullptr && rules->is_of_streams(number)) || head_fits(*rule.signature, packet);
    const Look look = fits ? parts.look_at_stream_rule(rule, packet, stream, before) : Look{};
    parts.settle(number, look, stream, pending, matching);
  }
}

}  // namespace millrace
