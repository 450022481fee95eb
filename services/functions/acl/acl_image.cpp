// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0

#include "services/functions/acl/acl_image.hpp"

#include <algorithm>
#include <cstring>
#include <utility>

#include "services/functions/acl/acl_bits_build.hpp"
#include "shared/base/error.hpp"
#include "shared/base/fnv.hpp"
#include "shared/base/limits.hpp"

namespace millrace {
namespace {

constexpr ImageKind kKind{
    "acl", fnv1a({2, sizeof(AclHeader), sizeof(AclRule), sizeof(AclBitsHeader), kAclBlockWords,
                  kAclPortSteps, offsetof(AclRule, source_port_low), offsetof(AclRule, families),
                  offsetof(AclBitsHeader, transport_at)})};

/// Parts of the file to be, one behind the other, each on a line.
class Parts {
 public:
  explicit Parts(std::uint64_t start) : end_(start) {}

  /// The values must live until write_to(). Returns where they will lie.
  template <typename T>
  std::uint64_t add(const std::vector<T>& values) {
    return add(values.data(), values.size() * sizeof(T));
  }
  std::uint64_t add(const void* from, std::uint64_t bytes) {
    const std::uint64_t at = (end_ + kCacheLine - 1) / kCacheLine * kCacheLine;
    parts_.push_back({from, at, bytes});
    end_ = at + bytes;
    return at;
  }
  std::uint64_t end() const { return end_; }
  void write_to(std::byte* base) const {
    for (const Part& part : parts_) {
      if (part.bytes != 0) std::memcpy(base + part.at, part.from, part.bytes);
    }
  }

