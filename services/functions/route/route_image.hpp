// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>

#include "services/functions/image_file.hpp"
#include "services/functions/route/ipv6_trie.hpp"
#include "services/functions/route/own_filter.hpp"
#include "services/functions/route/route_hop.hpp"
#include "services/functions/route/route_reason.hpp"
#include "shared/base/fnv.hpp"
#include "shared/base/limits.hpp"

/// The image of a route table: DIR-24-8 (Gupta, Lin, McKeown: Routing Lookups in Hardware at Memory
/// Access Speeds, 1998) with 32-bit entries. The first 24 bits of an address choose an entry: a
/// next hop, or, with kBlockFlag, a block of 256 entries of which the last 8 bits choose one.
///
///     ImageHeader | RouteHeader | RouteLive | filters of own addresses, of IPv4 and of IPv6
///       | own addresses | port names | next hops | members of groups | journal | table 24 | blocks
///       | IPv6: table 24 | nodes | runs | own addresses | fixed routes
///
/// What is of IPv6 (ipv6_trie.hpp) is there when the table has an IPv6 route.
///
/// Entry 0 is next hop 0, which is what prefix 0.0.0.0/0 says: pages of the table that only the
/// default route covers are never written and take no memory.
///
/// A live image has room for next hops, members, blocks, nodes and runs that come while it is in
/// use; RouteHeader counts that room too. A next hop's number means the same for as long as the
/// image is there. What an entry leads to is complete before the entry is changed, by one store, so
/// a reader finds the old or the new route.

