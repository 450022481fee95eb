// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "shared/actor/context.hpp"
#include "shared/driver/buffer_handler.hpp"
#include "shared/recovery/driver_queues.hpp"

/// The hub as DPDK's primary process: makes, configures and starts the dpdk ports of the plan. When
/// one of a port's users has died the port is stopped, its queues are set up anew and it is started
/// again; the others keep away meanwhile (shared/driver/pause.hpp). What they had in its rings goes
/// back to where it belongs.

namespace millrace {

class DpdkPorts final : public DriverBuffers, public DriverQueues {
 public:
  /// Makes and starts the ports; EAL runs, and no other actor yet. Throws Error that says what the
  /// device cannot do and what it can.
  explicit DpdkPorts(const ActorContext& context);
  DpdkPorts(const DpdkPorts&) = delete;  // drivers call this very object
  DpdkPorts& operator=(const DpdkPorts&) = delete;
  /// Stops and removes the ports: their users have ended.
  ~DpdkPorts() override;

  bool stop(std::uint32_t actor) override;
  bool start(std::uint32_t actor, std::vector<std::uint32_t>& rest) override;

  /// Every second or so: calls `tell(port, up)` for each port whose link has changed since, and a
  /// memif server that has gone or is not there yet.
  void watch_links(const std::function<void(const std::string&, bool)>& tell);

  bool take(std::uint32_t stream, std::span<std::uint32_t> out) noexcept override;
  void put(std::uint32_t stream, std::span<const std::uint32_t> buffers) noexcept override;
  void put_sent(std::uint32_t queue, std::span<rte_mbuf* const> headers) noexcept override;

 private:
  struct Port {
    std::uint32_t plan = 0;    ///< index in the plan
    std::uint16_t number = 0;  ///< DPDK's
    bool made = false;
    bool runs = false;
    std::uint64_t stopped_at_ns = 0;
    bool refuses = false;  ///< did not start again, and that was said
    bool link_up = false;
    std::uint32_t looks_down = 0;  ///< times in a row that its link was found down
  };
  /// Where an actor's way from fenced to vacant is.
  enum class Restart : std::uint8_t {
    kNone,
    kStopped,  ///< no driver touches its buffers
    kFreed,    ///< recovery has them
  };
  void open(Port& port);
  void run(Port& port);
  bool restart(Port& port);
  bool lives(std::uint32_t actor) const;
  bool uses(std::uint32_t actor, const Port& port) const;
  void flush_sent_headers() noexcept;
  void reset_headers(std::uint32_t actor);
  void refill_from(std::uint32_t stream);
  void return_rest(std::vector<std::uint32_t>& rest);

  ActorContext context_;
  Mbufs mbufs_;
  std::uint32_t egress_count_ = 0;
  std::vector<Port> ports_;
  std::vector<Restart> restarts_;  ///< by actor
  std::vector<SendHeaders> send_headers_;
  std::vector<DriverPool> pools_;                  ///< by stream
  std::vector<DriverPool> send_pools_;             ///< by send_headers_
  std::vector<std::vector<std::uint32_t>> empty_;  ///< by stream: for the ring being filled
  std::vector<std::uint32_t> sent_;                ///< of living egresses, out of stopped rings
};

}  // namespace millrace
