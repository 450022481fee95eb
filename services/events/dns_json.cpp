// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#include "services/events/dns_json.hpp"

#include <algorithm>
#include <array>
#include <cstdio>
#include <map>
#include <string_view>
#include <vector>

#include "services/events/json_line.hpp"
#include "shared/layout/event_text.hpp"

namespace millrace {
namespace {

using json_line::put_array;
using json_line::put_flag;
using json_line::put_key;
using json_line::put_object;
using json_line::put_text;
using json_line::put_value;

constexpr std::uint64_t kVersion = 2;
// Bits of the header's flags (RFC 1035 4.1.1, RFC 2535 6.1).
constexpr std::uint16_t kAnswer = 0x8000, kAuthoritative = 0x0400, kTruncated = 0x0200,
                        kRecursionDesired = 0x0100, kRecursionAvailable = 0x0080, kZero = 0x0040;
constexpr unsigned kOpcodeShift = 11, kOpcodeMask = 0xf, kCodeMask = 0xf;

struct NamedType {
  std::uint16_t type;
  const char* name;
};
// From the registry of the IANA.
constexpr NamedType kTypes[] = {
    {1, "A"},      {2, "NS"},     {5, "CNAME"},  {6, "SOA"},     {10, "NULL"},  {11, "WKS"},
    {12, "PTR"},   {13, "HINFO"}, {14, "MINFO"}, {15, "MX"},     {16, "TXT"},   {17, "RP"},
    {18, "AFSDB"}, {24, "SIG"},   {25, "KEY"},   {28, "AAAA"},   {29, "LOC"},   {33, "SRV"},
    {35, "NAPTR"}, {36, "KX"},    {37, "CERT"},  {39, "DNAME"},  {41, "OPT"},   {43, "DS"},
    {44, "SSHFP"}, {46, "RRSIG"}, {47, "NSEC"},  {48, "DNSKEY"}, {50, "NSEC3"}, {52, "TLSA"},
    {64, "SVCB"},  {65, "HTTPS"}, {99, "SPF"},   {249, "TKEY"},  {250, "TSIG"}, {251, "IXFR"},
    {252, "AXFR"}, {255, "ANY"},  {256, "URI"},  {257, "CAA"}};
constexpr std::array kCodes = {"NOERROR",  "FORMERR", "SERVFAIL", "NXDOMAIN", "NOTIMP", "REFUSED",
                               "YXDOMAIN", "YXRRSET", "NXRRSET",  "NOTAUTH",  "NOTZONE"};
/// Types for which `grouped` has an array of texts.
constexpr std::array<std::string_view, 7> kGrouped = {"A",  "AAAA", "CNAME", "MX",
                                                      "NS", "PTR",  "TXT"};

/// Copies the number that `bytes` begins with, if it is long enough.
template <typename Number>
bool take(std::span<const std::byte>& bytes, Number& number) {
  if (bytes.size() < sizeof number) return false;
  std::ranges::copy(bytes.first(sizeof number),
                    std::as_writable_bytes(std::span(&number, 1)).begin());
  bytes = bytes.subspan(sizeof number);
  return true;
}

std::string_view text_of(std::span<const std::byte> bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

struct Answer {
  std::string_view name, data;
  std::string type;
  std::uint32_t ttl_s;
};

struct Message {
  std::uint16_t id = 0, flags = 0;
  bool has_query = false;
  std::uint16_t query_type = 0;
  std::string_view query;
  std::vector<Answer> answers;
};

void take_answer(std::span<const std::byte> value, Message& message) {
  EventDnsAnswer front{};
  if (!take(value, front)) return;
  const std::size_t name = std::min<std::size_t>(front.name_bytes, value.size());
  message.answers.push_back({.name = text_of(value.first(name)),
                             .data = text_of(value.subspan(name)),
                             .type = dns_type_name(front.type),
                             .ttl_s = front.ttl_s});
}

Message message_of(std::span<const std::byte> text) {
  Message message;
  while (const auto field = next_field(text)) {
    std::span<const std::byte> value = field->value;
    if (field->field == EventField::kDnsHeader && take(value, message.id)) {
      take(value, message.flags);
    } else if (field->field == EventField::kDnsQuery && !message.has_query) {
      message.has_query = take(value, message.query_type);
      message.query = text_of(value);
    } else if (field->field == EventField::kDnsAnswer) {
      take_answer(value, message);
    }
  }
  return message;
}

void put_flags(std::uint16_t flags, std::string& out) {
  struct Bit {
    std::uint16_t bit;
    const char* key;
  };
  static constexpr Bit kBits[] = {
      {kAnswer, "qr"},           {kAuthoritative, "aa"},      {kTruncated, "tc"},
      {kRecursionDesired, "rd"}, {kRecursionAvailable, "ra"}, {kZero, "z"}};
  std::array<char, 8> digits{};
  std::snprintf(digits.data(), digits.size(), "%x", unsigned{flags});
  put_text("flags", digits.data(), out);
  for (const Bit& bit : kBits) {
    if ((flags & bit.bit) != 0) put_flag(bit.key, true, out);
  }
}

void put_query(const Message& message, std::string& out) {
  if (!message.has_query) return;
  put_text("rrname", message.query, out);
  put_text("rrtype", dns_type_name(message.query_type), out);
}

void put_answers(const Message& message, std::string& out) {
  if (message.answers.empty()) return;
  std::map<std::string_view, std::vector<std::string_view>> groups;
  put_key("answers", out);
  char before = '[';
  for (const Answer& answer : message.answers) {
    out += before;
    out += '{';
    before = ',';
    put_text("rrname", answer.name, out);
    put_text("rrtype", answer.type, out);
    put_value("ttl", answer.ttl_s, out);
    if (!answer.data.empty()) put_text("rdata", answer.data, out);
    out += '}';
    if (answer.data.empty() || std::ranges::count(kGrouped, answer.type) == 0) continue;
    groups[answer.type].push_back(answer.data);
  }
  out += ']';
  if (groups.empty()) return;
  put_object("grouped", out, [&] {
    for (const auto& [type, values] : groups) {
      put_key(std::string(type).c_str(), out);
      put_array(values, out);
    }
  });
}

}  // namespace

std::string dns_type_name(std::uint16_t type) {
  const auto* const named = std::ranges::find(kTypes, type, &NamedType::type);
  return named == std::end(kTypes) ? std::to_string(type) : named->name;
}

void put_dns(std::span<const std::byte> text, std::optional<std::uint64_t> transaction,
             std::string& out) {
  const Message message = message_of(text);
  const bool is_answer = (message.flags & kAnswer) != 0;
  put_object("dns", out, [&] {
    put_value("version", kVersion, out);
    put_text("type", is_answer ? "answer" : "query", out);
    put_value("id", message.id, out);
    if (is_answer) put_flags(message.flags, out);
    if (!is_answer && (message.flags & kZero) != 0) put_flag("z", true, out);
    if (!is_answer && transaction) put_value("tx_id", *transaction, out);
    put_value("opcode", message.flags >> kOpcodeShift & kOpcodeMask, out);
    put_query(message, out);
    if (is_answer) {
      const unsigned code = message.flags & kCodeMask;
      put_text("rcode", code < kCodes.size() ? kCodes[code] : std::to_string(code), out);
      put_answers(message, out);
    }
  });
}

}  // namespace millrace
