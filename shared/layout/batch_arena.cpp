// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0

#include "shared/layout/batch_arena.hpp"

#include <algorithm>
#include <cstring>
#include <new>

#include "shared/base/check.hpp"

namespace millrace {

void BatchArena::Free::operator()(std::byte* memory) const {
  operator delete[](memory, std::align_val_t{kCacheLine});
}

BatchArena::Memory BatchArena::allocate(std::size_t bytes) {
  auto* memory = static_cast<std::byte*>(operator new[](bytes, std::align_val_t{kCacheLine}));
  std::memset(memory, 0, bytes);
  return Memory(memory);
}

BatchArena::BatchArena(std::uint32_t capacity, std::uint32_t stride)
    : capacity_(capacity),
      stride_(stride),
      offsets_(column_offsets(capacity)),
      slot_(allocate(offsets_.slot_bytes)),
      buffers_(allocate(std::size_t{capacity} * stride)) {
  MILLRACE_CHECK(capacity >= 1 && capacity <= kBatchCapacityMax && stride > kBufferHeadroom);
}

void BatchArena::clear() {
  count_ = 0;
  std::memset(slot_.get(), 0, offsets_.slot_bytes);
}

std::uint32_t BatchArena::add(std::span<const std::byte> packet, std::uint32_t wire_length) {
  MILLRACE_CHECK(!full() && packet.size() <= room());
  const std::uint32_t index = count_++;
  const Batch view = batch();
  view.header->count = static_cast<std::uint16_t>(count_);
  view.buffer[index] = index;
  view.offset[index] = kBufferHeadroom;
  view.length[index] = static_cast<std::uint16_t>(packet.size());
  const bool is_cut = wire_length > packet.size();
  if (is_cut && !view.has_cut()) view.begin_cut(index);
  if (view.has_cut()) {
    view.wire_lengths[index] = is_cut ? wire_length : static_cast<std::uint32_t>(packet.size());
  }
  view.verdict[index] = static_cast<std::uint8_t>(Verdict::kPass);
  view.output[index] = kOutputDefault;
  std::ranges::copy(packet, view.data(index));
  return index;
}

Batch BatchArena::batch() const {
  return view_of(slot_.get(), offsets_, capacity_, count_, {buffers_.get(), stride_});
}

}  // namespace millrace
