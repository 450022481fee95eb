// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>

#include "shared/base/error.hpp"
#include "shared/control/curve_keys.hpp"
#include "shared/control/messages.hpp"

/// The two ends of the control plane, over ZeroMQ: a server (hub, standby, supervisor) and its
/// clients (actors, CLI). Endpoints are sockets in the run directory, which only its owner can
/// enter; the server refuses peers of other users besides. The supervisor may listen by TCP too, to
/// the owners of listed CURVE keys, which may put questions and nothing else. Each object belongs
/// to one thread. Nothing here is on the way of a packet.

namespace millrace {

/// Endpoint names of a topology.
inline constexpr const char* kHubEndpoint = "hub";
inline constexpr const char* kStandbyEndpoint = "standby";
inline constexpr const char* kSupervisorEndpoint = "supervisor";

/// "ipc://<run_dir>/control.<name>". Throws Error when the path is too long for a socket, and for a
/// `run_dir` that names a TCP address: that takes keys.
std::string control_endpoint(const std::string& run_dir, const std::string& name);

/// What a client calls itself towards servers: they can address it by that before and after its
/// restart.
std::string actor_peer(std::uint32_t actor);

/// A message at a server, and its sender.
struct Received {
  std::string peer;  ///< opaque, but for actors: actor_peer()
  ControlMessage message;
  bool remote = false;  ///< by TCP
};

/// Where to listen by TCP, and to which clients.
struct RemoteListen {
  std::string address;  ///< "tcp://ADDRESS:PORT"; port 0: any free one
  CurveKeys keys;
  std::vector<std::string> clients;  ///< public keys
};

/// A server that listens so.
struct RemoteServer {
  std::string address;  ///< "tcp://HOST:PORT"
  CurveKeys keys;       ///< of the client
  std::string server_key;
};

/// True for what may be said by TCP: the questions of a CLI.
bool may_be_remote(const ControlBody& body);

class ControlServer {
 public:
  /// Binds `name` in `run_dir`, which gets mode 0700. Throws Error when the address cannot be
  /// bound.
  ControlServer(const std::string& run_dir, const std::string& name);
  ~ControlServer();

  /// Listens by TCP besides. Returns the address, with the port that was found where 0 was asked
  /// for. Throws Error when it cannot be bound or libzmq has no CURVE. With more than 256
  /// connections at a time all of them are ended: an answer that was awaited then is lost, and
  /// strangers that come faster than they are sent away neither use up the files of this process
  /// nor keep the owners of keys out.
  std::string listen(const RemoteListen& at);

  /// The next message, after waiting at most `timeout`; nothing when time is up or when one of the
  /// descriptors `also` has become readable. Frames that are no message, and by TCP those that
  /// are not may_be_remote(), are counted, answered with an ErrorReply and skipped.
  std::optional<Received> receive(std::chrono::milliseconds timeout,
                                  std::span<const int> also = {});
  /// Answers `to`. Never blocks; false when the asker has gone.
  bool reply(const Received& to, ControlBody body) noexcept;
  /// Tells `peer` something that it did not ask for. Never blocks; false when no peer of that name
  /// is connected.
  bool send(const std::string& peer, ControlBody body) noexcept;
  /// What was refused: such frames, and connections by TCP without the right keys.
  std::uint64_t refused_count() const;

 private:
  struct Sockets;
  std::unique_ptr<Sockets> sockets_;
};

/// A server was asked and has said nothing in time.
class NoAnswer : public Error {
 public:
  using Error::Error;
};

/// Time in which the asking thread stood still is none of a `timeout` (patience.hpp).
class ControlClient {
 public:
  /// Connects to endpoint `server`, whether or not a server listens there yet. `identity`:
  /// actor_peer(), or empty for an anonymous one (CLI).
  ControlClient(const std::string& run_dir, std::string server, const std::string& identity = "");
  /// Connects by TCP, without name. Throws Error when the address makes no sense or libzmq has no
  /// CURVE. Of a server that does not take the keys request() says so at once.
  explicit ControlClient(const RemoteServer& server);
  ControlClient(ControlClient&&) noexcept;
  ~ControlClient();

  /// Waits until a server listens; false when none does in time.
  bool connected_within(std::chrono::milliseconds timeout);

  /// Asks; answer_within() of the number that it returns gets the answer. 0 when no server listens
  /// within `timeout`.
  std::uint64_t ask(ControlBody body, std::chrono::milliseconds timeout);
  /// The answer to question `id`, after waiting at most `timeout`; nothing when it has not come.
  /// Throws Error for an ErrorReply (its text, with its sender). Other messages that arrive
  /// meanwhile are dropped.
  std::optional<ControlBody> answer_within(std::uint64_t id, std::chrono::milliseconds timeout);

  /// Sends and waits for the answer. Throws Error when none came in time ("hub does not answer
  /// `drain` within 2000 ms") and for an ErrorReply (its text, with its sender). Other messages
  /// that arrive meanwhile are dropped: use receive() on clients that get commands.
  /// Where `is_there` is given and says no before an answer has come, time is up at once.
  ControlBody request(ControlBody body, std::chrono::milliseconds timeout,
                      const std::function<bool()>& is_there = nullptr);

  /// request() for an answer of type `Answer`; any other answer is an Error.
  template <class Answer>
  Answer request_for(ControlBody body, std::chrono::milliseconds timeout,
                     const std::function<bool()>& is_there = nullptr) {
    const char* asked = message_name(body);
    ControlBody answer = request(std::move(body), timeout, is_there);
    if (auto* wanted = std::get_if<Answer>(&answer)) return std::move(*wanted);
    throw Error(server_ + " answered `" + asked + "` with `" + message_name(answer) + "`");
  }

  /// Never blocks; false when the server does not listen, or read.
  bool send(ControlBody body) noexcept;
  /// The next message from the server, if one is there. Never blocks. Bad frames are skipped.
  std::optional<ControlMessage> receive();
  /// Waits until one of `clients` has a message, `also` is readable, or time is up.
  static void wait(std::span<ControlClient> clients, int also, std::chrono::milliseconds timeout);

 private:
  struct Sockets;
  std::string server_;
  std::unique_ptr<Sockets> sockets_;
  std::uint64_t last_id_ = 0;
};

}  // namespace millrace
