// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#include "shared/control/endpoint.hpp"

#include <sys/stat.h>
#include <sys/un.h>

#include <algorithm>
#include <cerrno>

#include "shared/base/check.hpp"
#include "shared/base/patience.hpp"
#include "shared/base/tcp_address.hpp"
#include "shared/control/curve_socket.hpp"
#include "shared/control/zmq_socket.hpp"

namespace millrace {
namespace {

constexpr std::chrono::milliseconds kSlice{10};
constexpr std::chrono::milliseconds kLastWords{1000};
constexpr int kCutMax = 5;  ///< handshakes; connecting anew takes 50 ms, then twice as long

}  // namespace

std::string control_endpoint(const std::string& run_dir, const std::string& name) {
  if (run_dir.starts_with(kTcpScheme)) {
    throw Error("control over " + run_dir +
                ": TCP is allowed only with CURVE keys: `control:` of the topology, and "
                "--at, --key and --server-key of a command");
  }
  const std::string path = run_dir + "/control." + name;
  if (path.size() >= sizeof(sockaddr_un::sun_path)) {
    throw Error("control socket " + path + ": " + std::to_string(path.size()) +
                " bytes are too long for a socket (" +
                std::to_string(sizeof(sockaddr_un::sun_path) - 1) +
                "); choose a shorter --run-dir");
  }
  return "ipc://" + path;
}

std::string actor_peer(std::uint32_t actor) { return "actor." + std::to_string(actor); }

bool may_be_remote(const ControlBody& body) {
  return std::visit(
      []<typename Kind>(const Kind&) {
        if constexpr (requires { Kind::kMayBeRemote; }) {
          return Kind::kMayBeRemote;
        } else {
          return false;
        }
      },
      body);
}

struct ControlServer::Sockets {
  ZmqSocket local{ZMQ_ROUTER};
  std::optional<CurveServer> remote;
  RemoteListen listens;  ///< where and to which `remote` does; no address: there is none
  std::uint64_t bad_frames = 0, refused_before = 0;

  bool send(const std::string& peer, bool by_tcp, const ControlMessage& message) noexcept {
    MILLRACE_CHECK(!by_tcp || !listens.address.empty());
    try {
      std::vector<zmq::message_t> frames;
      frames.emplace_back(peer);
      frames.push_back(to_frame(encode_message(message)));
      if (!by_tcp) return local.send(std::move(frames));
      return remote && remote->send(std::move(frames));
    } catch (const std::exception&) {
      return false;  // the peer went away between its request and the answer
    }
  }

  std::optional<Received> parse(const std::vector<zmq::message_t>& frames, bool by_tcp) noexcept {
    const std::string peer = frames.empty() ? "" : frames[0].to_string();
    try {
      if (frames.size() != 2) throw Error("message: one frame is expected");
      Received received{peer, decode_message(bytes_of(frames[1])), by_tcp};
      const ControlBody& body = received.message.body;
      if (by_tcp && !may_be_remote(body)) {
        throw Error(std::string("`") + message_name(body) +
                    "` is not heard by TCP; status, audit, scale, reload, confirm and down are");
      }
      return received;
    } catch (const std::exception& error) {
      ++bad_frames;
      send(peer, by_tcp, {.id = 0, .body = ErrorReply{error.what()}});
      return std::nullopt;
    }
  }

  void listen() { remote.emplace(listens.address, listens.keys, listens.clients); }

  /// All connections by TCP end when there are too many.
  void end_overrun() {
    if (listens.address.empty() || (remote && !remote->is_overrun())) return;
    if (remote) refused_before += remote->refused_count() + remote->unproved_count();
    remote.reset();
    try {
      listen();
    } catch (const std::exception&) {
      return;  // another process was quicker to take the port: tried again in the next turn
    }
  }

  /// The next message that is there, those of this host first. By TCP one is tried: a client that
  /// sends nonsense without end shall not keep us here.
  std::optional<Received> next() {
    end_overrun();
    while (const auto frames = local.receive()) {
      if (auto received = parse(*frames, false)) return received;
    }
    const auto frames = remote ? remote->receive() : std::nullopt;
    return frames ? parse(*frames, true) : std::nullopt;
  }

