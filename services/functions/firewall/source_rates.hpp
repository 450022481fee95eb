// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "services/functions/acl/acl_rule.hpp"
#include "services/functions/firewall/firewall_limit.hpp"
#include "shared/packet/ipv6_bytes.hpp"

namespace millrace {

/// Limits of rates for each source, of one worker. A source with a limit that is full again is
/// forgotten when its place is wanted: it would be told the same as a new one.
class SourceRates {
 public:
  /// Room for `sources` at a time, and some more; 64 bytes each. 0: for none. Draws a secret for
  /// hashes; throws where there is no source of random numbers.
  explicit SourceRates(std::uint32_t sources);

  /// One for each limit and source.
  struct Source {
    Ipv6Bytes address{};      ///< of IPv4 in the first four bytes
    std::uint32_t group = 0;  ///< of which limit
    std::uint32_t version = 0;
    friend bool operator==(const Source&, const Source&) = default;
  };
  enum class Taken : std::uint8_t {
    kBelow,   ///< once more within the limit
    kAbove,   ///< not
    kNoRoom,  ///< not known: as many other sources are below a full limit
  };
  /// As FirewallLimit::take(). Nothing allocates.
  Taken take(const Source& source, const AclRule& rule, std::uint64_t now_ns) noexcept;

 private:
  static constexpr std::size_t kPlaces = 8;
  struct Place {
    Source source;
    FirewallLimit limit;
  };
  using Bucket = std::array<Place, kPlaces>;

  std::array<std::uint64_t, 2> secret_;
  std::vector<Bucket> buckets_;
};

}  // namespace millrace
