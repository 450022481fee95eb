// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <poll.h>

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "shared/base/unique_fd.hpp"
#include "shared/layout/event_rings.hpp"

namespace millrace {

/// The Unix socket (a stream) at which each client gets every line from when it connected on.
/// No client is waited for: its lines wait in a bounded buffer, it loses lines that find no room
/// there, and it is disconnected when it takes nothing for kClientPatienceNs. One thread; no call
/// blocks.
class EventSocket {
 public:
  static constexpr std::size_t kClientsMax = 16;
  static constexpr std::size_t kBufferBytes = std::size_t{1} << 20;  ///< of each client
  static constexpr std::uint64_t kClientPatienceNs = 10'000'000'000;

  /// Listens at `path`, in place of a socket at which no process answers. `sink`, borrowed, gets
  /// the counts. Throws Error, also when another process answers there.
  EventSocket(const std::string& path, EventSink& sink);
  EventSocket(const EventSocket&) = delete;  // owns the file
  ~EventSocket();

  /// Hands `lines`, each with its end, to all clients.
  void put(std::string_view lines) noexcept;
  /// Adds what turn() waits for to `items`.
  void add_to(std::vector<pollfd>& items) const;
  /// Accepts new clients, sends what can be sent, and closes clients that have left. `now_ns`:
  /// monotonic.
  void turn(std::uint64_t now_ns) noexcept;
  /// True when no line waits for a client.
  bool idle() const noexcept;

 private:
  struct Client {
    UniqueFd file;
    std::string waiting;         ///< lines, from a line's start or within one
    std::uint64_t moved_ns = 0;  ///< when it last took something, or had nothing to take
  };

  void accept_new(std::uint64_t now_ns) noexcept;
  /// False: the client has left.
  bool send(Client& client, std::uint64_t now_ns) noexcept;

  std::string path_;
  EventSink& sink_;
  UniqueFd listener_;
  std::vector<Client> clients_;
};

}  // namespace millrace
