// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0

#include "services/functions/acl/acl_search.hpp"

#include <rte_acl.h>
#include <rte_errno.h>
#include <rte_memory.h>

#include <algorithm>
#include <atomic>
#include <cstring>
#include <string>
#include <vector>

#include "services/functions/builder/private_eal.hpp"
#include "shared/base/check.hpp"
#include "shared/base/error.hpp"

// A packet whose ports are not known matches no rule that asks for some. A trie cannot say that of
// a field, so such packets have tries of their own, over the rules that ask for none.

namespace millrace {
namespace {

constexpr std::uint32_t kFieldsMax = 15;
using BuildRule = std::array<std::byte, RTE_ACL_RULE_SZ(kFieldsMax)>;

constexpr std::uint32_t kIpv6 = 1, kWithPorts = 2;  // bits of a kind of keys

constexpr std::uint32_t kind_of(const AclKey& key) {
  return (key.version == 4 ? 0u : kIpv6) | (key.has_ports != 0 ? kWithPorts : 0u);
}

/// Fields of one kind in the order of their `input_index`: rte_acl takes the first byte, then words
/// of four bytes, in network order.
class Fields {
 public:
  Fields(std::uint32_t kind, bool flags, bool conditions)
      : kind_(kind), flags_(flags), conditions_(conditions) {
    add(RTE_ACL_FIELD_TYPE_BITMASK, 1, offsetof(AclKey, protocol), true);
    const std::uint32_t words = (kind & kIpv6) != 0 ? 4 : 1;
    for (const std::size_t start : {offsetof(AclKey, source), offsetof(AclKey, destination)}) {
      for (std::uint32_t word = 0; word < words; ++word) {
        add(RTE_ACL_FIELD_TYPE_MASK, 4, start + word * 4, true);
      }
    }
    if ((kind & kWithPorts) != 0) {
      add(RTE_ACL_FIELD_TYPE_RANGE, 2, offsetof(AclKey, source_port), true);
      add(RTE_ACL_FIELD_TYPE_RANGE, 2, offsetof(AclKey, destination_port), false);
      if (flags) add(RTE_ACL_FIELD_TYPE_BITMASK, 4, 0, true);
    }
    if (!conditions) return;
    add(RTE_ACL_FIELD_TYPE_RANGE, 2, offsetof(AclKey, vlan), true);
    add(RTE_ACL_FIELD_TYPE_RANGE, 2, offsetof(AclKey, icmp), false);
    add(RTE_ACL_FIELD_TYPE_BITMASK, 4, offsetof(AclKey, marks), true);
  }

  const rte_acl_config& config() const { return config_; }
  std::uint32_t rule_bytes() const { return RTE_ACL_RULE_SZ(config_.num_fields); }

  /// `out`: rule_bytes(), aligned as rte_acl_rule.
  void write(const AclRule& rule, std::uint32_t number, std::byte* out) const {
    auto& to = *reinterpret_cast<rte_acl_rule*>(out);
    to.data = {.category_mask = 1,
               .priority = static_cast<std::int32_t>(RTE_ACL_MAX_PRIORITY - number),
               .userdata = number + 1};
    rte_acl_field* field = to.field;
    *field++ = {.value = {.u8 = rule.protocol}, .mask_range = {.u8 = rule.protocol_mask}};
    field = write_address(rule.source, rule.source_length, field);
    field = write_address(rule.destination, rule.destination_length, field);
    if ((kind_ & kWithPorts) != 0) {
      *field++ = range(rule.source_port_low, rule.source_port_high);
      *field++ = range(rule.destination_port_low, rule.destination_port_high);
      if (flags_) *field++ = {.value = {.u32 = rule.flags}, .mask_range = {.u32 = rule.flags_mask}};
    }
    if (!conditions_) return;
    *field++ = range(rule.vlan_low, rule.vlan_high);
    *field++ = range(rule.icmp_low, rule.icmp_high);
    *field = {.value = {.u32 = rule.marks}, .mask_range = {.u32 = rule.marks_mask}};
  }

 private:
  void add(std::uint8_t type, std::uint8_t bytes, std::size_t offset, bool new_input) {
    inputs_ += new_input ? 1 : 0;
    config_.num_categories = 1;
    config_.defs[config_.num_fields] = {
        .type = type,
        .size = bytes,
        .field_index = static_cast<std::uint8_t>(config_.num_fields),
        .input_index = static_cast<std::uint8_t>(inputs_ - 1),
        .offset = static_cast<std::uint32_t>(offset)};
    ++config_.num_fields;
  }

  static rte_acl_field range(std::uint16_t low, std::uint16_t high) {
    return {.value = {.u16 = low}, .mask_range = {.u16 = high}};
  }

