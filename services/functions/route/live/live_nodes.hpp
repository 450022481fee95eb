// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <vector>

#include "services/functions/route/live/live_journal.hpp"
#include "services/functions/route/live/live_leaves.hpp"
#include "services/functions/route/route_image.hpp"

namespace millrace {

/// Leaves of IPv6: tries of nodes (ipv6_trie.hpp). A node is changed in place when
/// its runs begin where they began; else a new one takes its place, and the nodes below it stay.
class LiveNodes final : public LiveLeaves {
 public:
  /// All nodes and runs of the image; chunks of runs begin at `first_chunk`. All is borrowed.
  LiveNodes(std::span<Ipv6Node> nodes, std::span<std::uint32_t> runs, std::uint32_t first_chunk,
            LiveJournal& journal);

  std::uint32_t update(std::uint32_t now, std::span<const Ipv6Route> routes,
                       std::uint32_t inherited, const Ipv6Route& changed) override;
  void tend(ReaderGrace& grace) override;
  void keep(std::uint32_t entry) override;
  void start() override;
  bool has_room() const override;
  bool waits() const override;

 private:
  using Entries = std::array<std::uint32_t, 256>;  ///< of a node, one for each byte
  struct Bytes {
    std::uint32_t first = 0, last = 255;
  };
  /// What a node is to be.
  struct Level {
    Entries entries;
    std::array<std::uint8_t, 256>
        lengths{};  ///< of the prefix of this node that lies there; 0: none
    Bytes bytes;    ///< that may change
    void paint(std::uint8_t length, std::uint32_t first, std::uint32_t last, std::uint32_t hop);
  };
  struct Runs {
    std::array<std::uint64_t, 4> starts{};
    std::array<std::uint8_t, 4> before{};
    std::uint32_t count = 0;
    Entries entry;  ///< of each run
  };

  static Bytes covered(const Ipv6Route& changed, std::uint32_t depth);
  static Runs runs_of(const Entries& entries);
  std::uint32_t update_node(std::uint32_t now, std::span<const Ipv6Route> routes,
                            std::uint32_t depth, std::uint32_t inherited, const Ipv6Route& changed);
  static std::span<const Ipv6Route> routes_of(std::span<const Ipv6Route> routes,
                                              std::uint32_t depth, Bytes bytes);
  static std::uint32_t inherited_around(std::span<const Ipv6Route> routes, std::uint32_t depth,
                                        std::uint32_t inherited, const Ipv6Route& changed);
  void update_below(const Entries& before, std::span<const Ipv6Route> routes, std::uint32_t depth,
                    const Ipv6Route& changed, Level& level);
  std::uint32_t put(std::uint32_t now, const Entries& entries);
  void write_new(Ipv6Node& node, const Runs& runs, std::uint32_t more);
  Entries entries_of(std::uint32_t entry) const;
  std::span<std::uint32_t> words_of(Ipv6Node& node, std::uint32_t count);
  bool in_chunk(const Ipv6Node& node) const { return node.more != 0 && node.more >= first_chunk_; }
  std::uint32_t chunk_of(const Ipv6Node& node) const {
    return (node.more - first_chunk_) / kBlockEntries;
  }
  void retire(std::uint32_t number);
  void retire_all(std::uint32_t entry);

  std::span<Ipv6Node> nodes_;
  std::span<std::uint32_t> runs_;
  std::uint32_t first_chunk_;
  LiveJournal& journal_;
  LivePool node_pool_, chunk_pool_;
  std::vector<bool> kept_nodes_, kept_chunks_;  ///< until start()
};

}  // namespace millrace
