// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>

#include "services/functions/acl/acl_rule.hpp"

struct rte_acl_ctx;

/// The CPU's classifier: DPDK's rte_acl, in memory that belongs to this process alone and dies with
/// it (services/functions/builder/private_eal.hpp).

namespace millrace {

inline constexpr std::size_t kAclKeysMax = 64;  ///< of one call of look_up()

/// One thread. Allocates at construction only, which takes up to seconds for tens of thousands of
/// rules.
class AclSearch {
 public:
  /// Starts the process's private EAL. Throws Error when rte_acl does not take the rules.
  explicit AclSearch(std::span<const AclRule> rules);
  AclSearch(const AclSearch&) = delete;  // two owners would free the tables twice
  AclSearch& operator=(const AclSearch&) = delete;
  ~AclSearch();

  /// Sets words[i] to the result word of keys[i], which is that of an IP packet. At most
  /// kAclKeysMax, the more at once the faster.
  void look_up(std::span<const AclKey> keys, std::span<std::uint32_t> words) const noexcept;

 private:
  struct Free {
    void operator()(rte_acl_ctx* context) const noexcept;
  };
  /// By kind_of() a key. Null: no rule can match such keys.
  std::array<std::unique_ptr<rte_acl_ctx, Free>, 4> contexts_;
};

}  // namespace millrace
