// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <unordered_map>
#include <vector>

#include "services/functions/route/ipv6_address.hpp"

namespace millrace {

/// A prefix and its next hop; bits behind `length` are zero.
struct Ipv6Route {
  Ipv6Address prefix;
  std::uint8_t length = 0;
  std::uint32_t hop = 0;
};

/// The IPv6 prefixes of a table while it is built. One thread.
class Ipv6Rib {
 public:
  /// False when the prefix is there already: then `first_tag` gets the tag of its first insertion.
  bool insert(const Ipv6Route& route, std::uint32_t tag, std::uint32_t& first_tag);
  /// Like insert(), but an existing prefix gets the new hop.
  void replace(const Ipv6Route& route);
  bool empty() const { return routes_.empty(); }
  /// All prefixes by address, shorter ones first: each stands before all that lie in it.
  std::vector<Ipv6Route> in_order() const;

 private:
  struct Key {
    Ipv6Address prefix;
    std::uint8_t length;
    bool operator==(const Key&) const = default;
  };
  struct Hash {
    std::size_t operator()(const Key& key) const noexcept;
  };
  struct Value {
    std::uint32_t hop;
    std::uint32_t tag;
  };
  std::unordered_map<Key, Value, Hash> routes_;
};

}  // namespace millrace
