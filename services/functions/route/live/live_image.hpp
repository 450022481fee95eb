// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>
#include <string>

#include "services/functions/route/hop_numbers.hpp"
#include "services/functions/route/live/live_journal.hpp"
#include "services/functions/route/route_image.hpp"

namespace millrace {

/// The parts of a live route image, as its writer changes them. One at a time.
class LiveRouteImage {
 public:
  /// Throws Error when no live route image is there.
  explicit LiveRouteImage(const std::string& path);

  const RouteTable& table() const { return table_; }
  std::span<const RouteHop> hops() const { return table_.hops.first(hops_now(table_).used); }
  std::span<const RouteMember> members() const { return table_.members.first(members_used_); }
  std::span<std::uint32_t> table24() { return words(header_.table24_at, kTable24Entries); }
  std::span<std::uint32_t> blocks() {
    return words(header_.blocks_at, std::size_t{header_.block_count} * kBlockEntries);
  }
  /// All of IPv6 is empty unless has_ipv6().
  bool has_ipv6() const { return header_.ipv6_run_count != 0; }
  std::span<std::uint32_t> ipv6_table24();
  std::span<Ipv6Node> ipv6_nodes();
  std::span<std::uint32_t> ipv6_runs();
  std::uint32_t ipv6_first_chunk() const { return header_.ipv6_first_chunk; }
  RouteLive& live() { return *at<RouteLive>(kRouteLiveAt); }
  /// By which all words of the tables are changed.
  LiveJournal& journal() { return journal_; }

  /// Writes the next hops that are not there yet, and says then that they are. False when there is
  /// no room for them.
  bool add_hops(const HopNumbers& numbers);

 private:
  template <typename T>
  T* at(std::uint64_t offset) {
    return reinterpret_cast<T*>(image_.bytes().data() + offset);
  }
  std::span<std::uint32_t> words(std::uint64_t offset, std::size_t count) {
    return {at<std::uint32_t>(offset), count};
  }

  LiveImage image_;
  RouteTable table_;
  RouteHeader header_;
  std::uint32_t members_used_ = 0;
  LiveJournal journal_;
};

}  // namespace millrace
