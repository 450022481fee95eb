// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <unordered_map>
#include <vector>

#include "services/functions/route/ipv6_rib.hpp"
#include "services/functions/route/live/live_journal.hpp"
#include "services/functions/route/live/live_leaves.hpp"

namespace millrace {

/// Writes the routes of one family into a live image, one prefix after the other. It knows which
/// prefixes there are and changes the words that say otherwise. So a writer that died over a change
/// has a successor that knows all prefixes, and calls write_all(). Prefixes of IPv4 lie in the
/// first 32 bits of an Ipv6Address. The default route is no part of it. One thread.
class LiveTable {
 public:
  static constexpr std::uint32_t kRootBits = 24;
  static constexpr std::uint32_t kRoots = 1u << kRootBits;

  /// `table24`: the first level in the image; all borrowed. Finds out what of the leaves is in
  /// use; the rest is free after a grace (LiveLeaves::tend). Nothing is written.
  LiveTable(std::span<std::uint32_t> table24, LiveLeaves& leaves, LiveJournal& journal);

  /// Knows the prefix, and writes nothing. Of length 1 or more; each once.
  void load(const Ipv6Route& route);
  /// Makes the image say what is known. Throws LiveTableFull.
  void write_all();

  /// A prefix that is there, or changes. Returns false when it was so already. Throws
  /// LiveTableFull: then the image has to be given up.
  bool set(const Ipv6Route& route);
  /// A prefix that is there no more. False when it was not. Throws LiveTableFull likewise.
  bool remove(const Ipv6Address& prefix, std::uint8_t length);
  std::size_t size() const { return size_; }

 private:
  using Prefixes = std::unordered_map<std::uint32_t, std::uint32_t>;  ///< first bits -> next hop

  static std::uint32_t root_of(const Ipv6Address& address) {
    return static_cast<std::uint32_t>(address.high >> (64 - kRootBits));
  }
  Prefixes& prefixes(std::uint32_t length) { return short_[length]; }
  std::uint32_t inherited(std::uint32_t root) const;
  std::uint32_t length_around(std::uint32_t root, std::uint32_t length) const;
  void touch(std::uint32_t root, std::uint32_t inherited, const Ipv6Route& changed);
  void put_short(const Ipv6Route& route, std::uint32_t under, std::uint8_t depth,
                 std::uint32_t hop);
  bool set_long(const Ipv6Route& route);
  bool remove_long(const Ipv6Address& prefix, std::uint8_t length);

  std::span<std::uint32_t> table24_;
  LiveLeaves& leaves_;
  LiveJournal& journal_;
  std::size_t size_ = 0;
  std::array<Prefixes, kRootBits + 1> short_;  ///< by length, 1..24
  std::vector<std::uint8_t> depth_;            ///< of the longest of them over each entry
  std::vector<bool> has_long_;                 ///< by entry: it is in long_
  std::unordered_map<std::uint32_t, std::vector<Ipv6Route>> long_;  ///< beyond 24 bits, in order
};

}  // namespace millrace
