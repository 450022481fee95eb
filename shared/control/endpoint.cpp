// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#include "shared/control/endpoint.hpp"

#include <sys/stat.h>
#include <sys/un.h>

#include <cerrno>

#include "shared/control/zmq_socket.hpp"

namespace millrace {

std::string control_endpoint(const std::string& run_dir, const std::string& name) {
  if (run_dir.starts_with("tcp://")) {
    throw Error("control over " + run_dir +
                ": TCP is allowed only with CURVE keys, which are not supported yet; "
                "use a run directory");
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

struct ControlServer::Sockets {
  ZmqSocket socket{ZMQ_ROUTER};
  std::uint64_t bad_frames = 0;

  bool send(const std::string& peer, const ControlMessage& message) noexcept {
    try {
      std::vector<zmq::message_t> frames;
      frames.emplace_back(peer);
      frames.push_back(to_frame(encode_message(message)));
      return socket.send(std::move(frames));
    } catch (const std::exception&) {
      return false;  // the peer went away between its request and the answer
    }
  }

  std::optional<Received> parse(const std::vector<zmq::message_t>& frames) noexcept {
    const std::string peer = frames.empty() ? "" : frames[0].to_string();
    try {
      if (frames.size() != 2) throw Error("message: one frame is expected");
      return Received{peer, decode_message(bytes_of(frames[1]))};
    } catch (const std::exception& error) {
      ++bad_frames;
      send(peer, {.id = 0, .body = ErrorReply{error.what()}});
      return std::nullopt;
    }
  }
};

ControlServer::ControlServer(const std::string& run_dir, const std::string& name)
    : sockets_(std::make_unique<Sockets>()) {
  const std::string endpoint = control_endpoint(run_dir, name);
  if (::chmod(run_dir.c_str(), 0700) != 0) throw system_error("chmod 0700 " + run_dir, errno);
  sockets_->socket.be_server();
  sockets_->socket.bind(endpoint);
}

ControlServer::~ControlServer() = default;

std::optional<Received> ControlServer::receive(std::chrono::milliseconds timeout,
                                               std::span<const int> also) {
  using Clock = std::chrono::steady_clock;
  const auto end = Clock::now() + timeout;
  for (;;) {
    while (auto frames = sockets_->socket.receive()) {
      if (auto received = sockets_->parse(*frames)) return received;
    }
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(end - Clock::now());
    if (left.count() <= 0) return std::nullopt;
    ZmqSocket* const sockets[] = {&sockets_->socket};
    if (wait_readable(sockets, also, left)) return std::nullopt;
  }
}

bool ControlServer::reply(const Received& to, ControlBody body) noexcept {
  return sockets_->send(to.peer, {.id = to.message.id, .body = std::move(body)});
}

bool ControlServer::send(const std::string& peer, ControlBody body) noexcept {
  return sockets_->send(peer, {.id = 0, .body = std::move(body)});
}

std::uint64_t ControlServer::bad_frame_count() const { return sockets_->bad_frames; }

struct ControlClient::Sockets {
  ZmqSocket socket{ZMQ_DEALER};
};

ControlClient::ControlClient(const std::string& run_dir, std::string server,
                             const std::string& identity)
    : server_(std::move(server)), sockets_(std::make_unique<Sockets>()) {
  sockets_->socket.be_client(identity);
  sockets_->socket.connect(control_endpoint(run_dir, server_));
}

ControlClient::~ControlClient() = default;
ControlClient::ControlClient(ControlClient&&) noexcept = default;

bool ControlClient::connected_within(std::chrono::milliseconds timeout) {
  return sockets_->socket.writable_within(timeout);
}

std::uint64_t ControlClient::ask(ControlBody body, std::chrono::milliseconds timeout) {
  const std::uint64_t id = ++last_id_;
  std::vector<zmq::message_t> frames;
  frames.push_back(to_frame(encode_message({.id = id, .body = std::move(body)})));
  return sockets_->socket.send_within(std::move(frames), timeout) ? id : 0;
}

std::optional<ControlBody> ControlClient::answer_within(std::uint64_t id,
                                                        std::chrono::milliseconds timeout) {
  using Clock = std::chrono::steady_clock;
  const auto end = Clock::now() + timeout;
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
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(end - Clock::now());
    if (left.count() <= 0) return std::nullopt;
    ZmqSocket* const sockets[] = {&sockets_->socket};
    wait_readable(sockets, {}, left);
  }
}

ControlBody ControlClient::request(ControlBody body, std::chrono::milliseconds timeout) {
  using Clock = std::chrono::steady_clock;
  const auto end = Clock::now() + timeout;
  const std::string asked = message_name(body);
  const std::uint64_t id = ask(std::move(body), timeout);
  const auto left = std::chrono::ceil<std::chrono::milliseconds>(end - Clock::now());
  auto answer = id == 0 ? std::nullopt : answer_within(id, left);
  if (answer) return std::move(*answer);
  throw Error(server_ + (id != 0 ? " does not answer `" : " is not there to hear `") + asked +
              "` within " + std::to_string(timeout.count()) + " ms");
}

bool ControlClient::send(ControlBody body) noexcept {
  try {
    std::vector<zmq::message_t> frames;
    frames.push_back(to_frame(encode_message({.id = 0, .body = std::move(body)})));
    return sockets_->socket.send(std::move(frames));
  } catch (const std::exception&) {
    return false;  // out of memory, or the context is ending: as if nobody listened
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
