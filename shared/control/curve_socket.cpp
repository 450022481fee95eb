// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#include "shared/control/curve_socket.hpp"

#include <array>
#include <cstring>

#include "shared/base/check.hpp"
#include "shared/base/error.hpp"

namespace millrace {
namespace {

constexpr const char* kChanges = "inproc://connections";
constexpr const char* kZap = "inproc://zeromq.zap.01";  // RFC 27 says where
constexpr const char* kDomain = "millrace";
constexpr std::chrono::milliseconds kHandshake{
    10'000};                                        // then a client that says nothing is sent away
constexpr std::chrono::milliseconds kPing{10'000};  // and one that has proved itself is asked
constexpr std::chrono::milliseconds kPingAnswer{30'000};
constexpr std::size_t kKeyBytes = 32;
// Frames of a ZAP question behind its delimiter.
constexpr std::size_t kZapFrames = 7, kZapMechanism = 5, kZapKey = 6;

int milliseconds(std::chrono::milliseconds time) { return static_cast<int>(time.count()); }

std::string bytes_of_key(const std::string& text) {
  std::array<std::uint8_t, kKeyBytes> bytes{};
  if (!is_curve_key(text) || zmq_z85_decode(bytes.data(), text.c_str()) == nullptr) {
    throw Error("what should be a public CURVE key is none");
  }
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

void set(ZmqSocket& socket, int option, int value) {
  if (zmq_setsockopt(socket.handle(), option, &value, sizeof value) == 0) return;
  throw system_error("option " + std::to_string(option) + " of a control socket", zmq_errno());
}

void set(ZmqSocket& socket, int option, const std::string& text) {
  if (zmq_setsockopt(socket.handle(), option, text.data(), text.size()) == 0) return;
  throw system_error("option " + std::to_string(option) + " of a control socket", zmq_errno());
}

void use_tcp(ZmqSocket& socket, const std::string& address) {
  if (address.find('[') != std::string::npos) set(socket, ZMQ_IPV6, 1);
  set(socket, ZMQ_HANDSHAKE_IVL, milliseconds(kHandshake));
  set(socket, ZMQ_HEARTBEAT_IVL, milliseconds(kPing));
  set(socket, ZMQ_HEARTBEAT_TIMEOUT, milliseconds(kPingAnswer));
}

}  // namespace

ConnectionWatch::ConnectionWatch(ZmqSocket& socket, int events) : changes_(socket, ZMQ_PAIR) {
  // Without a limit: the I/O thread, which would wait here for us, has no other way out.
  set(changes_, ZMQ_RCVHWM, 0);
  if (zmq_socket_monitor(socket.handle(), kChanges, events) != 0) {
    throw system_error("watch the connections of a control socket", zmq_errno());
  }
  changes_.connect(kChanges);
}

std::optional<ConnectionWatch::Change> ConnectionWatch::next() {
  while (auto frames = changes_.receive()) {
    std::uint16_t what = 0;
    std::int32_t number = 0;
    MILLRACE_CHECK(!frames->empty());
    if ((*frames)[0].size() != sizeof what + sizeof number) continue;
    const auto* bytes = static_cast<const std::byte*>((*frames)[0].data());
    std::memcpy(&what, bytes, sizeof what);
    std::memcpy(&number, bytes + sizeof what, sizeof number);
    return Change{what, number};
  }
  return std::nullopt;
}

CurveServer::CurveServer(const std::string& address, const CurveKeys& keys,
                         const std::vector<std::string>& clients)
    : server_(ZMQ_ROUTER),
      doorman_(server_, ZMQ_REP),
      watch_(server_, ZMQ_EVENT_ACCEPTED | ZMQ_EVENT_HANDSHAKE_SUCCEEDED | ZMQ_EVENT_DISCONNECTED) {
  require_curve();
  for (const std::string& client : clients) clients_.insert(bytes_of_key(client));
  doorman_.bind(kZap);
  set(server_, ZMQ_ROUTER_MANDATORY, 1);
  set(server_, ZMQ_CURVE_SERVER, 1);
  set(server_, ZMQ_CURVE_SECRETKEY, keys.secret_key);
  set(server_, ZMQ_ZAP_DOMAIN, std::string(kDomain));
  use_tcp(server_, address);
  server_.bind(address);
}

/// A question of libzmq: "1.0", number, domain, address, identity, mechanism, key.
void CurveServer::let_in() {
  while (auto question = doorman_.receive()) {
    const auto& asked = *question;
    const bool is_curve =
        asked.size() == kZapFrames && asked[kZapMechanism].to_string_view() == "CURVE";
    const bool known = is_curve && clients_.contains(asked[kZapKey].to_string());
    MILLRACE_CHECK(!known || asked.size() == kZapFrames);  // no other question lets anything in
    std::vector<zmq::message_t> answer;
    answer.emplace_back(std::string_view("1.0"));
    answer.emplace_back(asked.size() > 1 ? asked[1].to_string_view() : std::string_view());
    answer.emplace_back(std::string_view(known ? "200" : "400"));
    for (const std::string_view text : {known ? "listed" : "not listed", "", ""}) {
      answer.emplace_back(text);
    }
    doorman_.send(std::move(answer));
  }
}

/// libzmq names no connection when a handshake succeeds: one that waits is taken off, whichever.
/// The sum is right as soon as all that had to end have ended.
void CurveServer::count_refused() {
  while (const auto change = watch_.next()) {
    if (change->what == ZMQ_EVENT_ACCEPTED) {
      open_.insert(change->number);
      unproved_.insert(change->number);
    } else if (change->what == ZMQ_EVENT_HANDSHAKE_SUCCEEDED) {
      if (!unproved_.empty()) unproved_.erase(unproved_.begin());
    } else {
      open_.erase(change->number);
      if (unproved_.erase(change->number) != 0) ++refused_;
    }
  }
}

std::optional<std::vector<zmq::message_t>> CurveServer::receive() {
  let_in();
  count_refused();
  return server_.receive();
}

void be_curve_client(ZmqSocket& socket, const std::string& address, const CurveKeys& keys,
                     const std::string& server_key) {
  require_curve();
  set(socket, ZMQ_CURVE_SERVERKEY, bytes_of_key(server_key));
  set(socket, ZMQ_CURVE_PUBLICKEY, bytes_of_key(keys.public_key));
  set(socket, ZMQ_CURVE_SECRETKEY, bytes_of_key(keys.secret_key));
  use_tcp(socket, address);
}

}  // namespace millrace
