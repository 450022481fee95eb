// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "services/functions/acl/acl_rule.hpp"

/// Words of a rule: what both formats are made of.

namespace millrace {

/// Why a line is refused. Caught by parse_acl_rules(): one line's end is not the file's.
struct AclRefusal {
  std::string reason;
};

/// A cursor over one line: words, blanks between them, `#` in front of a word ends the line.
class AclLine {
 public:
  explicit AclLine(std::string_view text) : text_(text) { skip_blanks(); }
  bool at_end() const { return text_.empty() || text_.front() == '#'; }
  /// True when the next word is `word`, which is taken then.
  bool take(std::string_view word);
  /// The next word. Throws AclRefusal at the end of the line: `what` is missing.
  std::string_view word(const char* what);
  /// The next word, or all up to a closing quote.
  std::string name();

 private:
  std::string_view peek() const;
  void skip_blanks();
  std::string_view text_;
};

/// A whole number in [0, max]; hex behind 0x. Throws AclRefusal, which says `what` it should be.
std::uint32_t acl_number(std::string_view word, std::uint32_t max, const char* what);

/// An address and the length of its prefix.
struct AclPrefix {
  std::uint8_t bytes[16] = {};
  std::uint8_t length = 0;
  std::uint8_t families = kAclIpv4 | kAclIpv6;
};

/// "any", or an IPv4 or IPv6 address with or without "/LENGTH". `cut`: host bits are cleared
/// instead of refused. Throws AclRefusal.
AclPrefix acl_prefix(std::string_view word, bool cut);

/// Puts both into the rule; `families` are those that the rule may have. Throws AclRefusal when
/// nothing could match.
void acl_set_addresses(const AclPrefix& source, const AclPrefix& destination, std::uint8_t families,
                       AclRule& rule);

}  // namespace millrace
