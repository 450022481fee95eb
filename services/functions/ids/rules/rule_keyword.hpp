// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "services/functions/ids/rules/rule_draft.hpp"

/// The keywords of rules, by what they are about: each group is one file.

namespace millrace {

enum class KeywordValue : std::uint8_t { kNone, kNeeded, kOptional };
struct RuleKeyword {
  std::string_view name;
  KeywordValue value;
  void (*apply)(const RuleOption& option, RuleDraft& draft);  ///< throws RuleRefused
};
using RuleKeywords = std::span<const RuleKeyword>;

RuleKeywords general_keywords() noexcept;    ///< msg, sid, metadata, ...
RuleKeywords content_keywords() noexcept;    ///< content and what stands behind it
RuleKeywords pcre_keywords() noexcept;       ///< pcre
RuleKeywords byte_keywords() noexcept;       ///< byte_test, byte_jump, ...
RuleKeywords size_keywords() noexcept;       ///< isdataat, bsize, urilen, bufferlen
RuleKeywords header_keywords() noexcept;     ///< what headers of packets have
RuleKeywords flow_keywords() noexcept;       ///< flow, flowbits, app-layer-protocol
RuleKeywords host_bit_keywords() noexcept;   ///< xbits
RuleKeywords threshold_keywords() noexcept;  ///< threshold, detection_filter
RuleKeywords dataset_keywords() noexcept;    ///< dataset
RuleKeywords transform_keywords() noexcept;  ///< to_lowercase, ...
RuleKeywords base64_keywords() noexcept;     ///< base64_decode
RuleKeywords tls_keywords() noexcept;        ///< keywords of TLS that are no sticky buffers
RuleKeywords http2_keywords() noexcept;      ///< http2.frametype, ...
RuleKeywords app_event_keywords() noexcept;  ///< app-layer-event

/// Makes a sticky buffer of the rule's dialect the one that tests behind it are about. False: there
/// is no such buffer.
bool apply_sticky_buffer(const RuleOption& option, RuleDraft& draft);
/// `http_uri` and the like behind a content, in Suricata's dialect. False: there is none.
bool apply_buffer_modifier(const RuleOption& option, RuleDraft& draft);

/// "set", "isnotset", ... of a bit. Throws RuleRefused.
FlowbitTest::What bit_command(std::string_view name);
/// Of the bit with that name, which stands behind `prefix` in RuleSet::flowbits: a new one, or that
/// which another rule has. Throws RuleRefused: too many, or no name.
std::uint16_t flowbit_number(std::string_view name, std::string_view prefix, RuleDraft& draft);

/// Why a keyword that is known is refused; empty: it is not known.
std::string_view reason_of_refusal(std::string_view keyword) noexcept;

// Parts of finish_draft().
void choose_fast_pattern(RuleDraft& draft);
/// Tests of `base64_data` go to the base64_decode of the rule.
void settle_base64(RuleDraft& draft);
/// What buffers say of the protocol and the direction of the rule.
void settle_protocol(RuleDraft& draft);

}  // namespace millrace
