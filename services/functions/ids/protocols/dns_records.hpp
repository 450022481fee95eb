// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

/// What a message of DNS (RFC 1035 4) says, for readers of events.

namespace millrace {

struct DnsQuestion {
  std::string name;
  std::uint16_t type;
};
struct DnsRecord {
  std::string name;
  std::uint16_t type;
  std::uint32_t ttl_s;
  std::string data;  ///< an address, name or text as text; empty: of another type
};
struct DnsContents {
  std::uint16_t id, flags;
  std::vector<DnsQuestion> questions;
  std::vector<DnsRecord> answers;  ///< of TXT one for each of its strings
};

inline constexpr std::size_t kDnsAnswersMax = 64;

/// Of a message with a whole header. What is behind an error is left out. At most kDnsQuestionsMax
/// and kDnsAnswersMax of each. Throws std::bad_alloc.
DnsContents dns_contents(std::span<const std::byte> message);

}  // namespace millrace
