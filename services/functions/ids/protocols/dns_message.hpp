// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

/// Messages of DNS (RFC 1035 4), as far as rules look at them.

namespace millrace {

inline constexpr std::size_t kDnsHeaderBytes = 12;
inline constexpr std::size_t kDnsLengthBytes = 2;  ///< in front of a message over TCP

struct DnsHeader {
  std::uint16_t id;
  bool is_answer;
  std::uint8_t opcode;
  std::uint16_t questions;
  bool has_z = false;  ///< the bit that RFC 1035 wants to be 0
  std::uint16_t answers = 0, authorities = 0;
};

/// Nothing: it is cut.
std::optional<DnsHeader> dns_header(std::span<const std::byte> message) noexcept;
/// It may be a message of this direction (0: to the server), and bytes by chance hardly are.
bool is_plausible(const DnsHeader& header, std::uint8_t direction) noexcept;

/// Letters of a name that are kept. RFC 1035 2.3.4 allows 253.
inline constexpr std::size_t kDnsNameBytesMax = 1024;
/// Questions of a message that are looked at. Servers answer those with one.
inline constexpr std::size_t kDnsQuestionsMax = 64;

struct DnsName {
  std::string text;  ///< with dots; longer than kDnsNameBytesMax by a label at most
  std::size_t end;   ///< behind it, where it stands
  bool is_whole;
};
/// The name at `at` of a message. Throws std::bad_alloc.
DnsName dns_name(std::span<const std::byte> message, std::size_t at);

/// Questions, answers and authorities of a message that are walked.
inline constexpr std::size_t kDnsEntriesMax = 256;
/// They are all there, as far as they are walked. `header` is the message's. Throws std::bad_alloc.
bool is_whole_dns(std::span<const std::byte> message, const DnsHeader& header);

/// The names that are asked for, as they were sent, with dots: "www.example.com"; the root is
/// empty. What is behind an error is left out; a name that is longer than kDnsNameBytesMax is cut.
/// Throws std::bad_alloc. `header` is the message's.
std::vector<std::string> dns_questions(std::span<const std::byte> message, const DnsHeader& header);

}  // namespace millrace
