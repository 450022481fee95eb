// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "shared/base/unique_fd.hpp"

namespace millrace {

/// What the kernel's ethtool interface says of one network interface. Start-up only. A device that
/// does not know a question gives an empty answer.
class Ethtool {
 public:
  explicit Ethtool(const std::string& interface);

  struct Feature {
    std::string name;  ///< the kernel's: "tx-tcp-segmentation"
    bool active = false;
    bool fixed = false;  ///< cannot be changed
  };
  std::vector<Feature> features() const;
  /// Switches features of these names that the device lets change. Throws Error (CAP_NET_ADMIN).
  void set_features(const std::vector<std::string>& names, bool on) const;
  /// Name of the driver, "veth"; empty when it does not say.
  std::string driver() const;
  /// Receive queues over which the device spreads what arrives; 0: it does not say.
  std::uint32_t rx_queues() const;
  /// errno, or 0.
  int set_rx_queues(std::uint32_t count) const;

 private:
  int call(void* request) const noexcept;  ///< errno, or 0
  std::vector<std::string> feature_names() const;

  std::string interface_;
  UniqueFd socket_;
};

/// The offloads that make a frame on a packet socket another than the one on the wire: merged
/// segments, checksums not filled in, VLAN tags beside the frame. Names as in Feature.
bool is_harmful_offload(const std::string& feature);

/// The driver has another host's stack at its other end and no wire between: checksums that stack
/// leaves to hardware are not filled in.
bool is_virtual_cable(const std::string& driver);

}  // namespace millrace
