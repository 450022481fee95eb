// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstddef>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>
#include <zmq.hpp>

/// A ZeroMQ socket with the options of our control plane. Included by endpoint.cpp and
/// curve_socket.hpp only.

namespace millrace {

zmq::message_t to_frame(const std::vector<std::byte>& bytes);
std::span<const std::byte> bytes_of(const zmq::message_t& frame);

/// Owner of a socket and of its context, which sockets beside it share. Linger is 0: nothing unsent
/// keeps a process from ending. One thread. Throws Error with the endpoint.
class ZmqSocket {
 public:
  explicit ZmqSocket(int type);
  ZmqSocket(const ZmqSocket& beside, int type);  ///< in the context of the other one
  ZmqSocket(const ZmqSocket&) = delete;          // handed around by reference only
  ZmqSocket& operator=(const ZmqSocket&) = delete;

  /// Peers of this user only; unknown receivers are told apart; a peer that comes back replaces
  /// itself.
  void be_server();
  /// Sends nothing into the void without a connection. `identity` empty: chosen by the server.
  void be_client(const std::string& identity);
  void bind(const std::string& endpoint);
  void connect(const std::string& endpoint);

  /// All or none of the frames of one message, without waiting. False when no peer can take it now.
  bool send(std::vector<zmq::message_t> frames);
  /// Waits until send() would succeed: for a client, until it is connected.
  bool writable_within(std::chrono::milliseconds timeout);
  /// The frames of one message, without waiting.
  std::optional<std::vector<zmq::message_t>> receive();
  std::string endpoint() const { return socket_.get(zmq::sockopt::last_endpoint); }
  void* handle() { return socket_.handle(); }

 private:
  ZmqSocket(std::shared_ptr<zmq::context_t> context, int type);
  std::shared_ptr<zmq::context_t> context_;
  zmq::socket_t socket_;
};

/// Waits until a socket or one of `descriptors` is readable or time is up; true when a descriptor
/// is. A signal ends the wait too.
bool wait_readable(std::span<ZmqSocket* const> sockets, std::span<const int> descriptors,
                   std::chrono::milliseconds timeout);

}  // namespace millrace
