// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "services/functions/acl/acl_bits.hpp"
#include "services/functions/acl/acl_text.hpp"
#include "services/functions/image_file.hpp"

/// The image of `acl`: rules in their order, and the bit vectors over them.
///
///     ImageHeader | AclHeader | rules | names | parts of the bit vectors, IPv4, then IPv6

namespace millrace {

struct AclHeader {
  std::uint32_t rule_count;
  std::uint32_t has_bits;  ///< 0: the bit vectors were left out, they would have been too large
  std::uint64_t rules_at;  ///< offsets are bytes from the start of the file
  std::uint64_t names_at, names_bytes;
  AclBitsHeader ipv4, ipv6;
};
static_assert(sizeof(AclHeader) == 32 + 2 * sizeof(AclBitsHeader) &&
              offsetof(AclHeader, rules_at) == 8 && offsetof(AclHeader, names_at) == 16 &&
              offsetof(AclHeader, ipv4) == 32);

/// What the builder says of the bit vectors.
struct AclBitsReport {
  bool built = false;
  std::string why;          ///< not, when not
  std::uint64_t bytes = 0;  ///< of the whole image
};

/// Writes the image of `rules`, in their order, at `path`. `counter_count`: for the image's header.
/// Throws Error. Builder's thread.
AclBitsReport write_acl_image(const std::string& path, std::span<const AclNamedRule> rules,
                              std::uint32_t counter_count);

/// A published image, mapped. Throws Error when it is damaged or of another build.
class AclImage {
 public:
  explicit AclImage(const std::string& path);
  std::span<const AclRule> rules() const { return rules_; }
  std::string_view name(std::uint32_t rule) const;
  /// Null when the builder left them out.
  const AclBitsTable* bits() const { return header_.has_bits != 0 ? &bits_ : nullptr; }
  /// Header and bytes of the whole file, for a copy in another memory (acl_bits_at()).
  const AclHeader& header() const { return header_; }
  std::span<const std::byte> bytes() const { return file_.bytes(); }

 private:
  MappedImage file_;
  AclHeader header_;
  std::span<const AclRule> rules_;
  std::string_view names_;
  AclBitsTable bits_;
};

}  // namespace millrace
