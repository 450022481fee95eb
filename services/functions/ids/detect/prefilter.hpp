// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "services/functions/ids/detect/buffer_value.hpp"
#include "services/functions/ids/detect/rule_routes.hpp"
#include "services/functions/ids/rules/signature.hpp"

/// One multi-pattern search over the fast patterns of all rules, for each kind of buffer: what it
/// does not find cannot match. By Vectorscan.

namespace millrace {

/// Rules whose fast pattern was found: numbers of signatures, ascending, each once.
using Candidates = std::vector<std::uint32_t>;

/// What has rules of its own: the payload of packets of one kind or of streams; all bodies, because
/// file.data holds the bytes of http.request_body or http.response_body; each other buffer.
class ScanGroup {
 public:
  constexpr ScanGroup(PayloadOf kind) noexcept  // NOLINT(google-explicit-*)
      : place_(static_cast<std::uint8_t>(kind)) {}
  /// Not the payload.
  constexpr ScanGroup(RuleBuffer buffer) noexcept  // NOLINT(google-explicit-*)
      : place_(static_cast<std::uint8_t>(kPayloadKinds +
                                         static_cast<std::size_t>(first_of(buffer)))) {}
  constexpr std::size_t place() const noexcept { return place_; }
  static constexpr std::size_t kCount = kPayloadKinds + kRuleBufferCount;

 private:
  static constexpr RuleBuffer first_of(RuleBuffer buffer) noexcept {
    const bool body =
        buffer == RuleBuffer::kHttpRequestBody || buffer == RuleBuffer::kHttpResponseBody;
    return body ? RuleBuffer::kFileData : buffer;
  }
  std::uint8_t place_;
};

/// The databases, as bytes for the image. Builder's thread; seconds for tens of thousands of rules.
/// Throws Error.
std::vector<std::byte> build_prefilter(std::span<const Signature> signatures);

/// Literals that packets carry as they are. A packet of TCP that holds none of them names no rule
/// that fits its ports by its payload, by its stream's new bytes, or by a body that is part of
/// these; one of UDP none by its payload.
struct PayloadLiterals {
  struct Literal {
    std::string bytes;  ///< kGateBytesMin..kGateBytesMax
    bool nocase = false;
    std::uint16_t port = 0;  ///< of either side, which all of its rules ask for; 0: any
    bool operator==(const Literal&) const = default;
  };
  /// A literal of rules that ask for more ports counts for any.
  static constexpr std::size_t kPortsMax = 16;
  std::vector<Literal> tcp, udp;  ///< ascending, each once; one for each port
  std::uint32_t fingerprint = 0;  ///< of both
};
/// In any order of the same signatures they are the same.
PayloadLiterals payload_literals(std::span<const Signature> signatures);
/// Their fingerprint, for the signatures that `built` (build_prefilter) is of. Throws Error.
std::uint32_t payload_fingerprint(std::span<const std::byte> built);

/// What search_segment() has found.
struct FoundLiterals {
  std::vector<std::uint32_t> numbers;
};

/// One thread; allocates at construction only, but for the room of `found`, which is the caller's
/// to keep.
class Prefilter {
 public:
  /// `built`: of build_prefilter() for the same signatures. Throws Error when it is damaged or of
  /// another build or processor.
  Prefilter(std::span<const std::byte> built, std::span<const Signature> signatures);
  ~Prefilter();
  Prefilter(Prefilter&&) noexcept;
  Prefilter& operator=(Prefilter&&) noexcept;

  /// Adds signatures whose gate, of `group`, ends behind the seen bytes of `value`: `found` is
  /// ascending before and behind it. Goes back in front of the seen bytes by as much as the longest
  /// gate needs.
  void search(ScanGroup group, const BufferValue& value, Candidates& found) noexcept;

  /// Looks in the text of a segment for the gates of streams, packets of TCP and bodies at once,
  /// which end behind its seen bytes. `is_clean`: no payload_literals() of TCP are in these.
  void search_segment(const BufferValue& text, FoundLiterals& found,
                      bool is_clean = false) noexcept;
  /// Adds signatures of one of these groups, in no order: all that search() of the new bytes, or of
  /// some of them, would name.
  void name(ScanGroup group, const FoundLiterals& literals, Candidates& found) noexcept;

  /// Signatures that no literal gates (transforms stand before it, or there is none), and whose
  /// first buffer is of this group: always candidates. Ascending.
  std::span<const std::uint32_t> ungated(ScanGroup group) const noexcept;

  /// Bytes of the longest gate of the group, less one.
  std::uint32_t carry(ScanGroup group) const noexcept;

 private:
  struct Parts;
  std::unique_ptr<Parts> parts_;
};

}  // namespace millrace
