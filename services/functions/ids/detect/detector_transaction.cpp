// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "services/functions/ids/detect/detector_parts.hpp"
#include "services/functions/ids/detect/packet_tests.hpp"

namespace millrace {
namespace {

/// As many bytes in front of those that are new as a literal may have there, less one, and these.
std::span<const std::byte> searched_bytes(const BufferValue& value) noexcept {
  return value.bytes.subspan(value.seen - std::min<std::size_t>(value.seen, kGateBytesMax - 1));
}

/// A search of one finds what a search of the other does.
bool is_same(const BufferValue& one, const BufferValue& other) noexcept {
  return one.bytes.size() - one.seen == other.bytes.size() - other.seen &&
         is_equal(searched_bytes(one), searched_bytes(other));
}

/// ends_with() of its value: bytes that were taken from the text need no look.
bool ends_with_part(const BufferValue& text, const BufferPart& part, std::uint32_t carry) noexcept {
  const BufferValue value = part.value();
  const std::size_t fresh = value.bytes.size() - value.seen;
  const std::size_t before = std::min<std::size_t>(value.seen, carry);
  if (fresh + before > text.bytes.size() || fresh > text.bytes.size() - text.seen) return false;
  const auto* const source = reinterpret_cast<const std::byte*>(part.source);
  if (source != text.bytes.last(fresh).data()) return ends_with(text, value, carry);
  return is_equal(text.bytes.last(fresh + before).first(before),
                  value.bytes.first(value.seen).last(before));
}

constexpr bool is_body(RuleBuffer buffer) noexcept {
  return ScanGroup(buffer).place() == ScanGroup(RuleBuffer::kFileData).place();
}

/// Parts of the bodies that have been searched, to find those that hold the same.
class SearchedBodies {
 public:
  bool has(const BufferValue& value, std::size_t place) const noexcept {
    return searched_ != nullptr && place < searched_->size() &&
           is_same((*searched_)[place].value(), value);
  }
  void add(RuleBuffer buffer, const std::vector<BufferPart>& parts) noexcept {
    if (is_body(buffer)) searched_ = &parts;
  }

