// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <string>

#include "io-worker/ports/port.hpp"
#include "io-worker/ports/settings.hpp"
#include "shared/base/unique_fd.hpp"

/// Device `afpacket`: a network interface by packet sockets. Settings: README.md.

namespace millrace {

struct AfpacketSettings {
  std::string interface;
  std::uint32_t queues = 0;
  std::uint32_t queues_max = 0;  ///< that it can get while it runs; 0: it keeps those it has
  std::uint32_t ring = 0;        ///< frames of each receive queue
  bool host = false;             ///< the kernel's own stack receives too
  bool super_frames = false;     ///< come and go over its cable (super_frame.hpp)

  /// Parts that its flows are divided into; a queue reads any number of them.
  std::uint32_t shares() const noexcept { return std::max(queues, queues_max); }
};

/// The setting `interface`. Throws Error when it is missing or too long for a name.
std::string interface_setting(const PortSettings& settings);
/// Throws Error for a bad setting.
AfpacketSettings afpacket_settings(const PlanPort& port);
/// Settings only: the interface is looked at when it is taken.
void check_afpacket(const PlanPort& port);
PortQueues afpacket_queues(const PlanPort& port);
InterfaceWish afpacket_interface(const PlanPort& port);

/// Bytes of the longest frame of a port: its MTU, Ethernet and two VLAN tags.
constexpr std::uint32_t longest_frame(std::uint32_t mtu) { return mtu + 14 + 8; }

/// The longest super-frame: an IP packet of 65,535 bytes, Ethernet and two VLAN tags.
inline constexpr std::uint32_t kSuperFrameBytesMax = longest_frame(65535);

/// A packet socket that receives nothing yet. Throws Error (CAP_NET_RAW).
UniqueFd open_packet_socket();
/// Throws Error "<what>: ...".
void bind_packet_socket(const UniqueFd& socket, const std::string& interface,
                        std::uint16_t protocol);

/// While the socket is open the interface receives what is for other stations too. Throws Error.
void receive_all(const UniqueFd& socket, const std::string& interface);
/// A transmit queue of open_afpacket_tx(), by the interface that was taken for this name.
/// `super_frames`: successive segments of a TCP connection leave as one (segment_run.hpp).
std::unique_ptr<TxQueue> open_packet_tx(const std::string& interface, const std::string& run_dir,
                                        bool super_frames = false);

/// Receives by rings that the kernel fills (packet_ring.hpp), and copies the packets of each frame
/// into buffers (frame_reader.hpp). A port with several queues has RxShares (ring_share.hpp). Hub
/// and standby keep the sockets (kept_file.hpp), so these go on receiving when their reader dies:
/// the next reader begins where that one was, and no flow goes to another share meanwhile. Packets
/// that arrive while the interface is down, or before admit(), are not seen.
std::unique_ptr<RxQueue> open_afpacket_rx(const PlanPort& port, std::uint32_t queue,
                                          ShareSet shares, const BufferSource& pool,
                                          const std::string& run_dir);

/// Sends by a packet socket, past the queueing discipline. The kernel copies: no buffer stays with
/// the queue. failed() while the interface is down.
std::unique_ptr<TxQueue> open_afpacket_tx(const PlanPort& port, const std::string& run_dir);

}  // namespace millrace
