// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#include "services/functions/stream/kept_bytes.hpp"

#include <algorithm>

namespace millrace {

std::uint64_t KeptBytes::begin(const StreamTable& table, const Stream& stream,
                               std::uint8_t direction) noexcept {
  const StreamSide& side = stream.side[direction];
  std::uint32_t from = side.next;
  for (std::uint32_t at = table.block_at(side, side.next - 1); at != 0;) {
    const StreamBlock& block = *table.block(at);
    if (sequence_distance(from, block.end()) < 0) break;
    from = block.sequence;
    at = block.before;
  }
  return stream.position(direction) - (side.next - from);
}

KeptBytes::KeptBytes(const StreamTable& table, const Stream& stream, std::uint8_t direction,
                     std::uint64_t from) noexcept
    : table_(table) {
  const StreamSide& side = stream.side[direction];
  const std::uint64_t position = stream.position(direction);
  is_whole_ = from <= position && from >= begin(table, stream, direction);
  if (!is_whole_) return;
  end_ = side.next;
  at_ = side.next - static_cast<std::uint32_t>(position - from);
  block_ = table.block_at(side, at_);
}

std::span<const std::byte> KeptBytes::next() noexcept {
  if (at_ == end_) return {};
  const StreamBlock* block = table_.block(block_);
  while (sequence_distance(at_, block->end()) <= 0) {
    block_ = block->next;
    block = table_.block(block_);
  }
  const std::uint32_t skip = at_ - block->sequence;
  const std::uint32_t bytes = std::min(block->bytes - skip, end_ - at_);
  at_ += bytes;
  return {block->data + skip, bytes};
}

}  // namespace millrace