 private:
  const std::vector<BufferPart>* searched_ = nullptr;
};

}  // namespace

/// Most bodies are what the segment brings, as it is.
void Detector::Parts::name_by_body(const PacketView& packet, const BufferPart& part) noexcept {
  const BufferValue value = part.value();
  if (value.seen >= value.bytes.size()) return;
  const RuleBuffer body = RuleBuffer::kFileData;
  const bool is_text = packet.history != nullptr &&
                       ends_with_part(packet.history->text(), part, prefilter.carry(body));
  if (const FoundLiterals* found_there = is_text ? literals_of(packet.history) : nullptr) {
    prefilter.name(body, *found_there, found);
  } else {
    prefilter.search(body, value, found);
  }
}

void Detector::Parts::name_by_values(const PacketView& packet, Transaction& transaction,
                                     std::uint8_t direction) {
  SearchedBodies bodies;
  transaction.each_news(direction, [&](RuleBuffer buffer) {
    const std::vector<BufferPart>& values = transaction.parts(direction, buffer);
    if (values.empty()) return;
    for (std::size_t place = 0; place < values.size(); ++place) {
      const BufferValue value = values[place].value();
      if (!is_body(buffer)) {
        prefilter.search(buffer, value, found);
      } else if (!bodies.has(value, place)) {
        name_by_body(packet, values[place]);
      }
    }
    bodies.add(buffer, values);
    add(prefilter.ungated(buffer));
    if (direction == 1 && buffer == RuleBuffer::kFileData) {
      add(prefilter.ungated(RuleBuffer::kHttpResponseBody));
    }
  });
}

/// Of a rule that a stream did not match up to `waiting.until`.
bool Detector::Parts::payload_is_worth_a_look(WaitingRule& waiting,
                                              const PacketView& packet) noexcept {
  const ContentMatch* content =
      rules[waiting.signature].content_at(waiting.buffer, waiting.missing);
  if (content == nullptr || packet.history == nullptr) return true;
  const BufferValue text = packet.history->text();
  if (text.bytes.empty()) return true;
  const std::uint64_t end = text.base + text.bytes.size();
  if (waiting.until == end) return false;  // this text was looked at
  if (waiting.until != text.base + text.seen) return true;
  news.take(text, 1);
  if (news.has_end_of(*content)) return true;
  waiting.until = end;
  return false;
}

bool Detector::Parts::is_worth_a_look(WaitingRule& waiting, const PacketView& packet,
                                      Transaction& transaction) noexcept {
  const CompiledRule& rule = rules[waiting.signature];
  const RuleBuffer buffer = rule.signature->buffers[waiting.buffer].buffer;
  if (transaction.is_complete(waiting.direction)) return true;
  if (buffer == RuleBuffer::kPayload) return payload_is_worth_a_look(waiting, packet);
  if (!transaction.has_news(waiting.direction, buffer)) return false;
  const ContentMatch* content = rule.content_at(waiting.buffer, waiting.missing);
  if (content == nullptr) return true;
  return std::ranges::any_of(transaction.parts(waiting.direction, buffer),
                             [&](const BufferPart& part) {
                               if (part.is_complete || part.seen == 0) return true;
                               if (part.seen >= part.bytes.size()) return false;
                               news.take(part.value(), 1);
                               return news.has_end_of(*content);
                             });
}

void Detector::Parts::wake(const PacketView& packet, Transaction& transaction,
                           std::uint8_t direction) {
  std::erase_if(transaction.waiting, [&](WaitingRule& waiting) {
    if (waiting.direction != direction) return false;
    const bool named = std::ranges::binary_search(found, waiting.signature);
    if (!named && !is_worth_a_look(waiting, packet, transaction)) return false;
    found.push_back(waiting.signature);
    std::ranges::inplace_merge(found, found.end() - 1);
    return true;
  });
}

Look Detector::Parts::look_at_payload(const CompiledRule& rule, std::size_t buffer,
                                      const PacketView& packet) noexcept {
  BufferValue value{.bytes = packet.payload};
  if (packet.history != nullptr) value = packet.history->whole();
  value.seen = 0;
  if (value.bytes.empty()) return {.found = Found::kNotYet};
  const Look look = look_at_value(rule, rule.matchers[buffer], value);
  // What follows in the flow may have it, while the transaction lasts.
  return look.found == Found::kNo ? Look{.found = Found::kNotYet} : look;
}

Look Detector::Parts::look_at_buffer(const CompiledRule& rule, std::size_t buffer,
                                     Transaction& transaction, std::uint8_t direction) noexcept {
  const RuleBuffer of = rule.signature->buffers[buffer].buffer;
  const bool is_complete = transaction.is_complete(direction);
  const std::vector<BufferPart>& parts = transaction.parts(direction, of);
  const bool more_may_come = !is_complete && (parts.empty() || traits_of(of).many);
  Look best{.found = more_may_come ? Found::kNotYet : Found::kNo};
  for (const BufferPart& part : parts) {
    BufferValue value = part.value();
    // What the rule asks of other buffers may come later: all that is kept counts.
    value.seen = 0;
    const Look look = look_at_value(rule, rule.matchers[buffer], value);
    if (look.found == Found::kYes) return look;
    if (look.found != Found::kNotYet || is_complete) continue;
    best = parts.size() == 1 && !more_may_come ? look : Look{.found = Found::kNotYet};
  }
  return best;
}

Detector::Parts::BufferLook Detector::Parts::look_at_buffers(const CompiledRule& rule,
                                                             const PacketView& packet,
                                                             Transaction& transaction,
                                                             std::uint8_t direction) noexcept {
  const Signature& signature = *rule.signature;
  if (!head_fits(signature, packet) || !headers_pass(signature.packet, packet)) return {};
  if (app_fits(signature, transaction.protocol()) != AppFit::kYes) return {};
  for (const std::uint16_t buffer : rule.order) {
    const bool of_payload = signature.buffers[buffer].buffer == RuleBuffer::kPayload;
    const Look look = of_payload ? look_at_payload(rule, buffer, packet)
                                 : look_at_buffer(rule, buffer, transaction, direction);
    if (look.found != Found::kYes) return {look, buffer};
  }
  return {{.found = Found::kYes}, 0};
}

void Detector::look_at_transaction(const PacketView& packet, Transaction& transaction,
                                   std::uint8_t direction, RuleMemory& memory,
                                   std::vector<MatchedRule>& matched) noexcept {
  Parts& parts = *parts_;
  const PacketView view = turned_to(packet, direction);
  parts.found.clear();
  parts.name_by_values(view, transaction, direction);
  parts.sort_found();
  parts.wake(view, transaction, direction);
  parts.sort_found();
  Matching matching{view, memory, matched};
  const BufferValue text = view.history == nullptr ? BufferValue{} : view.history->text();
  const std::uint64_t until = text.base + text.bytes.size();
  std::vector<std::uint32_t>& done = transaction.matched[direction];
  for (const std::uint32_t number : parts.found) {
    const auto place = std::ranges::lower_bound(done, number);
    if (place != done.end() && *place == number) continue;
    const auto [look, buffer] =
        parts.look_at_buffers(parts.rules[number], view, transaction, direction);
    if (look.found == Found::kNotYet) {
      transaction.waiting.push_back({number, buffer, look.missing, direction, until});
    } else if (look.found == Found::kYes &&
               parts.conclude(number, true, transaction.number(), matching)) {
      done.insert(place, number);
    }
  }
  transaction.taken(direction);
}

}  // namespace millrace
