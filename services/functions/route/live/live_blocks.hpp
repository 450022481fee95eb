// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "services/functions/route/live/live_journal.hpp"
#include "services/functions/route/live/live_leaves.hpp"
#include "services/functions/route/route_image.hpp"

namespace millrace {

/// Leaves of IPv4: blocks of 256 entries.
class LiveBlocks final : public LiveLeaves {
 public:
  /// `entries`: of all blocks of the image. Both are borrowed.
  LiveBlocks(std::span<std::uint32_t> entries, LiveJournal& journal);

  std::uint32_t update(std::uint32_t now, std::span<const Ipv6Route> routes,
                       std::uint32_t inherited, const Ipv6Route& changed) override;
  void tend(ReaderGrace& grace) override {
    if (pool_.tend(grace)) journal_.grace();
  }
  void keep(std::uint32_t entry) override;
  void start() override;
  bool has_room() const override { return pool_.free_count() != 0; }
  bool waits() const override { return pool_.waiting_count() != 0; }

 private:
  std::span<std::uint32_t> entries_;
  LiveJournal& journal_;
  LivePool pool_;
  std::vector<bool> kept_;  ///< until start()
};

}  // namespace millrace