  rte_acl_field* write_address(const std::uint8_t* bytes, unsigned length,
                               rte_acl_field* field) const {
    const unsigned words = (kind_ & kIpv6) != 0 ? 4 : 1;
    for (unsigned word = 0; word < words; ++word) {
      std::uint32_t value;
      std::memcpy(&value, bytes + std::size_t{word} * 4, sizeof value);
      const unsigned bits = length > word * 32 ? std::min(length - word * 32, 32u) : 0;
      *field++ = {.value = {.u32 = __builtin_bswap32(value)}, .mask_range = {.u32 = bits}};
    }
    return field;
  }

  std::uint32_t kind_;
  bool flags_, conditions_;
  rte_acl_config config_{};
  std::uint32_t inputs_ = 0;
};

bool is_of(const AclRule& rule, std::uint32_t kind) {
  const std::uint8_t family = (kind & kIpv6) != 0 ? kAclIpv6 : kAclIpv4;
  if ((rule.families & family) == 0) return false;
  return (kind & kWithPorts) != 0 || !acl_asks_for_ports(rule);
}

/// The fastest that this processor and rte_acl have in common.
void choose_method(rte_acl_ctx* context) {
  for (const enum rte_acl_classify_alg method :
       {RTE_ACL_CLASSIFY_AVX512X32, RTE_ACL_CLASSIFY_AVX512X16, RTE_ACL_CLASSIFY_AVX2,
        RTE_ACL_CLASSIFY_SSE, RTE_ACL_CLASSIFY_SCALAR}) {
    if (rte_acl_set_ctx_classify(context, method) == 0) return;
  }
}

rte_acl_ctx* create(std::uint32_t rule_bytes, std::size_t rule_count) {
  static std::atomic<std::uint32_t> made{0};
  const std::string name = "acl" + std::to_string(made++);
  const rte_acl_param param{.name = name.c_str(),
                            .socket_id = SOCKET_ID_ANY,
                            .rule_size = rule_bytes,
                            .max_rule_num = static_cast<std::uint32_t>(rule_count)};
  rte_acl_ctx* const context = rte_acl_create(&param);
  if (context == nullptr) throw system_error("make a table of rte_acl", rte_errno);
  return context;
}

void build(rte_acl_ctx* context, const Fields& fields, std::span<const AclRule> rules,
           const std::vector<std::uint32_t>& numbers) {
  alignas(rte_acl_rule) BuildRule built{};
  for (const std::uint32_t number : numbers) {
    fields.write(rules[number], number, built.data());
    const auto* const one = reinterpret_cast<const rte_acl_rule*>(built.data());
    if (const int error = rte_acl_add_rules(context, one, 1); error != 0) {
      throw system_error("give rule " + std::to_string(number) + " to rte_acl", -error);
    }
  }
  if (const int error = rte_acl_build(context, &fields.config()); error != 0) {
    throw system_error("build a table of rte_acl for " + std::to_string(numbers.size()) + " rules",
                       -error);
  }
  choose_method(context);
}

}  // namespace

void AclSearch::Free::operator()(rte_acl_ctx* context) const noexcept { rte_acl_free(context); }

AclSearch::AclSearch(std::span<const AclRule> rules) {
  start_private_eal();
  const bool flags =
      std::ranges::any_of(rules, [](const AclRule& rule) { return rule.flags_mask != 0; });
  const bool conditions = std::ranges::any_of(rules, acl_has_conditions);
  for (std::uint32_t kind = 0; kind < contexts_.size(); ++kind) {
    std::vector<std::uint32_t> numbers;
    for (std::uint32_t i = 0; i < rules.size(); ++i) {
      if (is_of(rules[i], kind)) numbers.push_back(i);
    }
    if (numbers.empty()) continue;
    const Fields fields(kind, flags, conditions);
    contexts_[kind].reset(create(fields.rule_bytes(), numbers.size()));
    build(contexts_[kind].get(), fields, rules, numbers);
  }
}

AclSearch::~AclSearch() = default;

void AclSearch::look_up(std::span<const AclKey> keys,
                        std::span<std::uint32_t> words) const noexcept {
  MILLRACE_CHECK(keys.size() <= kAclKeysMax && words.size() >= keys.size());
  const std::uint8_t* data[kAclKeysMax];
  std::uint32_t found[kAclKeysMax];
  std::uint8_t places[kAclKeysMax];
  for (std::uint32_t kind = 0; kind < contexts_.size(); ++kind) {
    std::uint32_t count = 0;
    for (std::size_t i = 0; i < keys.size(); ++i) {
      data[count] = reinterpret_cast<const std::uint8_t*>(&keys[i]);
      places[count] = static_cast<std::uint8_t>(i);
      count += kind_of(keys[i]) == kind ? 1 : 0;
    }
    if (count == 0) continue;
    const rte_acl_ctx* const context = contexts_[kind].get();
    if (context == nullptr) {
      for (std::uint32_t i = 0; i < count; ++i) words[places[i]] = kAclNoRule;
      continue;
    }
    MILLRACE_CHECK(rte_acl_classify(context, data, found, count, 1) == 0);
    for (std::uint32_t i = 0; i < count; ++i) words[places[i]] = found[i];
  }
}

}  // namespace millrace
