// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <unordered_map>
#include <vector>

#include "services/functions/acl/acl_bits.hpp"

/// What the builder of the bit vectors works with.

namespace millrace {

/// Words of a vector over `rule_count` rules: whole blocks.
constexpr std::uint32_t acl_word_count(std::size_t rule_count) {
  return static_cast<std::uint32_t>((rule_count + kAclBlockRules - 1) / kAclBlockRules *
                                    kAclBlockWords);
}

/// A set of rules: one bit each.
class AclRuleSet {
 public:
  explicit AclRuleSet(std::size_t rule_count) : words_(acl_word_count(rule_count)) {}
  /// Puts the rule in, or takes it out.
  void flip(std::uint32_t rule) { words_[rule / 32] ^= std::uint32_t{1} << rule % 32; }
  std::span<const std::uint32_t> words() const { return words_; }
  friend AclRuleSet operator&(AclRuleSet one, const AclRuleSet& other) {
    for (std::size_t i = 0; i < one.words_.size(); ++i) one.words_[i] &= other.words_[i];
    return one;
  }

 private:
  std::vector<std::uint32_t> words_;
};

/// Vectors, equal ones once, numbered in the order of their first coming.
class AclVectorPool {
 public:
  /// `bytes_max`: of vectors and summaries; see full().
  AclVectorPool(std::size_t rule_count, std::uint64_t bytes_max);
  /// Number of the vector that equals `words`, which has word_count().
  std::uint32_t add(std::span<const std::uint32_t> words);
  /// True once the limit is passed.
  bool full() const;
  std::uint32_t word_count() const { return word_count_; }
  std::uint32_t size() const { return count_; }
  /// One word a block of each vector: bit i says that word i of the block is not 0.
  std::vector<std::uint32_t> summaries() const;
  /// The vectors, one behind the other; the pool is empty then.
  std::vector<std::uint32_t> take() { return std::move(words_); }

 private:
  std::uint32_t word_count_;
  std::uint32_t count_ = 0;
  std::uint64_t bytes_max_;
  std::vector<std::uint32_t> words_;
  std::unordered_multimap<std::uint64_t, std::uint32_t> by_hash_;
};

}  // namespace millrace