namespace millrace {

inline constexpr std::uint32_t kBlockFlag = 1u
                                            << 31;  ///< in an entry: the rest is a block's number
inline constexpr std::uint32_t kTable24Entries = 1u << 24;
inline constexpr std::uint32_t kBlockEntries = 256;
inline constexpr std::uint32_t kBlockCountMax = 1u << 21;    ///< 2 GB
inline constexpr std::uint32_t kPrefixCountMax = 4'000'000;  ///< of one table
inline constexpr std::uint32_t kOwnAddressMax = 256;         ///< of all ports together
inline constexpr std::uint32_t kPortNameBytes = 64;

/// Next hops that stand in every image, kHopDefaultIpv6 among them; those of the table file follow.
inline constexpr std::uint32_t kHopDefault = 0;    ///< of 0.0.0.0/0; drop no_route without one
inline constexpr std::uint32_t kHopOwn = 1;        ///< an address of this router
inline constexpr std::uint32_t kHopBroadcast = 2;  ///< the broadcast address of a network of ours
inline constexpr std::uint32_t kHopNowhere = 3;    ///< a prefix with `drop`
inline constexpr std::uint32_t kHopFirst = 5;
static_assert(kHopDefaultIpv6 == 4);
inline constexpr std::uint32_t kHopCountMax = 65'534;  ///< different ones that a file can name
inline constexpr std::uint32_t kMemberCountMax = kHopCountMax * kRouteMembersMax;

struct RouteHeader {
  std::uint32_t own_count;
  std::uint32_t port_count;
  std::uint32_t hop_count;
  std::uint32_t block_count;
  std::uint64_t own_at;  ///< offsets are bytes from the start of the file
  std::uint64_t ports_at;
  std::uint64_t hops_at;
  std::uint64_t table24_at;  ///< on a page
  std::uint64_t blocks_at;   ///< on a page
  std::uint32_t ipv6_own_count;
  std::uint32_t ipv6_node_count;
  std::uint32_t ipv6_run_count;   ///< 0: there is no IPv6 part, and nothing of it set here
  std::uint32_t padding;          ///< 0
  std::uint64_t ipv6_table24_at;  ///< on a page
  std::uint64_t ipv6_nodes_at;    ///< on a page
  std::uint64_t ipv6_runs_at;
  std::uint64_t ipv6_own_at;
  std::uint32_t member_count;
  /// Runs from here on lie in chunks of kBlockEntries, one for a node each. Not in a live image:
  /// ipv6_run_count.
  std::uint32_t ipv6_first_chunk;
  std::uint64_t members_at;
  std::uint64_t fixed_at;
  std::uint32_t fixed_count;    ///< of a live image: routes that the kernel does not say
  std::uint32_t journal_count;  ///< of a live image that devices copy: a power of two; 0: none does
  std::uint64_t journal_at;
};
static_assert(sizeof(RouteHeader) == 144 && alignof(RouteHeader) == 8);
static_assert(offsetof(RouteHeader, own_count) == 0 && offsetof(RouteHeader, port_count) == 4);
static_assert(offsetof(RouteHeader, hop_count) == 8 && offsetof(RouteHeader, block_count) == 12);
static_assert(offsetof(RouteHeader, own_at) == 16 && offsetof(RouteHeader, ports_at) == 24);
static_assert(offsetof(RouteHeader, hops_at) == 32 && offsetof(RouteHeader, table24_at) == 40);
static_assert(offsetof(RouteHeader, blocks_at) == 48);
static_assert(offsetof(RouteHeader, ipv6_own_count) == 56);
static_assert(offsetof(RouteHeader, ipv6_node_count) == 60);
static_assert(offsetof(RouteHeader, ipv6_run_count) == 64);
static_assert(offsetof(RouteHeader, padding) == 68);
static_assert(offsetof(RouteHeader, ipv6_table24_at) == 72);
static_assert(offsetof(RouteHeader, ipv6_nodes_at) == 80);
static_assert(offsetof(RouteHeader, ipv6_runs_at) == 88);
static_assert(offsetof(RouteHeader, ipv6_own_at) == 96);
static_assert(offsetof(RouteHeader, member_count) == 104);
static_assert(offsetof(RouteHeader, ipv6_first_chunk) == 108);
static_assert(offsetof(RouteHeader, members_at) == 112);
static_assert(offsetof(RouteHeader, fixed_at) == 120 && offsetof(RouteHeader, fixed_count) == 128);
static_assert(offsetof(RouteHeader, journal_count) == 132);
static_assert(offsetof(RouteHeader, journal_at) == 136);

/// Which route a prefix has where several things say one: the first of these.
enum class RouteLayer : std::uint8_t {
  kOwn = 0,        ///< an address of the router, or of a network's broadcast
  kFile = 1,       ///< a line of a table file
  kKernel = 2,     ///< never of a FixedRoute
  kConnected = 3,  ///< the network of a port's address
};

/// A route of a live image that the kernel does not say.
struct FixedRoute {
  Ipv6Address prefix;  ///< of IPv4 its 32 bits first; bits behind `length` are zero
  std::uint32_t hop;
  std::uint8_t length;
  std::uint8_t is_ipv6;  ///< 0 or 1
  RouteLayer layer;
  std::uint8_t padding;  ///< 0
};
static_assert(sizeof(FixedRoute) == 24);
static_assert(offsetof(FixedRoute, hop) == 16 && offsetof(FixedRoute, length) == 20);
static_assert(offsetof(FixedRoute, is_ipv6) == 21 && offsetof(FixedRoute, layer) == 22);

/// What its writer says of a live image; zeros in others. Each word is stored whole.
struct alignas(64) RouteLive {
  std::uint32_t default_hop;       ///< number of that of 0.0.0.0/0; kHopDefault: as it stands there
  std::uint32_t ipv6_default_hop;  ///< of ::/0 likewise; 0: kHopDefaultIpv6, as it stands there
  std::uint32_t hops_used;         ///< of RouteHeader::hop_count: those that mean something
  std::uint32_t wants_rebuild;     ///< 1: there is no room for what came: a new image is wanted
  std::uint64_t route_count;       ///< prefixes, of both families
  std::uint64_t change_count;      ///< notifications of the kernel that were applied
  std::uint64_t dump_count;        ///< times that all of the kernel's routes were read
  std::uint64_t lost_count;        ///< times that the kernel had no room for a notification
  std::uint64_t spare[2];
  // A line of their own, as workers look at the other one for each batch.
  std::uint64_t journal_end;   ///< records that were ever written: number n at n % journal_count
  std::uint64_t writer_count;  ///< writers that there were: one that died may have noted too little
  std::uint64_t spare_too[6];
};
static_assert(sizeof(RouteLive) == 128);
static_assert(offsetof(RouteLive, default_hop) == 0 && offsetof(RouteLive, ipv6_default_hop) == 4);
static_assert(offsetof(RouteLive, hops_used) == 8);
static_assert(offsetof(RouteLive, wants_rebuild) == 12 && offsetof(RouteLive, route_count) == 16);
static_assert(offsetof(RouteLive, change_count) == 24 && offsetof(RouteLive, dump_count) == 32);
static_assert(offsetof(RouteLive, lost_count) == 40);
static_assert(offsetof(RouteLive, journal_end) == 64 && offsetof(RouteLive, writer_count) == 72);
inline constexpr std::uint64_t kRouteLiveAt = 256;
static_assert(kRouteLiveAt >= sizeof(ImageHeader) + sizeof(RouteHeader));
/// The two filters, on lines of their own.
inline constexpr std::uint64_t kOwnFiltersAt = kRouteLiveAt + sizeof(RouteLive);
static_assert(kOwnFiltersAt % alignof(OwnFilter) == 0);

/// A change of one word behind the journal, or of none: a grace.
struct LiveRecord {
  std::uint32_t place;  ///< in words from the start of the image, with kRecordLeads; kRecordGrace
  std::uint32_t value;
};
static_assert(sizeof(LiveRecord) == 8);
/// The word leads to a piece: what was noted before has to be there first.
inline constexpr std::uint32_t kRecordLeads = 1u << 31;
/// Pieces that the table had let go of before are written anew from here on.
inline constexpr std::uint32_t kRecordGrace = UINT32_MAX;
inline constexpr std::uint32_t kJournalCountMax = 1u << 24;

inline constexpr ImageKind kRouteImage = {"route",
                                          fnv1a({7,
                                                 sizeof(RouteHeader),
                                                 sizeof(RouteLive),
                                                 sizeof(OwnFilter),
                                                 OwnFilter::hash(1),
                                                 sizeof(FixedRoute),
                                                 sizeof(LiveRecord),
                                                 offsetof(RouteHeader, journal_at),
                                                 sizeof(RouteHop),
                                                 offsetof(RouteHop, port),
                                                 offsetof(RouteHop, kind),
                                                 offsetof(RouteHop, mtu),
                                                 offsetof(RouteHop, gateway),
                                                 offsetof(RouteHop, first_member),
                                                 sizeof(RouteMember),
                                                 offsetof(RouteHeader, members_at),
                                                 offsetof(RouteHeader, own_at),
                                                 offsetof(RouteHeader, table24_at),
                                                 kBlockFlag,
                                                 kHopFirst,
                                                 kPortNameBytes,
                                                 sizeof(Ipv6Node),
                                                 offsetof(Ipv6Node, more),
                                                 offsetof(RouteHeader, ipv6_own_at),
                                                 static_cast<std::uint64_t>(RouteReason::kCount)})};

/// A cheap view of a mapped image; borrowed. IPv4 addresses in host byte order.
struct RouteTable {
  const std::uint32_t* table24 = nullptr;
  const std::uint32_t* blocks = nullptr;
  const OwnFilter* own_filter = nullptr;  ///< of `own`; of a mapped image never null
  std::span<const std::uint32_t> own;
  std::span<const RouteHop> hops;
  std::span<const RouteMember> members;                     ///< of the groups among them
  std::span<const std::array<char, kPortNameBytes>> ports;  ///< ends with a zero
  Ipv6Routes ipv6;
  std::span<const FixedRoute> fixed;
  const RouteLive* live = nullptr;  ///< of a mapped image never null
  std::span<const LiveRecord> journal;

