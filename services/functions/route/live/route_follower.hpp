// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <unordered_map>

#include "services/functions/route/kernel_routes.hpp"
#include "services/functions/route/live/kernel_rib.hpp"
#include "services/functions/route/live/live_blocks.hpp"
#include "services/functions/route/live/live_image.hpp"
#include "services/functions/route/live/live_nodes.hpp"
#include "services/functions/route/live/live_table.hpp"

namespace millrace {

/// Keeps one live image of a function route like the kernel's routes. What the image has beside
/// those (RouteLayer) it takes from the image. One thread.
class RouteFollower {
 public:
  /// `ports` of the plan; `answers`: next hops may be named by address. Throws Error when the image
  /// is not there, or not live.
  RouteFollower(const std::string& image, std::span<const PlanPort> ports, bool answers);

  /// All of the kernel's routes: adds one after the other by add(), then makes the image say so.
  /// What an earlier writer of the image has left half done is as it should be then.
  void begin_dump();
  void add(const KernelRoute& route);
  void end_dump();

  /// One change; by the order of the kernel's notifications. Those that the dump has already taken
  /// may come again. False: it cannot be followed from what is known, and a dump is needed.
  bool apply(const KernelRoute& route);

  /// Frees what no reader sees any more. To be called now and then.
  void tend(ReaderGrace& grace);
  /// False while changes should wait for tend(), which frees pieces of the image soon.
  bool has_room() const;
  /// There was no room for a change. The image is as good as it was, and is changed no more.
  bool is_full() const { return !why_full_.empty(); }
  const std::string& why_full() const { return why_full_; }
  RouteLive& live() { return image_.live(); }

 private:
  /// The two families of an image.
  struct Part {
    std::unique_ptr<LiveLeaves> leaves;
    std::unique_ptr<LiveTable> table;
  };

  static PrefixKey key_of(const RouteLine& line);
  std::optional<std::uint32_t> hop_of(const PrefixKey& key) const;
  std::optional<std::uint32_t> find_hop(const RouteLine& line);
  void make_parts();
  void change(const PrefixKey& key);
  void count_routes();
  void set_default(bool is_ipv6, std::optional<std::uint32_t> hop);
  template <typename Change>
  void unless_full(Change change);
  bool remove(const KernelRoute& route, const PrefixKey& key);

  LiveRouteImage image_;
  HopNumbers hops_;
  KernelRib rib_;
  std::unordered_map<PrefixKey, std::uint32_t, PrefixHash> above_;  ///< kOwn, kFile -> next hop
  std::unordered_map<PrefixKey, std::uint32_t, PrefixHash> below_;  ///< kConnected
  Part ipv4_, ipv6_;
  std::string why_full_;
};

}  // namespace millrace
