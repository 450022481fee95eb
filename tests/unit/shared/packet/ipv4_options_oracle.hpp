// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

/// What Linux does with route and timestamp options of a datagram that it forwards (described by
/// net/ipv4/ip_options.c), told step by step, for a router that has one address.

namespace millrace::ipv4_options_oracle {

struct Outcome {
  bool problem = false;
  std::size_t pointer = 0;
  bool source_route = false;
  bool changed = false;
};

struct Options {
  std::vector<std::byte>& header;
  std::uint32_t own_address;
  std::uint32_t time_ms;
  Outcome outcome = {};
  bool seen_route = false, seen_record = false, seen_time = false;

  unsigned at(std::size_t offset) const { return std::to_integer<unsigned>(header[offset]); }
  void put(std::size_t offset, std::uint32_t value) {
    for (std::size_t i = 0; i < 4; ++i) {
      header[offset + i] = static_cast<std::byte>(value >> (24 - 8 * i));
    }
  }
  bool problem(std::size_t offset) {
    outcome.problem = true;
    outcome.pointer = offset;
    return false;
  }

  bool source_route(std::size_t o, std::size_t length) {
    if (length < 3) return problem(o + 1);
    if (at(o + 2) < 4) return problem(o + 2);
    if (seen_route) return problem(o);
    return seen_route = outcome.source_route = true;
  }

  bool record_route(std::size_t o, std::size_t length) {
    if (seen_record) return problem(o);
    if (length < 3) return problem(o + 1);
    const unsigned pointer = at(o + 2);
    if (pointer < 4) return problem(o + 2);
    if (pointer <= length) {
      if (pointer + 3 > length) return problem(o + 2);
      put(o + pointer - 1, own_address);
      header[o + 2] = static_cast<std::byte>(pointer + 4);
      outcome.changed = true;
    }
    return seen_record = true;
  }

  bool timestamp(std::size_t o, std::size_t length) {
    if (seen_time) return problem(o);
    if (length < 4) return problem(o + 1);
    const unsigned pointer = at(o + 2), flag = at(o + 3) & 15, overflow = at(o + 3) >> 4;
    if (pointer < 5) return problem(o + 2);
    seen_time = true;
    if (pointer > length) {
      if (flag == 3) return true;
      if (overflow == 15) return problem(o + 3);
      header[o + 3] = static_cast<std::byte>(flag | (overflow + 1) << 4);
      return outcome.changed = true;
    }
    if (pointer + 3 > length) return problem(o + 2);
    if ((flag == 1 || flag == 3) && pointer + 7 > length) return problem(o + 2);
    const std::size_t slot = o + pointer - 1;
    if (flag == 0) put(slot, time_ms);
    if (flag == 1) put(slot, own_address);
    if (flag == 3) {
      const std::uint32_t asked =
          at(slot) << 24 | at(slot + 1) << 16 | at(slot + 2) << 8 | at(slot + 3);
      if (asked != own_address) return true;
    }
    if (flag == 1 || flag == 3) put(slot + 4, time_ms);
    if (flag != 0 && flag != 1 && flag != 3) return true;
    header[o + 2] = static_cast<std::byte>(pointer + (flag == 0 ? 4 : 8));
    return outcome.changed = true;
  }

  bool walk() {
    for (std::size_t o = 20; o < header.size();) {
      const unsigned type = at(o);
      if (type == 0) return true;
      if (type == 1) {
        ++o;
        continue;
      }
      if (header.size() - o < 2) return problem(o);
      const std::size_t length = at(o + 1);
      if (length < 2 || length > header.size() - o) return problem(o);
      if ((type == 131 || type == 137) && !source_route(o, length)) return false;
      if (type == 7 && !record_route(o, length)) return false;
      if (type == 68 && !timestamp(o, length)) return false;
      if (type == 148 && length < 4) return problem(o + 1);
      o += length;
    }
    return true;
  }
};

/// `header` is changed also where that makes no sense: after a problem it is half done.
inline Outcome forward(std::vector<std::byte>& header, std::uint32_t own_address,
                       std::uint32_t time_ms) {
  Options options{header, own_address, time_ms};
  options.walk();
  return options.outcome;
}

}  // namespace millrace::ipv4_options_oracle
