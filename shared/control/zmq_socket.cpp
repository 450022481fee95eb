// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#include "shared/control/zmq_socket.hpp"

#include <unistd.h>
#include <algorithm>

#include <cerrno>

#include "shared/base/check.hpp"
#include "shared/base/error.hpp"
#include "shared/control/messages.hpp"

namespace millrace {
namespace {

constexpr int kQueuedMessagesMax = 1000;
constexpr std::chrono::milliseconds kReconnect{50};
constexpr std::chrono::milliseconds kReconnectMax{1000};

template <class Work>
void at_endpoint(const std::string& doing, const std::string& endpoint, Work&& work) {
  try {
    work();
  } catch (const zmq::error_t& error) {
    throw Error(doing + " " + endpoint + ": " + error.what());
  }
}

}  // namespace

zmq::message_t to_frame(const std::vector<std::byte>& bytes) {
  return {bytes.data(), bytes.size()};
}

std::span<const std::byte> bytes_of(const zmq::message_t& frame) {
  return {static_cast<const std::byte*>(frame.data()), frame.size()};
}

ZmqSocket::ZmqSocket(int type) : ZmqSocket(std::make_shared<zmq::context_t>(1), type) {}

ZmqSocket::ZmqSocket(const ZmqSocket& beside, int type) : ZmqSocket(beside.context_, type) {}

ZmqSocket::ZmqSocket(std::shared_ptr<zmq::context_t> context, int type)
    : context_(std::move(context)), socket_(*context_, type) {
  socket_.set(zmq::sockopt::linger, 0);
  socket_.set(zmq::sockopt::sndtimeo, 0);
  socket_.set(zmq::sockopt::sndhwm, kQueuedMessagesMax);
  socket_.set(zmq::sockopt::rcvhwm, kQueuedMessagesMax);
  socket_.set(zmq::sockopt::maxmsgsize, static_cast<std::int64_t>(kMessageBytesMax));
}

void ZmqSocket::be_server() {
  socket_.set(zmq::sockopt::router_mandatory, true);
  socket_.set(zmq::sockopt::router_handover, true);
  const uid_t user = ::geteuid();
  if (zmq_setsockopt(socket_.handle(), ZMQ_IPC_FILTER_UID, &user, sizeof user) != 0) {
    throw system_error("restrict control to user " + std::to_string(user), errno);
  }
}

void ZmqSocket::be_client(const std::string& identity) {
  socket_.set(zmq::sockopt::immediate, true);
  socket_.set(zmq::sockopt::reconnect_ivl, static_cast<int>(kReconnect.count()));
  socket_.set(zmq::sockopt::reconnect_ivl_max, static_cast<int>(kReconnectMax.count()));
  if (!identity.empty()) socket_.set(zmq::sockopt::routing_id, identity);
}

void ZmqSocket::bind(const std::string& endpoint) {
  at_endpoint("bind", endpoint, [&] { socket_.bind(endpoint); });
}

void ZmqSocket::connect(const std::string& endpoint) {
  at_endpoint("connect", endpoint, [&] { socket_.connect(endpoint); });
}

bool ZmqSocket::send(std::vector<zmq::message_t> frames) {
  MILLRACE_CHECK(!frames.empty());
  for (std::size_t i = 0; i < frames.size(); ++i) {
    const auto flags = zmq::send_flags::dontwait |
                       (i + 1 < frames.size() ? zmq::send_flags::sndmore : zmq::send_flags::none);
    if (!socket_.send(frames[i], flags)) return false;
  }
  return true;
}

bool ZmqSocket::writable_within(std::chrono::milliseconds timeout) {
  zmq::pollitem_t item{socket_.handle(), 0, ZMQ_POLLOUT, 0};
  return zmq_poll(&item, 1, timeout.count()) > 0;
}

std::optional<std::vector<zmq::message_t>> ZmqSocket::receive() {
  std::vector<zmq::message_t> frames;
  do {
    if (!socket_.recv(frames.emplace_back(), zmq::recv_flags::dontwait)) return std::nullopt;
  } while (frames.back().more());
  return frames;
}

bool wait_readable(std::span<ZmqSocket* const> sockets, std::span<const int> descriptors,
                   std::chrono::milliseconds timeout) {
  MILLRACE_CHECK(std::ranges::find(sockets, nullptr) == sockets.end());
  std::vector<zmq::pollitem_t> items;
  for (ZmqSocket* socket : sockets) items.push_back({socket->handle(), 0, ZMQ_POLLIN, 0});
  for (int descriptor : descriptors) items.push_back({nullptr, descriptor, ZMQ_POLLIN, 0});
  // An interrupted wait is a short one: the caller looks at everything anyhow.
  if (zmq_poll(items.data(), static_cast<int>(items.size()), timeout.count()) <= 0) return false;
  for (std::size_t i = sockets.size(); i < items.size(); ++i) {
    if (items[i].revents != 0) return true;
  }
  return false;
}

}  // namespace millrace
