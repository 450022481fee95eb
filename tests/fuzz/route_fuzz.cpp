// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
//
// Route against any bytes: the first byte chooses between a line of the table file, a packet,
// messages of rtnetlink, and fragments.

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstring>
#include <map>
#include <span>
#include <string_view>
#include <vector>

#include "services/functions/route/kernel_routes.hpp"
#include "services/functions/route/reassembler.hpp"
#include "services/functions/route/route_compute.hpp"
#include "services/functions/route/route_finish.hpp"
#include "services/functions/route/route_text.hpp"
#include "shared/base/check.hpp"
#include "shared/layout/batch_arena.hpp"

namespace millrace {
namespace {

constexpr std::uint32_t kHop = kHopFirst;  ///< a group of the two behind it
constexpr std::uint32_t kHopCount = kHop + 3;
constexpr std::uint32_t kOwn = 0x0a010001;
constexpr Ipv6Address kOwnIpv6 = {0x20010db8'00000000, 1};
constexpr OwnFilter kOwnFilter = own_filter_of(std::array{kOwn});
constexpr OwnFilter kOwnFilterIpv6 = own_filter_of(std::array{kOwnIpv6});

/// Everything goes to one group of next hops: the table itself has tests of its own.
Ipv6Routes whole_ipv6_world() {
  static const std::vector<std::uint32_t> kTable24(kIpv6Table24Entries, kHop);
  static const Ipv6Node kNode{};
  return {.table24 = kTable24.data(),
          .nodes = &kNode,
          .own = &kOwnIpv6,
          .own_filter = &kOwnFilterIpv6,
          .own_count = 1};
}

RouteTable whole_world() {
  static const std::vector<std::uint32_t> kTable24(kTable24Entries, kHop);
  static const std::array<RouteHop, kHopCount> kHops = [] {
    std::array<RouteHop, kHopCount> hops{};
    hops[kHop].kind = static_cast<std::uint8_t>(RouteHopKind::kGroup);
    hops[kHop].member_count = 2;
    return hops;
  }();
  static const std::array<RouteMember, 2> kMembers = {
      {{.last = UINT32_MAX / 2, .hop = kHop + 1}, {.last = UINT32_MAX, .hop = kHop + 2}}};
  static const std::array<std::uint32_t, 1> kOwnAddresses = {kOwn};
  RouteTable table;
  table.table24 = kTable24.data();
  table.own_filter = &kOwnFilter;
  table.own = kOwnAddresses;
  table.hops = kHops;
  table.members = kMembers;
  table.ipv6 = whole_ipv6_world();
  return table;
}

void check_line(std::string_view line) {
  RouteLine route;
  std::string reason;
  const RouteLineKind kind = parse_route_line(line, route, reason);
  MILLRACE_CHECK((kind == RouteLineKind::kRefused) == !reason.empty());
  if (kind != RouteLineKind::kRoute) return;
  MILLRACE_CHECK(route.hops.size() <= kRouteMembersMax);
  for (const RouteLineHop& hop : route.hops) {
    MILLRACE_CHECK(!hop.port.empty() && hop.weight >= 1 && hop.weight <= kRouteWeightMax);
  }
  if (route.is_ipv6) {
    MILLRACE_CHECK(route.length <= 128);
    MILLRACE_CHECK((route.ipv6_prefix & ipv6_mask(route.length)) == route.ipv6_prefix);
  } else {
    MILLRACE_CHECK(route.length <= 32);
    MILLRACE_CHECK(route.length == 0 || (route.prefix & ~(~0ull << (32 - route.length))) == 0);
  }
  // What was read can be written and read again.
  RouteLine again;
  MILLRACE_CHECK(parse_route_line(prefix_text(route) + " drop", again, reason) ==
                 RouteLineKind::kRoute);
  MILLRACE_CHECK(again.prefix == route.prefix && again.ipv6_prefix == route.ipv6_prefix &&
                 again.length == route.length && again.is_ipv6 == route.is_ipv6);
}

void check_packet(std::span<const std::byte> packet) {
  static const RouteTable kTable = whole_world();
  static BatchArena arena(1);
  static const std::vector<RouteRewrite> kRewrites = [] {
    std::vector<RouteRewrite> rewrites(kHopCount);
    rewrites[kHop].kind = static_cast<std::uint8_t>(RouteHopKind::kGroup);
    return rewrites;
  }();
  // An exact copy, so that a sanitizer sees every byte read behind its end.
  const std::vector<std::byte> frame(packet.begin(), packet.end());
  const auto length = static_cast<std::uint32_t>(frame.size());
  const std::uint32_t checked = route_check(frame, length, kTable);
  arena.clear();
  arena.add(frame);
  const Batch batch = arena.batch();
  const std::uint16_t number = 0;
  route_compute(kTable, batch, {&number, 1}, batch.results(0));
  const std::uint32_t word = batch.results(0)[0];
  MILLRACE_CHECK(word == checked || word == (checked | kHop));
  static constexpr auto kNumbers = [] {
    std::array<std::uint8_t, static_cast<std::size_t>(RouteReason::kCount)> numbers{};
    numbers[static_cast<std::size_t>(RouteReason::kUnavailable)] =
        static_cast<std::uint8_t>(Reason::kUnavailable);
    return numbers;
  }();
  route_finish(kRewrites, {batch, {{&number, 1}}, batch.results(0), {}, {}, {}, {}, kNumbers},
               nullptr, {kTable, 1});
  MILLRACE_CHECK(batch.reason[0] != static_cast<std::uint8_t>(Reason::kUnavailable));
  if (!batch.goes_on(0)) return;
  // A forwarded packet can be forwarded again, with one hop less.
  const std::size_t ttl_at = (checked & kRouteIpv6) != 0 ? 21 : 22;
  MILLRACE_CHECK(std::to_integer<int>(frame[ttl_at]) ==
                 std::to_integer<int>(batch.data(0)[ttl_at]) + 1);
  const std::uint32_t second = route_check(batch.bytes(0), length, kTable);
  MILLRACE_CHECK((second & ~kRouteTtlExpired) == (checked & kRouteIpv6));
}

void check_message(std::span<const std::byte> message) {
  static const HostInterfaces kInterfaces = {{1, "lan"}, {2, "wan"}};
  const std::vector<std::byte> exact(message.begin(), message.end());
  KernelRoutes routes;
  add_kernel_route(exact, kInterfaces, routes);
  for (const RouteLine& line : routes.lines) {
    MILLRACE_CHECK(line.length <= (line.is_ipv6 ? 128 : 32));
    MILLRACE_CHECK(line.hops.size() <= kRouteMembersMax &&
                   (line.refusal == RouteRefusal::kNone || line.hops.empty()));
    for (const RouteLineHop& hop : line.hops) {
      MILLRACE_CHECK(!hop.port.empty() && hop.weight >= 1 && hop.weight <= kRouteWeightMax);
    }
  }
}

/// Fragments of one datagram, four bytes each: place, size, whether more come, and one byte of all
/// of its data. A map of bytes tells what has to become of them.
void check_fragments(std::span<const std::byte> text) {
  Reassembler reassembler;
  std::map<std::size_t, std::byte> there;
  std::size_t end = 0;
  bool refused = false;
  for (; text.size() >= 4; text = text.subspan(4)) {
    const std::size_t at = std::to_integer<std::size_t>(text[0]) % 40 * 120;
    const std::size_t size = std::to_integer<std::size_t>(text[1]) * 6;
    const bool more = text[2] != std::byte{0};
    const std::vector<std::byte> data(size, text[3]);
    const std::size_t stop = at + size;
    bool same = size != 0 && (more || end == stop), overlaps = false,
         good = size != 0 && stop <= 4096;
    for (std::size_t i = at; i < stop; ++i) {
      const auto found = there.find(i);
      same = same && found != there.end() && found->second == text[3];
    }
    // By units of 8 bytes: the last one may be short.
    for (std::size_t i = at; i < (stop + 7) / 8 * 8; ++i) overlaps |= there.contains(i / 8 * 8);
    if (more) good = good && size % 8 == 0 && (end == 0 || stop < end);
    if (!more) {
      good = good && (end == 0 || stop == end) && (there.empty() || there.rbegin()->first < stop);
    }
    refused = refused || !good || (overlaps && !same);
    if (!refused) {
      for (std::size_t i = at; i < stop; ++i) there[i] = text[3];
      if (!more) end = stop;
    }
    const bool whole = !refused && end != 0 && there.size() == end;
    const Reassembler::Outcome outcome =
        reassembler.add({.key = {}, .at = at, .more = more, .data = data, .front = {}}, 0);
    MILLRACE_CHECK((outcome == Reassembler::Outcome::kRefused) == refused);
    MILLRACE_CHECK((outcome == Reassembler::Outcome::kWhole) == whole);
    if (!whole) continue;
    MILLRACE_CHECK(reassembler.whole().size() == end);
    for (const auto& [place, byte] : there) MILLRACE_CHECK(reassembler.whole()[place] == byte);
    there.clear();
    end = 0;
  }
}

}  // namespace
}  // namespace millrace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  const std::span<const std::uint8_t> rest(data + 1, size - 1);
  if (data[0] == 0xff) {
    millrace::check_message(std::as_bytes(rest));
  } else if (data[0] == 0xfd) {
    millrace::check_fragments(std::as_bytes(rest));
  } else if (data[0] % 2 == 0) {
    millrace::check_line({reinterpret_cast<const char*>(rest.data()), rest.size()});
  } else if (rest.size() <= 2048) {
    millrace::check_packet(std::as_bytes(rest));
  }
  return 0;
}
