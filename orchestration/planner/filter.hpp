// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

/// The `match` of a path: a pcap filter (pcap-filter(7)) for Ethernet, compiled by libpcap when the
/// topology is read. Names of hosts and networks are refused, because what they mean depends on
/// the server that is asked; names of ports and protocols come from this host's files.

namespace millrace {

inline constexpr std::size_t kFilterBytesMax = 1024;

/// Why a filter is refused.
struct FilterProblem {
  std::size_t at = 0;  ///< byte of the text
  std::string found, allowed, nearest;
};

/// What may send packets of one flow different ways: to be said, not refused.
struct FilterWarning {
  std::size_t at = 0;
  std::string text;  ///< "it looks at the TTL of a packet", ...
};

struct CompiledFilter {
  std::vector<std::uint64_t> program;  ///< packet_filter.hpp; sound
  std::vector<FilterWarning> warnings;
};

/// Nothing: see `problem`. Takes milliseconds at most; asks no server.
std::optional<CompiledFilter> compile_filter(const std::string& text, FilterProblem& problem);

/// A piece of a filter's text.
struct FilterToken {
  enum class Kind : std::uint8_t { kWord, kNumber, kAddress, kRange, kSign } kind;
  std::size_t at;
  std::string text;
};

/// Nothing: a byte that no filter has, see `problem`.
std::optional<std::vector<FilterToken>> filter_tokens(const std::string& text,
                                                      FilterProblem& problem);

/// Looks for parts of packets that differ within a flow (filter_tokens.cpp).
std::vector<FilterWarning> warn_of_parts(std::span<const FilterToken> tokens);

/// Looks for a packet that the program takes while it does not take its answer, among packets made
/// of the program's own constants. Says which, or nothing (filter_symmetry.cpp).
std::optional<std::string> one_way_flow(std::span<const std::uint64_t> program);

}  // namespace millrace
