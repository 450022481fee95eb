// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <string>
#include <vector>

#include "services/functions/firewall/firewall_chains.hpp"

/// The kernel's SYN proxy takes what an earlier table leaves untracked: SYNs by `notrack` there,
/// and ACKs of no connection. Here each SYN is tracked until a rule takes it.

namespace millrace {

/// What leaves SYNs untracked: the rules of the first chain on prerouting, as far as they do
/// nothing else.
class FirewallNotrack {
 public:
  /// One rule of that chain, in order; `is_notrack`: it does that alone. Behind one that does
  /// something else, or that is not understood, none counts.
  void add(const FirewallLine& line, bool is_notrack);
  /// Rules that leave other packets untracked too: `flow` tracks those.
  const std::vector<std::string>& left_out() const { return left_out_; }
  /// `line`, of Verdict::kSynproxy, asks for untracked and invalid packets alone: it becomes one
  /// for SYNs that are not tracked, and for ACKs to the same. Throws AclRefusal for others, and
  /// where nothing says `notrack` of them.
  void apply(FirewallLine& line) const;
  /// The same to all of that verdict; what is refused is said in their `refusal`.
  void apply_to(FirewallChains& chains) const;

 private:
  std::vector<AclRule> matches_;
  std::vector<std::string> left_out_;
  bool closed_ = false;
};

}  // namespace millrace
