// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string_view>

/// What `reject` of the kernel's packet filter tells the sender, as AclRule::reject says it
/// (nft(8), iptables-extensions(8)).

namespace millrace {

/// `type` and `word`: `reject with TYPE type WORD` of nft, as ("icmpx", "admin-prohibited");
/// ("tcp reset", "") is a RST. Throws AclRefusal.
std::uint8_t reject_of_nft(std::string_view type, std::string_view word);

/// `--reject-with WORD`, of one family: 4 or 6. Throws AclRefusal.
std::uint8_t reject_of_iptables(unsigned version, std::string_view word);

/// Without a word about it: ICMP "port unreachable", for TCP too.
std::uint8_t reject_by_default();

}  // namespace millrace
