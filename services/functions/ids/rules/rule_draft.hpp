// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "services/functions/ids/rules/rule_set.hpp"
#include "services/functions/ids/rules/signature.hpp"

/// A rule while its options are read.

namespace millrace {

/// One option of a rule: "name" or "name: value". Of Snort 3, "content:"a",nocase,offset 5" is one
/// option.
struct RuleOption {
  std::string name;
  std::string value;  ///< as it stands there, without blanks around; quotes and escapes are in it
  bool has_value = false;
};

/// Thrown for what a rule may not have, or what is not understood.
struct RuleRefused {
  std::string keyword;
  std::string reason;
};

struct RuleDraft {
  const RuleSetup& setup;
  std::vector<std::string>& flowbits;  ///< RuleSet::flowbits: a new name is put behind them
  RuleFiles& files;                    ///< RuleSet::files: one that is not there is read
  Signature signature{};
  // Where the next test goes.
  RuleBuffer buffer = RuleBuffer::kPayload;
  std::vector<Transform> transforms{};
  // The content that modifiers behind it are about.
  struct Place {
    std::size_t buffer, test;  ///< in signature.buffers
  };
  std::optional<Place> last_content{};
  std::optional<Place> last_test{};  ///< Suricata: a relative test behind it is about its buffer
  std::map<std::string, std::uint8_t, std::less<>> variables{};
  std::optional<Place> wanted_fast_pattern{};  ///< `fast_pattern`, with the part it names
  std::uint16_t fast_offset = 0, fast_length = 0;
  bool fast_pattern_only = false;
  bool at_buffer = false;     ///< a sticky buffer or a transform is the option before
  bool begins_value = false;  ///< the next test begins BufferTests of its own (`many`)
  bool has_flow = false, has_priority = false;
  bool has_app_protocol = false;        ///< `app-layer-protocol`
  std::vector<std::string> services{};  ///< `service` of Snort
  bool is_snort3 = false;  ///< its head has no addresses, or an option the form of Snort 3
};

/// Puts one option into the draft. Throws RuleRefused: unknown keyword, bad value, bad place.
void apply_option(const RuleOption& option, RuleDraft& draft);
/// Behind the last option: chooses the fast pattern, refuses what contradicts itself (a sid is
/// missing, HTTP buffers over UDP, buffers of both directions with no `flow` that fits, ...).
void finish_draft(RuleDraft& draft);

}  // namespace millrace
