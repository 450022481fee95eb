// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#include "services/functions/flow/tuple_hash.hpp"

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstring>

#include "shared/base/check.hpp"
#include "shared/base/siphash.hpp"
#include "shared/base/siphash_many.hpp"

namespace millrace {
namespace {

using Words = std::array<std::uint64_t, sizeof(FlowTuple) / sizeof(std::uint64_t)>;

/// Of IPv4: its tuple without the twelve bytes of each address that are 0.
std::array<std::uint64_t, 2> short_words(const FlowTuple& tuple) noexcept {
  const auto* const at = reinterpret_cast<const std::byte*>(&tuple);
  std::uint32_t source = 0, destination = 0;
  std::uint64_t rest = 0;
  std::memcpy(&source, at, sizeof source);
  std::memcpy(&destination, at + offsetof(FlowTuple, destination), sizeof destination);
  std::memcpy(&rest, at + offsetof(FlowTuple, source_port), sizeof rest);
  return {source | std::uint64_t{destination} << 32, rest};
}

}  // namespace

/// The length is part of what is hashed, so none of IPv4 is another one's of IPv6.
std::uint64_t tuple_hash(const FlowTuple& tuple,
                         const std::array<std::uint64_t, 2>& secret) noexcept {
  if (tuple.version != 4) return siphash13(std::bit_cast<Words>(tuple), secret);
  return siphash13(short_words(tuple), secret);
}

/// Eight side by side; of those that are not all of IPv4, each by itself.
void tuple_hashes(std::span<const FlowTuple> tuples, const std::array<std::uint64_t, 2>& secret,
                  std::span<std::uint64_t> hashes) noexcept {
  constexpr std::size_t kEight = Siphash13Eight::kCount;
  MILLRACE_CHECK(hashes.size() >= (tuples.size() + kEight - 1) / kEight * kEight);
  const Siphash13Eight eight(secret);
  Siphash13Eight::Words first{}, second{};
  for (std::size_t at = 0; at < tuples.size(); at += kEight) {
    const auto some = tuples.subspan(at, std::min(tuples.size() - at, kEight));
    bool all_short = true;
    for (std::size_t i = 0; i < some.size(); ++i) {
      const std::array<std::uint64_t, 2> words = short_words(some[i]);
      first[i] = words[0], second[i] = words[1];
      all_short = all_short && some[i].version == 4;
    }
    eight.hash(first.data(), second.data(), hashes.data() + at);
    if (all_short) [[likely]]
      continue;
    for (std::size_t i = 0; i < some.size(); ++i) hashes[at + i] = tuple_hash(some[i], secret);
  }
}

}  // namespace millrace