  std::vector<ZmqSocket*> all() {
    std::vector<ZmqSocket*> sockets;
    if (remote) sockets = remote->sockets();
    sockets.push_back(&local);
    return sockets;
  }
};

ControlServer::ControlServer(const std::string& run_dir, const std::string& name)
    : sockets_(std::make_unique<Sockets>()) {
  const std::string endpoint = control_endpoint(run_dir, name);
  if (::chmod(run_dir.c_str(), 0700) != 0) throw system_error("chmod 0700 " + run_dir, errno);
  sockets_->local.be_server();
  sockets_->local.bind(endpoint);
}

std::string ControlServer::listen(const RemoteListen& at) {
  MILLRACE_CHECK(sockets_->listens.address.empty() && !at.address.empty());
  sockets_->listens = at;
  try {
    sockets_->listen();
  } catch (const std::exception&) {
    sockets_->listens = {};
    throw;
  }
  sockets_->listens.address = sockets_->remote->endpoint();  // the same port when it is made anew
  return sockets_->listens.address;
}

ControlServer::~ControlServer() = default;

std::optional<Received> ControlServer::receive(std::chrono::milliseconds timeout,
                                               std::span<const int> also) {
  using Clock = std::chrono::steady_clock;
  const auto end = Clock::now() + timeout;
  for (;;) {
    if (auto received = sockets_->next()) return received;
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(end - Clock::now());
    if (left.count() <= 0) return std::nullopt;
    if (wait_readable(sockets_->all(), also, left)) return std::nullopt;
  }
}

bool ControlServer::reply(const Received& to, ControlBody body) noexcept {
  return sockets_->send(to.peer, to.remote, {.id = to.message.id, .body = std::move(body)});
}

bool ControlServer::send(const std::string& peer, ControlBody body) noexcept {
  return sockets_->send(peer, false, {.id = 0, .body = std::move(body)});
}

std::uint64_t ControlServer::refused_count() const {
  return sockets_->bad_frames + sockets_->refused_before +
         (sockets_->remote ? sockets_->remote->refused_count() : 0);
}

struct ControlClient::Sockets {
  ZmqSocket socket{ZMQ_DEALER};
  std::optional<ConnectionWatch> failures;  ///< by TCP: handshakes that failed

  bool refused = false;
  int cut = 0;  ///< handshakes that ended without a word