  /// Next hop of `address`. `load` reads a word.
  template <typename Load = PlainLoad>
  constexpr std::uint32_t look_up(std::uint32_t address, const Load& load = {}) const noexcept {
    const std::uint32_t entry = load(table24[address >> 8]);
    if ((entry & kBlockFlag) == 0) [[likely]]
      return entry;
    return load(blocks[(entry & ~kBlockFlag) * kBlockEntries + (address & 255)]);
  }
};

/// What a table that may be live says of its next hops now.
struct HopsNow {
  std::uint32_t used = 0;  ///< of RouteTable::hops
  std::uint32_t default_hop = kHopDefault;
  std::uint32_t ipv6_default_hop = kHopDefaultIpv6;
  friend bool operator==(const HopsNow&, const HopsNow&) = default;

  /// The next hop that `number` of a look-up stands for.
  constexpr std::uint32_t real(std::uint32_t number) const noexcept {
    if (number == kHopDefault) return default_hop;
    return number == kHopDefaultIpv6 ? ipv6_default_hop : number;
  }
};
HopsNow hops_now(const RouteTable& table) noexcept;

/// Checks that the parts of the image lie inside it and that next hops and names are in range; the
/// entries themselves are under the checksum of the file (MappedImage).
/// Throws Error otherwise. `image` must outlive the view.
RouteTable view_route_image(std::span<const std::byte> image);

/// Of the image there, as it is now; nothing when it is not live. Throws Error when none is there.
std::optional<RouteLive> read_route_live(const std::string& path);

/// `header` with the places where the parts of an image lie for its counts; `bytes` receives the
/// size of the whole.
RouteHeader lay_out_route_image(RouteHeader header, std::uint64_t& bytes);

}  // namespace millrace
