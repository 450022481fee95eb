// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>
#include <stdexcept>

#include "services/functions/route/ipv6_rib.hpp"
#include "services/functions/route/live/live_pool.hpp"

namespace millrace {

/// There is no room in a live image for a change: a new image is needed.
struct LiveTableFull : std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// Part of a live table below one of its 2^24 first entries: what the prefixes longer than 24 bits
/// say. Prefixes of IPv4 lie in the first 32 bits of an Ipv6Address.
class LiveLeaves {
 public:
  virtual ~LiveLeaves() = default;
  /// The entry for the prefixes `routes`, in order (Ipv6Rib::in_order), which all have these 24
  /// bits and are longer; `inherited`: next hop of the longest prefix around them. `now` is the
  /// entry as it stands; what lies below it is changed in place where that is possible. Only what
  /// `changed` covers differs from what `now` was made of. Throws LiveTableFull: then `now` still
  /// holds, and it may be that a part has changed already.
  virtual std::uint32_t update(std::uint32_t now, std::span<const Ipv6Route> routes,
                               std::uint32_t inherited, const Ipv6Route& changed) = 0;
  /// Pieces to free, for what update() has let go of, when its result stands in the table.
  virtual void tend(ReaderGrace& grace) = 0;
  /// What there is below `entry` is in use. To be called for all entries, then start().
  virtual void keep(std::uint32_t entry) = 0;
  virtual void start() = 0;
  /// Enough pieces are free for any one change of ordinary size.
  virtual bool has_room() const = 0;
  /// Pieces wait for their grace.
  virtual bool waits() const = 0;
};

}  // namespace millrace
