// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

#include "services/functions/function.hpp"
#include "services/functions/token_bucket.hpp"
#include "shared/base/packet.hpp"

/// What `reject` does beside the drop: the sender is told, so that it does not wait for a time-out.
/// The answer is a frame of its own (SideKind::kSend); it leaves where the packet came in. Sources:
/// RFC 9293 3.10.7.1, RFC 1812 4.3.2.7, RFC 4443 2.4.

namespace millrace {

/// Of one worker. Data thread.
class AclRejecter {
 public:
  /// `per_second`: answers at most, kBurst at once after a pause; 0: any number.
  explicit AclRejecter(std::uint32_t per_second) : limit_(per_second, kBurst) {}

  /// Asks the egress for a RST to the sender of a TCP segment, or for ICMP "port unreachable" to
  /// that of another packet, or for what `how` says (AclRule::reject), in the name of its
  /// destination: about the packet as it has been sent, whatever functions in front have
  /// translated. The packet stays as it is; the caller drops it. Nothing is sent:
  /// - to what no RFC lets one answer: RSTs, ICMP errors, later fragments, groups, wrong checksums
  /// - when the port that it came from is not known, or an earlier function has chosen its output:
  ///   its MAC addresses are those of the next link then
  /// - above the rate, or without room in the side list
  void tell_sender(const FinishContext& call, std::uint16_t packet, std::uint8_t how = 0) noexcept;

 private:
  static constexpr std::uint32_t kBurst = 50;

  TokenBucket limit_;
};

}  // namespace millrace
