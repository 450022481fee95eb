// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <set>
#include <string>
#include <vector>

#include "shared/control/curve_keys.hpp"
#include "shared/control/zmq_socket.hpp"

/// Control over TCP: sockets that talk to no client without the right CURVE keys. Included by
/// endpoint.cpp only.

namespace millrace {

/// What the I/O thread of a socket says of its connections. One thread, the socket's.
class ConnectionWatch {
 public:
  struct Change {
    int what = 0;    ///< ZMQ_EVENT_*
    int number = 0;  ///< descriptor or errno, as the event has it
  };
  /// `events`: ZMQ_EVENT_*, or-ed. Before `socket` is bound or connected.
  ConnectionWatch(ZmqSocket& socket, int events);
  /// The next change, without waiting.
  std::optional<Change> next();
  ZmqSocket& socket() { return changes_; }

 private:
  ZmqSocket changes_;
};

/// Connections that a server has at a time, of any clients. Far more than operators need, far
/// fewer than the 1,024 files that a process may have open by default: libzmq ends the process that
/// has none left.
inline constexpr std::size_t kRemoteConnectionsMax = 256;

/// A server for the owners of listed keys. Its own context: what strangers do to its I/O thread
/// does not reach the other sockets of the process. One thread.
class CurveServer {
 public:
  /// `clients`: public keys of all clients. Throws Error when the address cannot be bound or
  /// libzmq has no CURVE.
  CurveServer(const std::string& address, const CurveKeys& keys,
              const std::vector<std::string>& clients);

  /// The next message, without waiting: identity, then its frames. Lets clients in too: to be
  /// called whenever one of sockets() is readable.
  std::optional<std::vector<zmq::message_t>> receive();
  bool send(std::vector<zmq::message_t> frames) { return server_.send(std::move(frames)); }
  /// More than kRemoteConnectionsMax connections: strangers have taken the room of clients.
  /// libzmq can bound the time of a handshake but no number, and names no connection, so
  /// the owner ends them all with this object and makes another one: the time between is short, and
  /// clients connect again by themselves.
  bool is_overrun() const { return open_.size() > kRemoteConnectionsMax; }
  /// Connections that have not proved their key yet.
  std::size_t unproved_count() const { return unproved_.size(); }
  /// Connections that ended before they had proved their key: of a wrong one, without one, of a
  /// client that is not listed, of no ZeroMQ at all.
  std::uint64_t refused_count() const { return refused_; }
  /// To wait for.
  std::vector<ZmqSocket*> sockets() { return {&server_, &watch_.socket(), &doorman_}; }
  /// As bound: "tcp://127.0.0.1:41234" where port 0 was asked for.
  std::string endpoint() { return server_.endpoint(); }

 private:
  void let_in();
  void count_refused();

  ZmqSocket server_;
  ZmqSocket doorman_;  ///< ZAP (RFC 27): libzmq asks here whether a key may enter
  ConnectionWatch watch_;
  std::set<std::string> clients_;  ///< 32 bytes each
  std::set<int> open_;             ///< descriptors of connections
  std::set<int> unproved_;         ///< of these, in their handshake
  std::uint64_t refused_ = 0;
};

/// Makes `socket` one end of CURVE as a client, before it is connected.
void be_curve_client(ZmqSocket& socket, const std::string& address, const CurveKeys& keys,
                     const std::string& server_key);

}  // namespace millrace
