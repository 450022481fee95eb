// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <bitset>
#include <cstddef>
#include <cstdint>
#include <span>

#include "services/functions/ids/protocols/transaction.hpp"
#include "services/functions/ids/rules/signature.hpp"

namespace millrace {

/// What flows may carry that rules ask for which can change a verdict: those with `drop` or
/// `reject`, and those that set flowbits, if there are any of the former. Where no parser reads
/// such a flow, what these rules would say is not known.
class BlockedApps {
 public:
  /// Of nothing.
  BlockedApps() = default;
  explicit BlockedApps(std::span<const Signature> signatures);

  /// Rules ask for transactions of the protocol, for what `direction` of them has. Of a protocol
  /// that is not known yet: of any.
  bool has(AppProtocol protocol, std::uint8_t direction) const noexcept;

 private:
  void add(const Signature& signature, const BufferTests& tests);

  std::array<std::bitset<kAppProtocols>, 2> asked_{};  ///< by direction
};

}  // namespace millrace
