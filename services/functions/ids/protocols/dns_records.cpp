// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#include "services/functions/ids/protocols/dns_records.hpp"

#include <arpa/inet.h>

#include <algorithm>
#include <array>
#include <utility>

#include "services/functions/ids/protocols/dns_message.hpp"
#include "services/functions/ids/protocols/wire_cursor.hpp"
#include "shared/packet/wire_bytes.hpp"

namespace millrace {
namespace {

enum : std::uint16_t { kA = 1, kNs = 2, kCname = 5, kPtr = 12, kMx = 15, kTxt = 16, kAaaa = 28 };
constexpr std::size_t kIpv4Bytes = 4, kIpv6Bytes = 16, kPreferenceBytes = 2;
constexpr std::size_t kFlagsAt = 2, kQuestionsAt = 4, kAnswersAt = 6;

/// Where a record's data lies in its message.
struct Place {
  std::size_t at, bytes;
};

std::string address_text(std::span<const std::byte> bytes) {
  std::array<char, INET6_ADDRSTRLEN> text{};
  const int family = bytes.size() == kIpv4Bytes ? AF_INET : AF_INET6;
  ::inet_ntop(family, bytes.data(), text.data(), text.size());
  return text.data();
}

std::string name_text(std::span<const std::byte> message, std::size_t at) {
  DnsName name = dns_name(message, at);
  return name.is_whole ? std::move(name.text) : std::string();
}

std::string data_text(std::span<const std::byte> message, std::uint16_t type, Place data) {
  switch (type) {
    case kA:
      return data.bytes == kIpv4Bytes ? address_text(message.subspan(data.at, data.bytes)) : "";
    case kAaaa:
      return data.bytes == kIpv6Bytes ? address_text(message.subspan(data.at, data.bytes)) : "";
    case kNs:
    case kCname:
    case kPtr:
      return name_text(message, data.at);
    case kMx:
      return data.bytes > kPreferenceBytes ? name_text(message, data.at + kPreferenceBytes) : "";
    default:
      return {};
  }
}

void put_strings(std::span<const std::byte> data, DnsRecord record, DnsContents& contents) {
  WireCursor cursor(data);
  while (!cursor.is_empty() && contents.answers.size() < kDnsAnswersMax) {
    record.data = std::string(text_of(cursor.take(cursor.u8())));
    contents.answers.push_back(record);
  }
}

/// False: nothing behind it can be read.
bool put_record(std::span<const std::byte> message, std::size_t& at, DnsContents& contents) {
  DnsName name = dns_name(message, at);
  if (!name.is_whole || name.end > message.size()) return false;
  WireCursor cursor(message.subspan(name.end));
  const std::uint16_t type = cursor.u16();
  cursor.u16();  // class
  const std::uint32_t high = cursor.u16();
  const std::uint32_t ttl_s = high << 16 | cursor.u16();
  const std::size_t bytes = cursor.u16();
  if (!cursor.is_whole() || bytes > cursor.size()) return false;
  const Place data{message.size() - cursor.size(), bytes};
  at = data.at + bytes;
  DnsRecord record{.name = std::move(name.text),
                   .type = type,
                   .ttl_s = ttl_s,
                   .data = data_text(message, type, data)};
  if (type == kTxt) {
    put_strings(message.subspan(data.at, bytes), std::move(record), contents);
  } else {
    contents.answers.push_back(std::move(record));
  }
  return true;
}

bool put_question(std::span<const std::byte> message, std::size_t& at, DnsContents& contents) {
  DnsName name = dns_name(message, at);
  if (!name.is_whole || name.end > message.size()) return false;
  WireCursor cursor(message.subspan(name.end));
  const std::uint16_t type = cursor.u16();
  cursor.u16();  // class
  if (!cursor.is_whole()) return false;
  at = message.size() - cursor.size();
  contents.questions.push_back({std::move(name.text), type});
  return true;
}

}  // namespace

DnsContents dns_contents(std::span<const std::byte> message) {
  DnsContents contents{.id = wire_bytes::u16(message, 0),
                       .flags = wire_bytes::u16(message, kFlagsAt),
                       .questions = {},
                       .answers = {}};
  std::size_t at = kDnsHeaderBytes;
  const std::size_t questions = wire_bytes::u16(message, kQuestionsAt);
  for (std::size_t i = 0; i < questions; ++i) {
    if (i == kDnsQuestionsMax || !put_question(message, at, contents)) return contents;
  }
  const std::size_t answers = wire_bytes::u16(message, kAnswersAt);
  for (std::size_t i = 0; i < answers && contents.answers.size() < kDnsAnswersMax; ++i) {
    if (!put_record(message, at, contents)) break;
  }
  return contents;
}

}  // namespace millrace
