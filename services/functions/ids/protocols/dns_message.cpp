// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#include "services/functions/ids/protocols/dns_message.hpp"

#include <algorithm>

#include "shared/packet/wire_bytes.hpp"

namespace millrace {
namespace {

constexpr std::uint16_t kPlausibleQuestions = 16;
constexpr std::uint8_t kPointerBits = 0xc0;
constexpr std::size_t kPointersMax = 64;
constexpr std::size_t kTypeAndClass = 4;
constexpr std::size_t kRecordBytes = 10;  // type, class, time to live, length of what follows

}  // namespace

DnsName dns_name(std::span<const std::byte> message, std::size_t at) {
  DnsName name{.text = {}, .end = at, .is_whole = false};
  std::size_t pointers = 0;
  while (at < message.size() && name.text.size() < kDnsNameBytesMax) {
    const std::uint8_t length = wire_bytes::u8(message, at);
    if ((length & kPointerBits) == kPointerBits) {
      if (at + 2 > message.size() || ++pointers > kPointersMax) return name;
      if (pointers == 1) name.end = at + 2;
      at = wire_bytes::u16(message, at) & 0x3fff;
      continue;
    }
    if ((length & kPointerBits) != 0 || at + 1 + length > message.size()) return name;
    const auto label = message.subspan(at + 1, length);
    at += 1 + std::size_t{length};
    if (pointers == 0) name.end = at;
    name.is_whole = length == 0;
    if (name.is_whole) return name;
    if (!name.text.empty()) name.text += '.';
    name.text.append(reinterpret_cast<const char*>(label.data()), label.size());
  }
  return name;
}

std::optional<DnsHeader> dns_header(std::span<const std::byte> message) noexcept {
  if (message.size() < kDnsHeaderBytes) return std::nullopt;
  const std::uint16_t flags = wire_bytes::u16(message, 2);
  return DnsHeader{.id = wire_bytes::u16(message, 0),
                   .is_answer = (flags & 0x8000) != 0,
                   .opcode = static_cast<std::uint8_t>(flags >> 11 & 0xf),
                   .questions = wire_bytes::u16(message, 4),
                   .has_z = (flags & 0x40) != 0,
                   .answers = wire_bytes::u16(message, 6),
                   .authorities = wire_bytes::u16(message, 8)};
}

bool is_plausible(const DnsHeader& header, std::uint8_t direction) noexcept {
  if (header.is_answer != (direction != 0)) return false;
  return header.questions <= kPlausibleQuestions && (header.is_answer || header.questions > 0);
}

bool is_whole_dns(std::span<const std::byte> message, const DnsHeader& header) {
  const std::size_t questions = header.questions;
  const std::size_t entries = questions + header.answers + header.authorities;
  std::size_t at = kDnsHeaderBytes;
  for (std::size_t i = 0; i < std::min(entries, kDnsEntriesMax); ++i) {
    const DnsName name = dns_name(message, at);
    at = name.end + (i < questions ? kTypeAndClass : kRecordBytes);
    if (!name.is_whole || at > message.size()) return false;
    if (i >= questions) at += wire_bytes::u16(message, at - sizeof(std::uint16_t));
    if (at > message.size()) return false;
  }
  return true;
}

std::vector<std::string> dns_questions(std::span<const std::byte> message,
                                       const DnsHeader& header) {
  std::vector<std::string> names;
  std::size_t at = kDnsHeaderBytes;
  for (std::size_t i = std::min<std::size_t>(header.questions, kDnsQuestionsMax); i > 0; --i) {
    DnsName name = dns_name(message, at);
    at = name.end + kTypeAndClass;
    const bool is_cut = name.text.size() >= kDnsNameBytesMax;
    if (is_cut) name.text.resize(kDnsNameBytesMax);
    if (name.is_whole || is_cut) names.push_back(std::move(name.text));
    if (!name.is_whole || at > message.size()) break;
  }
  return names;
}

}  // namespace millrace