 private:
  struct Part {
    const void* from;
    std::uint64_t at, bytes;
  };
  std::vector<Part> parts_;
  std::uint64_t end_;
};

template <typename Address>
AclBitsHeader add_bits(const AclBitsArrays<Address>& from, Parts& parts) {
  AclBitsHeader to{};
  to.rule_count = static_cast<std::uint32_t>(from.rules.size());
  if (to.rule_count == 0) return to;
  to.block_count = from.block_count;
  to.source_count = static_cast<std::uint32_t>(from.source.starts.size());
  to.destination_count = static_cast<std::uint32_t>(from.destination.starts.size());
  to.source_port_count = from.source_ports.count;
  to.destination_port_count = from.destination_ports.count;
  to.protocol_count = from.protocols.count;
  to.flags_count = from.flags.count;
  to.vector_count = from.vector_count;
  to.rules_at = parts.add(from.rules);
  to.source_first_at = parts.add(from.source.first);
  to.source_starts_at = parts.add(from.source.starts);
  to.source_vectors_at = parts.add(from.source.vectors);
  to.destination_first_at = parts.add(from.destination.first);
  to.destination_starts_at = parts.add(from.destination.starts);
  to.destination_vectors_at = parts.add(from.destination.vectors);
  to.source_ports_at = parts.add(from.source_ports.classes);
  to.destination_ports_at = parts.add(from.destination_ports.classes);
  to.protocols_at = parts.add(from.protocols.classes);
  to.flags_at = parts.add(from.flags.classes);
  to.transport_at = parts.add(from.transport);
  to.summaries_at = parts.add(from.summaries);
  to.vectors_at = parts.add(from.vectors);
  to.condition_count = from.condition_count;
  to.conditions_at = parts.add(from.conditions);
  to.condition_cells = from.conditions.size();
  return to;
}

/// Whether `count` values of `bytes` each lie inside the file at `at`.
bool inside(std::span<const std::byte> file, std::uint64_t at, std::uint64_t count,
            std::uint64_t bytes) {
  return at % kCacheLine == 0 && at <= file.size() && count <= (file.size() - at) / bytes;
}

/// Places of all parts; the values in them are under the checksum of the file.
void check_bits(std::span<const std::byte> file, const AclBitsHeader& header,
                std::uint64_t address_bytes) {
  if (header.rule_count == 0) return;
  const std::uint64_t vectors = header.vector_count, blocks = header.block_count;
  const std::uint64_t ports =
      std::uint64_t{header.source_port_count} * header.destination_port_count;
  const std::uint64_t rest = std::uint64_t{header.protocol_count} * header.flags_count *
                             std::max(header.condition_count, 1u);
  const bool counts = header.rule_count <= kAclRuleCountMax &&
                      blocks == (header.rule_count + kAclBlockRules - 1) / kAclBlockRules &&
                      rest <= kAclCrossWordsMax && ports <= kAclCrossWordsMax &&
                      header.source_count != 0 && header.destination_count != 0;
  const bool places =
      counts && inside(file, header.rules_at, header.rule_count, 4) &&
      inside(file, header.source_first_at, kAclFirstLevel + 1, 4) &&
      inside(file, header.source_starts_at, header.source_count, address_bytes) &&
      inside(file, header.source_vectors_at, header.source_count, 4) &&
      inside(file, header.destination_first_at, kAclFirstLevel + 1, 4) &&
      inside(file, header.destination_starts_at, header.destination_count, address_bytes) &&
      inside(file, header.destination_vectors_at, header.destination_count, 4) &&
      inside(file, header.source_ports_at, kAclPortSteps, 2) &&
      inside(file, header.destination_ports_at, kAclPortSteps, 2) &&
      inside(file, header.protocols_at, kAclByteSteps, 2) &&
      inside(file, header.flags_at, kAclByteSteps, 2) &&
      inside(file, header.transport_at, ports * rest, 4) &&
      inside(file, header.conditions_at, header.condition_cells, 2) &&
      (header.condition_count == 0 ||
       header.condition_cells > acl_condition_at(kAclConditionKinds)) &&
      inside(file, header.summaries_at, vectors * blocks, 4) &&
      inside(file, header.vectors_at, vectors * blocks, kAclBlockWords * 4);
  if (!places) throw Error("acl image: a part of the bit vectors lies outside it");
}

AclHeader header_of(std::span<const std::byte> file) {
  AclHeader header{};
  if (file.size() < sizeof(ImageHeader) + sizeof header) {
    throw Error("acl image: shorter than its header");
  }
  std::memcpy(&header, file.data() + sizeof(ImageHeader), sizeof header);
  if (header.rule_count > kAclRuleCountMax ||
      !inside(file, header.rules_at, header.rule_count, sizeof(AclRule)) ||
      !inside(file, header.names_at, header.names_bytes, 1)) {
    throw Error("acl image: its rules lie outside it");
  }
  if (header.has_bits != 0) {
    check_bits(file, header.ipv4, sizeof(std::uint32_t));
    check_bits(file, header.ipv6, sizeof(Address128));
  }
  return header;
}

}  // namespace

AclBitsReport write_acl_image(const std::string& path, std::span<const AclNamedRule> rules,
                              std::uint32_t counter_count) {
  std::vector<AclRule> entries;
  std::string names;
  for (const AclNamedRule& named : rules) {
    AclRule& entry = entries.emplace_back(named.rule);
    entry.name_offset = static_cast<std::uint32_t>(names.size());
    entry.name_bytes =
        static_cast<std::uint16_t>(std::min<std::size_t>(named.name.size(), UINT16_MAX));
    names += named.name;
  }
  AclBitsReport report;
  const std::optional<AclBitsSet> set = build_acl_bits(entries, report.why);
  report.built = set.has_value();

  AclHeader header{};
  Parts parts(sizeof(ImageHeader) + sizeof header);
  header.rule_count = static_cast<std::uint32_t>(entries.size());
  header.has_bits = report.built ? 1 : 0;
  header.rules_at = parts.add(entries);
  header.names_at = parts.add(names.data(), names.size());
  header.names_bytes = names.size();
  if (set) {
    header.ipv4 = add_bits(set->ipv4, parts);
    header.ipv6 = add_bits(set->ipv6, parts);
  }
  ImageWriter writer(path, kKind, parts.end());
  std::memcpy(writer.bytes().data() + sizeof(ImageHeader), &header, sizeof header);
  parts.write_to(writer.bytes().data());
  writer.publish(counter_count);
  report.bytes = parts.end();
  return report;
}

AclImage::AclImage(const std::string& path)
    : file_(path, kKind), header_(while_doing(path, [&] { return header_of(file_.bytes()); })) {
  const std::byte* const base = file_.bytes().data();
  rules_ = {reinterpret_cast<const AclRule*>(base + header_.rules_at), header_.rule_count};
  names_ = {reinterpret_cast<const char*>(base + header_.names_at), header_.names_bytes};
  if (header_.has_bits == 0) return;
  bits_.ipv4 = acl_bits_at<std::uint32_t>(base, header_.ipv4);
  bits_.ipv6 = acl_bits_at<Address128>(base, header_.ipv6);
}

std::string_view AclImage::name(std::uint32_t rule) const {
  const AclRule& entry = rules_[rule];
  return names_.substr(std::min<std::size_t>(entry.name_offset, names_.size()), entry.name_bytes);
}

}  // namespace millrace
