// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#include "io-worker/ports/tx_frames.hpp"

#include <algorithm>
#include <numeric>

#include "shared/base/clock.hpp"

namespace millrace {
namespace {

constexpr std::uint64_t kPauseTicks = 100'000'000;  // some 40 ms
constexpr Offload kAsItIs;

}  // namespace

TxFrames::TxFrames(bool merges) : merges_(merges) {
  if (merges) runs_.resize(kBatchCapacityMax / 2);
}

void TxFrames::add_piece(std::span<const std::byte> bytes) noexcept {
  pieces_[piece_count_++] = {const_cast<std::byte*>(bytes.data()), bytes.size()};
}

void TxFrames::gather(std::span<const TxPacket> packets) noexcept {
  packets = packets.first(std::min(packets.size(), packets_of_.size()));
  count_ = piece_count_ = 0;
  std::size_t run = 0;
  const bool merge = merges_ && tsc_now() >= merge_from_;
  while (!packets.empty()) {
    const std::uint32_t count = merge ? runs_[run].find(packets) : 1;
    if (count > 1) {
      const SegmentRun& found = runs_[run++];
      add_piece(std::as_bytes(std::span(&found.offload(), 1)));
      add_piece(found.head());
      for (const TxPacket& packet : packets.first(count)) {
        add_piece(packet.bytes.subspan(found.head().size()));
      }
    } else {
      if (merges_) add_piece(std::as_bytes(std::span(&kAsItIs, 1)));
      add_piece(packets.front().bytes);
    }
    packets_of_[count_++] = count;
    first_piece_[count_] = static_cast<std::uint32_t>(piece_count_);
    packets = packets.subspan(count);
  }
}

std::span<iovec> TxFrames::pieces(std::size_t frame) noexcept {
  return {&pieces_[first_piece_[frame]], &pieces_[first_piece_[frame + 1]]};
}

std::uint32_t TxFrames::packets_in(std::size_t frames) const noexcept {
  return std::accumulate(packets_of_.begin(), packets_of_.begin() + frames, 0u);
}

void TxFrames::pause_merging() noexcept { merge_from_ = tsc_now() + kPauseTicks; }

}  // namespace millrace
