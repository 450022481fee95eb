// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "services/functions/reader_grace.hpp"

namespace millrace {

/// Numbers of equal pieces of a live image (blocks, nodes, chunks): which are free. A piece that
/// the table has let go of is free again after a grace (epoch-based reclamation, Fraser: Practical
/// lock-freedom, 2004). One thread.
class LivePool {
 public:
  /// Pieces [0, count), all of them in use.
  explicit LivePool(std::uint32_t count) : count_(count) {}

  static constexpr std::uint32_t kNone = UINT32_MAX;
  /// A free one; kNone: none is.
  std::uint32_t take();
  /// The table leads there no more.
  void retire(std::uint32_t number) { retired_.push_back(number); }
  /// Frees what has been retired long enough; true: some has been. To be called between changes.
  bool tend(ReaderGrace& grace);
  std::size_t free_count() const { return free_.size(); }
  /// Pieces that wait for their grace.
  std::size_t waiting_count() const { return retired_.size() + waiting_.size(); }
  std::uint32_t count() const { return count_; }

 private:
  std::uint32_t count_;
  std::vector<std::uint32_t> free_, retired_, waiting_;
  std::uint64_t moment_ = 0;  ///< of waiting_
};

}  // namespace millrace
