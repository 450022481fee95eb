// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

/// Messages of DNS by hand.

namespace millrace {

inline std::string dns_u16(std::size_t value) {
  return {static_cast<char>(value >> 8 & 0xff), static_cast<char>(value & 0xff)};
}

/// Length bytes and letters: {"www", "a"}.
inline std::string dns_name(const std::vector<std::string>& labels) {
  std::string name;
  for (const std::string& label : labels) name += static_cast<char>(label.size()) + label;
  return name + '\0';
}

/// With one question for each of `names`, which are as on the wire.
inline std::string dns_message(std::uint16_t id, bool is_answer,
                               const std::vector<std::string>& names) {
  std::string message = dns_u16(id) + dns_u16(is_answer ? 0x8180 : 0x0100) + dns_u16(names.size()) +
                        std::string(6, '\0');
  for (const std::string& name : names) message += name + dns_u16(1) + dns_u16(1);
  return message;
}

inline std::string over_tcp(const std::string& message) {
  return dns_u16(message.size()) + message;
}

}  // namespace millrace
