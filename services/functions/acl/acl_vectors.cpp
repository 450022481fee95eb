// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0

#include "services/functions/acl/acl_vectors.hpp"

#include <algorithm>
#include <cstring>

namespace millrace {
namespace {

/// Two words at a time; words come in whole blocks.
std::uint64_t hash_of(std::span<const std::uint32_t> words) {
  std::uint64_t hash = 0x9e3779b97f4a7c15;
  for (std::size_t i = 0; i + 1 < words.size(); i += 2) {
    const std::uint64_t both = std::uint64_t{words[i + 1]} << 32 | words[i];
    hash = (hash ^ both) * 0xff51afd7ed558ccd;
    hash ^= hash >> 32;
  }
  return hash;
}

}  // namespace

AclVectorPool::AclVectorPool(std::size_t rule_count, std::uint64_t bytes_max)
    : word_count_(acl_word_count(rule_count)), bytes_max_(bytes_max) {}

std::uint32_t AclVectorPool::add(std::span<const std::uint32_t> words) {
  const std::uint64_t hash = hash_of(words);
  for (auto [at, end] = by_hash_.equal_range(hash); at != end; ++at) {
    const std::uint32_t* const known = words_.data() + std::size_t{at->second} * word_count_;
    if (std::equal(words.begin(), words.end(), known)) return at->second;
  }
  words_.insert(words_.end(), words.begin(), words.end());
  by_hash_.emplace(hash, count_);
  return count_++;
}

bool AclVectorPool::full() const {
  return std::uint64_t{count_} * (word_count_ + word_count_ / kAclBlockWords) * 4 > bytes_max_;
}

std::vector<std::uint32_t> AclVectorPool::summaries() const {
  std::vector<std::uint32_t> out(words_.size() / kAclBlockWords);
  for (std::size_t i = 0; i < words_.size(); ++i) {
    if (words_[i] != 0) out[i / kAclBlockWords] |= std::uint32_t{1} << i % kAclBlockWords;
  }
  return out;
}

}  // namespace millrace
