// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#include "services/functions/ids/protocols/dns_parser.hpp"

#include <algorithm>
#include <array>
#include <limits>
#include <string_view>
#include <vector>

#include "services/functions/ids/protocols/app_events.hpp"
#include "services/functions/ids/protocols/wire_cursor.hpp"
#include "shared/packet/wire_bytes.hpp"

namespace millrace {
namespace {

constexpr std::uint8_t kClient = 0, kServer = 1;
constexpr std::uint64_t kNowhere = std::numeric_limits<std::uint64_t>::max();

/// As Suricata: opcodes are known up to DSO (RFC 8490).
std::vector<std::string_view> events_of(std::span<const std::byte> message,
                                        const DnsHeader& header) {
  constexpr std::uint8_t kOpcodeMax = 6;
  if (!is_whole_dns(message, header)) return {app_events::kDnsMalformed};
  std::vector<std::string_view> events;
  if (header.has_z) events.push_back(app_events::kDnsZFlag);
  if (header.opcode > kOpcodeMax) events.push_back(app_events::kDnsOpcode);
  return events;
}

void give_up(Transaction& transaction, TransactionSink& sink) noexcept {
  transaction.complete(kServer);
  sink.on_news(transaction, kServer);
}

}  // namespace

void DnsExchange::message(std::uint8_t direction, std::span<const std::byte> bytes, Place place,
                          TransactionSink& sink) {
  read_[direction] = place.end;
  const auto header = dns_header(bytes);
  if (!header || header->is_answer != (direction == kServer)) {
    const auto other =
        direction == kServer ? app_events::kDnsNotResponse : app_events::kDnsNotRequest;
    const std::array events = {header ? other : app_events::kDnsMalformed};
    return tell_events(direction, events, sink);
  }
  if (header->is_answer) {
    answer(*header, bytes, place, sink);
  } else {
    ask(*header, bytes, place, sink);
  }
}

void DnsExchange::tell_events(std::uint8_t direction, std::span<const std::string_view> events,
                              TransactionSink& sink) const {
  if (!tells_events_ || events.empty()) return;
  Transaction stray(AppProtocol::kDns, kNoTransaction);
  for (const std::string_view event : events) app_events::put(stray, direction, event);
  stray.complete(direction);
  sink.on_news(stray, direction);
}

void DnsExchange::ask(const DnsHeader& header, std::span<const std::byte> bytes, Place place,
                      TransactionSink& sink) {
  auto transaction = std::make_unique<Transaction>(AppProtocol::kDns, next_);
  for (const std::string& name : dns_questions(bytes, header)) {
    transaction->put(kClient, RuleBuffer::kDnsQuery, name);
  }
  if (tells_events_) {
    for (const auto event : events_of(bytes, header)) {
      app_events::put(*transaction, kClient, event);
    }
  }
  if (keeps_messages_) transaction->messages[kClient] = text_of(bytes);
  transaction->complete(kClient);
  asked_.push_back({.id = header.id,
                    .transaction = std::move(transaction),
                    .begin = place.begin,
                    .answer = kNowhere});
  ++next_;
  sink.on_news(*asked_.back().transaction, kClient);
  if (asked_.size() > waiting_max_) make_room(sink);
}

/// The oldest query is given up, and those up to the last one that is answered: a parser that is
/// made anew does not see an answer whose query is gone.
void DnsExchange::make_room(TransactionSink& sink) noexcept {
  std::size_t gone = 1;
  for (std::size_t i = 0; i < asked_.size(); ++i) {
    if (!asked_[i].transaction) gone = i + 1;
  }
  for (; gone > 0; --gone) {
    if (asked_.front().transaction) give_up(*asked_.front().transaction, sink);
    asked_.pop_front();
  }
}

void DnsExchange::answer(const DnsHeader& header, std::span<const std::byte> bytes, Place place,
                         TransactionSink& sink) {
  const auto query = std::find_if(asked_.begin(), asked_.end(), [&](const Query& asked) {
    return asked.id == header.id && asked.transaction != nullptr;
  });
  const auto events = tells_events_ ? events_of(bytes, header) : std::vector<std::string_view>();
  if (query == asked_.end()) return tell_events(kServer, events, sink);
  for (const auto event : events) app_events::put(*query->transaction, kServer, event);
  if (keeps_messages_) query->transaction->messages[kServer] = text_of(bytes);
  give_up(*query->transaction, sink);
  query->transaction.reset();
  query->answer = place.begin;
  pop_answered();
}

/// The oldest queries are through when no answer to a later one stands in front of their answers:
/// a parser that is made anew reads that one again, and all behind it.
void DnsExchange::pop_answered() noexcept {
  std::size_t through = 0;
  std::uint64_t last = 0;
  for (std::size_t i = 0; i < asked_.size() && !asked_[i].transaction; ++i) {
    last = std::max(last, asked_[i].answer);
    if (last <= first_answer(i + 1)) through = i + 1;
  }
  for (; through > 0; --through) asked_.pop_front();
}

std::uint64_t DnsExchange::first_answer(std::size_t from) const noexcept {
  std::uint64_t first = kNowhere;
  for (std::size_t i = from; i < asked_.size(); ++i) first = std::min(first, asked_[i].answer);
  return first;
}

void DnsExchange::end(TransactionSink& sink) noexcept {
  for (const Query& query : asked_) {
    if (query.transaction) give_up(*query.transaction, sink);
  }
  asked_.clear();
}

std::size_t DnsExchange::held() const noexcept {
  std::size_t bytes = sizeof *this;
  for (const Query& query : asked_) {
    bytes += sizeof query + (query.transaction ? query.transaction->held() : 0);
  }
  return bytes;
}

std::uint64_t DnsExchange::settled(std::uint8_t direction) const noexcept {
  if (asked_.empty()) return read_[direction];
  if (direction == kClient) return asked_.front().begin;
  return std::min(read_[kServer], first_answer(0));
}

void DnsParser::read(std::uint8_t direction, std::span<const std::byte> bytes,
                     TransactionSink& sink) {
  Side& side = sides_[direction];
  while (!bytes.empty() && !side.is_broken) {
    std::size_t wanted = kDnsLengthBytes;
    if (side.pending.size() >= kDnsLengthBytes) {
      wanted += wire_bytes::u16(std::as_bytes(std::span{side.pending}), 0);
    }
    const std::size_t taken = std::min(wanted - side.pending.size(), bytes.size());
    side.pending.append(reinterpret_cast<const char*>(bytes.data()), taken);
    bytes = bytes.subspan(taken);
    if (side.pending.size() < kDnsLengthBytes) continue;
    const auto message = std::as_bytes(std::span{side.pending});
    const std::size_t whole = kDnsLengthBytes + wire_bytes::u16(message, 0);
    side.is_broken = whole > message_bytes_max_ + kDnsLengthBytes;
    if (message.size() < whole || side.is_broken) continue;
    exchange_.message(direction, message.subspan(kDnsLengthBytes),
                      {.begin = side.begin, .end = side.begin + whole}, sink);
    side.begin += whole;
    side.pending.clear();
  }
}

void DnsParser::end(std::uint8_t direction, TransactionSink& sink) {
  if (direction == kServer) exchange_.end(sink);
}

}  // namespace millrace