  /// By TCP: until the server has taken our keys. False when it does not, or is not there.
  bool connects_within(std::chrono::milliseconds timeout) {
    MILLRACE_CHECK(failures.has_value());
    Patience patience(timeout);
    while (!socket.writable_within(kSlice)) {
      if (const auto change = failures->next()) {
        // Without a word: of another server key, or all were sent away with a client's too many.
        const bool word = change->what != ZMQ_EVENT_HANDSHAKE_FAILED_NO_DETAIL;
        refused = word || ++cut == kCutMax;
      }
      if (refused || patience.is_over()) return false;
    }
    return true;
  }
};

ControlClient::ControlClient(const std::string& run_dir, std::string server,
                             const std::string& identity)
    : server_(std::move(server)), sockets_(std::make_unique<Sockets>()) {
  sockets_->socket.be_client(identity);
  sockets_->socket.connect(control_endpoint(run_dir, server_));
}

ControlClient::ControlClient(const RemoteServer& server)
    : server_("supervisor at " + server.address), sockets_(std::make_unique<Sockets>()) {
  sockets_->socket.be_client("");
  be_curve_client(sockets_->socket, server.address, server.keys, server.server_key);
  sockets_->failures.emplace(sockets_->socket, ZMQ_EVENT_HANDSHAKE_FAILED_AUTH |
                                                   ZMQ_EVENT_HANDSHAKE_FAILED_PROTOCOL |
                                                   ZMQ_EVENT_HANDSHAKE_FAILED_NO_DETAIL);
  sockets_->socket.connect(server.address);
}

ControlClient::~ControlClient() = default;
ControlClient::ControlClient(ControlClient&&) noexcept = default;

bool ControlClient::connected_within(std::chrono::milliseconds timeout) {
  return sockets_->socket.writable_within(timeout);
}

std::uint64_t ControlClient::ask(ControlBody body, std::chrono::milliseconds timeout) {
  if (sockets_->failures && !sockets_->connects_within(timeout)) return 0;
  const std::uint64_t id = ++last_id_;
  MILLRACE_CHECK(id != 0);  // 0 is of what is not to be answered
  std::vector<zmq::message_t> frames;
  frames.push_back(to_frame(encode_message({.id = id, .body = std::move(body)})));
  Patience patience(timeout);
  while (!sockets_->socket.writable_within(std::min(timeout, Patience::kLook))) {
    timeout = patience.left();
    if (timeout.count() == 0) return 0;
  }
  return sockets_->socket.send(std::move(frames)) ? id : 0;
}

std::optional<ControlBody> ControlClient::answer_within(std::uint64_t id,
                                                        std::chrono::milliseconds timeout) {
  MILLRACE_CHECK(id != 0 && id <= last_id_);
  Patience patience(timeout);
  for (;;) {
    while (auto answer = receive()) {
      const auto* refusal = std::get_if<ErrorReply>(&answer->body);
      const bool mine = answer->id == id;
      // Without id: the server could not read what we sent.
      if (refusal != nullptr && (mine || answer->id == 0)) {
        throw Error(server_ + ": " + refusal->text);
      }
      if (mine) return std::move(answer->body);
    }
    const auto left = patience.left();
    if (left.count() == 0) return std::nullopt;
    ZmqSocket* const sockets[] = {&sockets_->socket};
    wait_readable(sockets, {}, std::min(left, Patience::kLook));
  }
}

ControlBody ControlClient::request(ControlBody body, std::chrono::milliseconds timeout,
                                   const std::function<bool()>& is_there) {
  const std::string asked = message_name(body);
  Patience patience(timeout);
  std::uint64_t id = ask(body, is_there ? std::min(timeout, kLastWords) : timeout);
  bool gone = false;
  while ((id != 0 || (is_there && !sockets_->refused)) && !gone) {
    const auto left = patience.left();
    gone = is_there && !is_there();
    if (id == 0) {
      if (left.count() == 0) break;
      if (!gone) id = ask(body, std::min(left, Patience::kLook));
      continue;
    }
    // What it said before it went may be on its way.
    auto answer = answer_within(id, gone ? kLastWords : std::min(left, Patience::kLook));
    if (answer) return std::move(*answer);
    if (left.count() == 0) break;
  }
  if (gone) throw Error(server_ + " has ended, and has not answered `" + asked + "`");
  if (sockets_->refused) {
    throw Error(server_ +
                " does not take our keys: --key has to be one of which `clients:` of the topology "
                "lists the public half, --server-key the public half of its `key:`");
  }
  throw NoAnswer(server_ + (id != 0 ? " does not answer `" : " is not there to hear `") + asked +
                 "` within " + std::to_string(timeout.count()) + " ms");
}

bool ControlClient::send(ControlBody body) noexcept {
  try {
    std::vector<zmq::message_t> frames;
    frames.push_back(to_frame(encode_message({.id = 0, .body = std::move(body)})));
    return sockets_->socket.send(std::move(frames));
  } catch (const std::exception&) {
    return false;  // out of memory, or the context is ending: as if no server listened
  }
}

std::optional<ControlMessage> ControlClient::receive() {
  while (auto frames = sockets_->socket.receive()) {
    try {
      if (frames->size() == 1) return decode_message(bytes_of((*frames)[0]));
    } catch (const Error&) {
      continue;  // a server of another build: what it says cannot be a command to us
    }
  }
  return std::nullopt;
}

void ControlClient::wait(std::span<ControlClient> clients, int also,
                         std::chrono::milliseconds timeout) {
  std::vector<ZmqSocket*> sockets;
  for (ControlClient& client : clients) sockets.push_back(&client.sockets_->socket);
  const int descriptors[] = {also};
  wait_readable(sockets, also < 0 ? std::span<const int>() : std::span<const int>(descriptors),
                timeout);
}

}  // namespace millrace
