// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

/// A classic BPF program, as libpcap compiles it from a filter: run over each packet at the
/// ingress. Ours, so that no packet process needs libpcap; the same answer as its bpf_filter().

namespace millrace {

/// An instruction as one word: code, jump if true, jump if false, constant.
constexpr std::uint64_t filter_word(std::uint16_t code, std::uint8_t jt, std::uint8_t jf,
                                    std::uint32_t k) {
  return std::uint64_t{code} << 48 | std::uint64_t{jt} << 40 | std::uint64_t{jf} << 32 | k;
}

/// True when the program may be run: it has known instructions only, jumps forward and inside of
/// itself, and every way through it ends at a return. The empty one may: it takes every packet.
bool is_sound_filter(std::span<const std::uint64_t> program) noexcept;

/// `program` is sound. `bytes`: of the frame, as many as there are; a load behind them refuses the
/// packet. `wire_length`: what the filter sees as its length.
bool filter_takes(std::span<const std::uint64_t> program, std::span<const std::byte> bytes,
                  std::uint32_t wire_length) noexcept;

}  // namespace millrace
