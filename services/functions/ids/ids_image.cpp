// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#include "services/functions/ids/ids_image.hpp"

#include <algorithm>
#include <cstring>
#include <utility>

#include "services/functions/ids/detect/prefilter.hpp"
#include "services/functions/ids/image_fields.hpp"
#include "shared/base/error.hpp"
#include "shared/base/fnv.hpp"
#include "shared/base/limits.hpp"

namespace millrace {
namespace {

/// Behind the ImageHeader; ranges are of the file.
struct Parts {
  std::uint64_t fields_offset, fields_bytes;
  std::uint64_t prefilter_offset, prefilter_bytes;
};

constexpr ImageKind kKind{"ids", fnv1a({2, sizeof(ImageHeader), sizeof(Parts), sizeof(Signature),
                                        kRuleBufferCount, kFlowbitsMax})};

void put_setup(const RuleSetup& setup, FieldWriter& to) {
  to.put<std::uint64_t>(setup.variables.size());
  for (const auto& [name, value] : setup.variables) {
    to.put_text(name);
    to.put_text(value);
  }
  to.put<std::uint64_t>(setup.classes.size());
  for (const auto& [name, one] : setup.classes) {
    to.put_text(name);
    to.put(one.first);
    to.put_text(one.second);
  }
}

void put_files(const RuleFiles& files, FieldWriter& to) {
  to.put<std::uint64_t>(files.size());
  for (const auto& [name, text] : files) {
    to.put_text(name);
    to.put_text(text);
  }
}

RuleFiles take_files(FieldReader& from) {
  RuleFiles files;
  for (auto left = from.take<std::uint64_t>(); left != 0; --left) {
    std::string name = from.take_text();
    files[std::move(name)] = from.take_text();
  }
  return files;
}

RuleSetup take_setup(FieldReader& from) {
  RuleSetup setup;
  for (auto left = from.take<std::uint64_t>(); left != 0; --left) {
    std::string name = from.take_text();
    setup.variables[std::move(name)] = from.take_text();
  }
  for (auto left = from.take<std::uint64_t>(); left != 0; --left) {
    std::string name = from.take_text();
    const auto priority = from.take<std::uint8_t>();
    setup.classes[std::move(name)] = {priority, from.take_text()};
  }
  return setup;
}

void put_threshold(const std::optional<Threshold>& threshold, FieldWriter& to) {
  to.put<std::uint8_t>(threshold ? 1 : 0);
  if (!threshold) return;
  to.put(threshold->kind);
  to.put(threshold->by);
  to.put(threshold->count);
  to.put(threshold->seconds);
}

std::optional<Threshold> take_threshold(FieldReader& from) {
  if (from.take<std::uint8_t>() == 0) return std::nullopt;
  Threshold threshold;
  threshold.kind = from.take<Threshold::Kind>();
  threshold.by = from.take<TrackBy>();
  threshold.count = from.take<std::uint32_t>();
  threshold.seconds = from.take<std::uint32_t>();
  return threshold;
}

void put_suppression(const RuleSuppression& suppression, FieldWriter& to) {
  to.put(suppression.gid);
  to.put(suppression.sid);
  to.put(suppression.track);
  to.put<std::uint8_t>(suppression.addresses.is_any ? 1 : 0);
  to.put<std::uint64_t>(suppression.addresses.ranges.size());
  for (const AddressRange& range : suppression.addresses.ranges) {
    to.put(range.version);
    to.put(range.low);
    to.put(range.high);
  }
}

RuleSuppression take_suppression(FieldReader& from) {
  RuleSuppression suppression{};
  suppression.gid = from.take<std::uint32_t>();
  suppression.sid = from.take<std::uint32_t>();
  suppression.track = from.take<RuleSuppression::Track>();
  suppression.addresses.is_any = from.take<std::uint8_t>() != 0;
  for (auto left = from.take<std::uint64_t>(); left != 0; --left) {
    AddressRange& range = suppression.addresses.ranges.emplace_back();
    range.version = from.take<std::uint8_t>();
    range.low = from.take<Ipv6Bytes>();
    range.high = from.take<Ipv6Bytes>();
  }
  return suppression;
}

/// What the text of a rule does not say.
struct BesideRule {
  std::uint32_t gid, sid;
  std::string place;
  std::optional<Threshold> threshold, detection_filter;
};

/// The rules of all texts, each with what stands beside it.
RuleSet take_rules(FieldReader& from, const RuleSetup& setup) {
  std::string text;
  std::vector<BesideRule> beside(from.take<std::uint64_t>());
  for (BesideRule& one : beside) {
    one.gid = from.take<std::uint32_t>();
    one.sid = from.take<std::uint32_t>();
    one.place = from.take_text();
    text += from.take_text() + "\n";
    one.threshold = take_threshold(from);
    one.detection_filter = take_threshold(from);
  }
  RuleSet rules;
  rules.files = take_files(from);
  read_rules(text, "rules of the image", setup, rules);
  if (!rules.refusals.empty()) throw Error(rules.refusals.front().line());
  if (rules.signatures.size() != beside.size()) throw Error("it has other rules than it says");
  for (std::size_t number = 0; number < beside.size(); ++number) {
    Signature& signature = rules.signatures[number];
    BesideRule& one = beside[number];
    if (signature.gid != one.gid || signature.sid != one.sid) {
      throw Error("it has other rules than it says");
    }
    signature.place = std::move(one.place);
    signature.threshold = one.threshold;
    signature.detection_filter = one.detection_filter;
  }
  return rules;
}

FieldWriter fields_of(const IdsRules& rules) {
  FieldWriter fields;
  put_setup(rules.setup, fields);
  fields.put<std::uint64_t>(rules.rules.signatures.size());
  for (const Signature& signature : rules.rules.signatures) {
    fields.put(signature.gid);
    fields.put(signature.sid);
    fields.put_text(signature.place);
    fields.put_text(signature.text);
    put_threshold(signature.threshold, fields);
    put_threshold(signature.detection_filter, fields);
  }
  put_files(rules.rules.files, fields);
  fields.put<std::uint64_t>(rules.suppressions.size());
  for (const RuleSuppression& one : rules.suppressions) put_suppression(one, fields);
  return fields;
}

std::span<const std::byte> part_of(std::span<const std::byte> file, std::uint64_t offset,
                                   std::uint64_t bytes) {
  if (offset > file.size() || bytes > file.size() - offset) {
    throw Error("a part of the image lies outside it");
  }
  return file.subspan(static_cast<std::size_t>(offset), static_cast<std::size_t>(bytes));
}

std::uint32_t hash_of_names(const std::vector<std::string>& names) {
  std::uint64_t hash = kFnvBasis;
  for (const std::string& name : names) {
    for (const char letter : name) hash = fnv1a_add(hash, static_cast<std::uint8_t>(letter));
    hash = fnv1a_add(hash, 0);
  }
  return static_cast<std::uint32_t>(hash ^ hash >> 32) | 1;
}

}  // namespace

void write_ids_image(const std::string& path, const IdsRules& rules, std::uint32_t counters) {
  const FieldWriter fields = fields_of(rules);
  const std::vector<std::byte> prefilter = build_prefilter(rules.rules.signatures);
  Parts parts{};
  parts.fields_offset = sizeof(ImageHeader) + sizeof(Parts);
  parts.fields_bytes = fields.bytes().size();
  parts.prefilter_offset =
      (parts.fields_offset + parts.fields_bytes + kCacheLine - 1) / kCacheLine * kCacheLine;
  parts.prefilter_bytes = prefilter.size();
  ImageWriter writer(path, kKind,
                     static_cast<std::size_t>(parts.prefilter_offset + prefilter.size()));
  std::byte* const base = writer.bytes().data();
  std::memcpy(base + sizeof(ImageHeader), &parts, sizeof parts);
  std::ranges::copy(fields.bytes(), base + parts.fields_offset);
  std::ranges::copy(prefilter, base + parts.prefilter_offset);
  writer.publish(counters);
}

IdsImage::IdsImage(const std::string& path) : file_(path, kKind) {
  while_doing(path, [&] {
    Parts parts;
    std::memcpy(&parts, part_of(file_.bytes(), sizeof(ImageHeader), sizeof parts).data(),
                sizeof parts);
    FieldReader fields(part_of(file_.bytes(), parts.fields_offset, parts.fields_bytes));
    const RuleSetup setup = take_setup(fields);
    rules_ = take_rules(fields, setup);
    for (auto left = fields.take<std::uint64_t>(); left != 0; --left) {
      suppressions_.push_back(take_suppression(fields));
    }
    prefilter_ = part_of(file_.bytes(), parts.prefilter_offset, parts.prefilter_bytes);
    flowbit_names_ = hash_of_names(rules_.flowbits);
  });
}

}  // namespace millrace
