// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#include "services/functions/match/image.hpp"

#include <algorithm>
#include <cstring>
#include <utility>

#include "shared/base/error.hpp"
#include "shared/base/fnv.hpp"
#include "shared/base/limits.hpp"

namespace millrace {
namespace {

/// Behind the ImageHeader; ranges are of the file.
struct Parts {
  std::uint64_t rules_offset;
  std::uint64_t rule_count;
  std::uint64_t names_offset;
  std::uint64_t names_bytes;
  std::uint64_t database_offset;
  std::uint64_t database_bytes;
  std::uint64_t index_offset;  ///< filter, buckets, pairs, pool, entries, short entries
  LiteralCounts index;
  std::uint32_t longest;  ///< bytes of the longest literal
  std::uint32_t origin;   ///< what the rules were made of
};
static_assert(sizeof(Parts) == 88 && offsetof(Parts, database_bytes) == 40);
static_assert(offsetof(Parts, index_offset) == 48 && offsetof(Parts, index) == 56);
static_assert(offsetof(Parts, longest) == 80 && offsetof(Parts, origin) == 84);

constexpr ImageKind kKind{
    "match", fnv1a({2, sizeof(ImageHeader), sizeof(Parts), sizeof(MatchRuleEntry),
                    sizeof(LiteralEntry), kFilterBits, kAnchorFactor, kSecondFactor,
                    offsetof(MatchRuleEntry, port), offsetof(MatchRuleEntry, action)})};

/// Single bytes are looked for one by one, see HsLiteral.
bool is_byte(const MatchRule& rule) { return rule.literal.size() == 1; }

/// All but single bytes; the number of each is its place in `rules`.
std::vector<HsLiteral> literals_of(const std::vector<MatchRule>& rules) {
  std::vector<HsLiteral> literals;
  for (std::size_t place = 0; place < rules.size(); ++place) {
    if (is_byte(rules[place])) continue;
    literals.push_back({.bytes = rules[place].literal,
                        .nocase = rules[place].nocase,
                        .number = static_cast<unsigned>(place)});
  }
  return literals;
}

/// Leaves rules out until the library takes the rest.
HsDatabase compile_what_can_be(std::vector<MatchRule>& rules, MatchPlaces places,
                               std::vector<std::string>& refusals) {
  while (!rules.empty()) {
    HsRefusal refusal;
    const std::vector<HsLiteral> literals = literals_of(rules);
    HsDatabase database = compile_literals(literals, places, refusal);
    if (database != nullptr || refusal.reason.empty()) return database;
    if (refusal.literal < 0 || static_cast<std::size_t>(refusal.literal) >= literals.size()) {
      throw Error("Vectorscan cannot compile the literals: " + refusal.reason);
    }
    const unsigned refused = literals[static_cast<std::size_t>(refusal.literal)].number;
    refusals.push_back(rules[refused].name + ": " + refusal.reason);
    rules.erase(rules.begin() + refused);
  }
  return nullptr;
}

template <typename T>
std::span<const T> part_of(std::span<const std::byte> file, std::uint64_t offset,
                           std::uint64_t count) {
  if (offset % alignof(T) != 0 || offset > file.size() ||
      count > (file.size() - offset) / sizeof(T)) {
    throw Error("a part of the image lies outside it");
  }
  return {reinterpret_cast<const T*>(file.data() + offset), static_cast<std::size_t>(count)};
}

/// Calls visit(pointer, count) for each part of an index, in the order of the file.
template <typename Index, typename Visit>
void each_part(const LiteralCounts& counts, Index& index, Visit&& visit) {
  const bool pairs = counts.short_entries != 0;
  visit(index.filter, kFilterWords);
  visit(index.buckets, (std::uint64_t{1} << counts.bucket_bits) + 1);
  visit(index.pairs, pairs ? std::uint64_t{kPairCount} + 1 : 0);
  visit(index.pool, counts.pool_words);
  visit(index.entries, counts.entries);
  visit(index.short_entries, counts.short_entries);
}

std::uint64_t index_bytes(const LiteralIndex& index) {
  std::uint64_t bytes = 0;
  each_part(index.counts, index,
            [&](const auto* part, std::uint64_t count) { bytes += count * sizeof(*part); });
  return bytes;
}

Parts parts_of(std::span<const std::byte> file) {
  Parts parts;
  std::memcpy(&parts, part_of<std::byte>(file, sizeof(ImageHeader), sizeof parts).data(),
              sizeof parts);
  return parts;
}

MatchRuleEntry entry_of(const MatchRule& rule, std::size_t name_offset) {
  const auto first = static_cast<std::uint8_t>(rule.literal.front());
  const bool letter = rule.nocase && ((first | 0x20) >= 'a' && (first | 0x20) <= 'z');
  return {.class_mask = rule.class_mask,
          .name_offset = static_cast<std::uint32_t>(name_offset),
          .name_bytes = static_cast<std::uint16_t>(rule.name.size()),
          .port = rule.port,
          .protocol = rule.protocol,
          .action = static_cast<std::uint8_t>(rule.action),
          .is_byte = is_byte(rule) ? std::uint8_t{1} : std::uint8_t{0},
          .byte = {first, static_cast<std::uint8_t>(letter ? first ^ 0x20 : first)},
          .padding = {}};
}

}  // namespace

std::vector<std::string> write_match_image(const std::string& path, std::vector<MatchRule> rules,
                                           MatchPlaces places, std::uint32_t origin) {
  std::stable_sort(rules.begin(), rules.end(), [](const MatchRule& one, const MatchRule& other) {
    return one.action < other.action;
  });
  std::vector<std::string> refusals;
  const HsDatabase database = compile_what_can_be(rules, places, refusals);
  const std::vector<std::byte> serialized = serialize_database(database.get());

  std::string names;
  std::size_t longest = 0;
  std::vector<MatchRuleEntry> entries;
  for (const MatchRule& rule : rules) {
    entries.push_back(entry_of(rule, names.size()));
    names += rule.name;
    longest = std::max(longest, rule.literal.size());
  }
  Parts parts{};
  parts.longest = static_cast<std::uint32_t>(longest);
  parts.origin = origin;
  parts.rules_offset = sizeof(ImageHeader) + sizeof(Parts);
  parts.rule_count = entries.size();
  parts.names_offset = parts.rules_offset + entries.size() * sizeof(MatchRuleEntry);
  parts.names_bytes = names.size();
  parts.database_offset =
      (parts.names_offset + names.size() + kCacheLine - 1) / kCacheLine * kCacheLine;
  parts.database_bytes = serialized.size();

  const LiteralTables tables = index_literals(rules);
  const LiteralIndex index = tables.view();
  parts.index = index.counts;
  parts.index_offset =
      (parts.database_offset + serialized.size() + kCacheLine - 1) / kCacheLine * kCacheLine;

  ImageWriter writer(path, kKind, parts.index_offset + index_bytes(index));
  std::byte* const base = writer.bytes().data();
  const auto put = [base](std::uint64_t offset, const void* from, std::size_t bytes) {
    if (bytes != 0) std::memcpy(base + offset, from, bytes);
  };
  put(sizeof(ImageHeader), &parts, sizeof parts);
  put(parts.rules_offset, entries.data(), entries.size() * sizeof(MatchRuleEntry));
  put(parts.names_offset, names.data(), names.size());
  put(parts.database_offset, serialized.data(), serialized.size());
  std::uint64_t at = parts.index_offset;
  each_part(index.counts, index, [&](const auto* part, std::uint64_t count) {
    put(at, part, count * sizeof(*part));
    at += count * sizeof(*part);
  });
  writer.publish(static_cast<std::uint32_t>(entries.size()) + 1);
  return refusals;
}

MatchImage::MatchImage(const std::string& path) : file_(path, kKind) {
  while_doing(path, [&] {
    const std::span<const std::byte> file = file_.bytes();
    const Parts parts = parts_of(file);
    rules_ = part_of<MatchRuleEntry>(file, parts.rules_offset, parts.rule_count);
    const auto names = part_of<char>(file, parts.names_offset, parts.names_bytes);
    names_ = {names.data(), names.size()};
    database_ = part_of<std::byte>(file, parts.database_offset, parts.database_bytes);
    if (parts.longest > kMatchLiteralBytesMax) throw Error("a literal that is too long");
    longest_ = parts.longest;
    origin_ = parts.origin;
    if (parts.index.bucket_bits > 31) throw Error("an index of literals with too many buckets");
    index_.counts = parts.index;
    std::uint64_t at = parts.index_offset;
    each_part(parts.index, index_, [&]<typename T>(const T*& part, std::uint64_t count) {
      part = count == 0 ? nullptr : part_of<T>(file, at, count).data();
      at += count * sizeof(T);
    });
  });
}

std::string_view MatchImage::name(std::uint32_t rule) const {
  const MatchRuleEntry& entry = rules_[rule];
  return names_.substr(std::min<std::size_t>(entry.name_offset, names_.size()), entry.name_bytes);
}

HsDatabase MatchImage::database() const { return deserialize_database(database_); }

}  // namespace millrace
