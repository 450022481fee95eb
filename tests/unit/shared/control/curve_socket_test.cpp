// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#include "shared/control/curve_socket.hpp"

#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <functional>

#include "shared/base/error.hpp"
#include "shared/base/unique_fd.hpp"

namespace millrace {
namespace {

using Clock = std::chrono::steady_clock;

/// Room for a host that has no time; what is waited for takes milliseconds.
constexpr std::chrono::seconds kLong{30};
constexpr std::chrono::milliseconds kSlice{5}, kNow{0};

sockaddr_in loopback(std::uint16_t port) {
  sockaddr_in name{};
  name.sin_family = AF_INET;
  name.sin_port = htons(port);
  name.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  return name;
}

UniqueFd connect_to(std::uint16_t port) {
  UniqueFd file(::socket(AF_INET, SOCK_STREAM, 0));
  const sockaddr_in name = loopback(port);
  EXPECT_EQ(::connect(file.get(), reinterpret_cast<const sockaddr*>(&name), sizeof name), 0);
  return file;
}

bool is_readable(int file) {
  pollfd item{file, POLLIN, 0};
  return ::poll(&item, 1, 0) > 0;
}

class CurveSocket : public testing::Test {
 protected:
  /// Lets the server work until `done`; false when that takes too long.
  bool serve_until(const std::function<bool()>& done) {
    const auto end = Clock::now() + kLong;
    while (!done()) {
      if (Clock::now() > end) return false;
      while (auto frames = server_.receive()) {
        heard_.push_back((*frames)[1].to_string());
        server_.send(std::move(*frames));
      }
      wait_readable(server_.sockets(), {}, kSlice);
    }
    return true;
  }
  bool serve_until_refused(std::uint64_t count) {
    return serve_until([&] { return server_.refused_count() >= count; });
  }
  void connect(ZmqSocket& client, const CurveKeys& keys, const std::string& server_key,
               const std::string& address) {
    client.be_client("");
    be_curve_client(client, address, keys, server_key);
    client.connect(address);
  }
  std::uint16_t port() {
    const std::string address = server_.endpoint();
    return static_cast<std::uint16_t>(std::stoi(address.substr(address.rfind(':') + 1)));
  }
  /// Asks; true when the answer came.
  bool is_answered(ZmqSocket& client) {
    bool sent = false;
    return serve_until([&] {
      if (!sent) {
        std::vector<zmq::message_t> frames;
        frames.emplace_back(std::string_view("question"));
        sent = client.send(std::move(frames));
      }
      return client.receive().has_value();
    });
  }

  CurveKeys host_ = make_curve_keys(), client_ = make_curve_keys();
  CurveServer server_{"tcp://127.0.0.1:0", host_, {client_.public_key}};
  std::vector<std::string> heard_;
};

TEST_F(CurveSocket, AnswersWhoIsListed) {
  ZmqSocket client(ZMQ_DEALER);
  connect(client, client_, host_.public_key, server_.endpoint());
  EXPECT_TRUE(is_answered(client));
  EXPECT_EQ(heard_, std::vector<std::string>{"question"});
  EXPECT_EQ(server_.refused_count(), 0U);
}

TEST_F(CurveSocket, RefusesAKeyThatIsNotListed) {
  ZmqSocket client(ZMQ_DEALER);
  connect(client, make_curve_keys(), host_.public_key, server_.endpoint());
  EXPECT_TRUE(serve_until_refused(1));
  EXPECT_FALSE(client.writable_within(kNow));
}

TEST_F(CurveSocket, RefusesWhoTakesItForAnother) {
  ZmqSocket client(ZMQ_DEALER);
  connect(client, client_, make_curve_keys().public_key, server_.endpoint());
  EXPECT_TRUE(serve_until_refused(1));
  EXPECT_FALSE(client.writable_within(kNow));
}

TEST_F(CurveSocket, RefusesAListedKeyWithoutItsSecretHalf) {
  ZmqSocket client(ZMQ_DEALER);
  const CurveKeys forged{client_.public_key, make_curve_keys().secret_key};
  connect(client, forged, host_.public_key, server_.endpoint());
  EXPECT_TRUE(serve_until_refused(1));
  EXPECT_FALSE(client.writable_within(kNow));
}

TEST_F(CurveSocket, RefusesWhoHasNoKey) {
  ZmqSocket client(ZMQ_DEALER);
  client.be_client("");
  client.connect(server_.endpoint());
  EXPECT_TRUE(serve_until_refused(1));
  EXPECT_FALSE(client.writable_within(kNow));
}

TEST_F(CurveSocket, RefusesWhatIsNoZeroMq) {
  std::uint64_t count = 0;
  for (const std::string& text :
       {std::string("GET / HTTP/1.1\r\nHost: here\r\n\r\n"), std::string(200, '\0'),
        std::string(200, '\xff'), std::string()}) {
    UniqueFd file = connect_to(port());
    EXPECT_EQ(::send(file.get(), text.data(), text.size(), MSG_NOSIGNAL),
              static_cast<ssize_t>(text.size()));
    ::shutdown(file.get(), SHUT_WR);
    EXPECT_TRUE(serve_until_refused(++count)) << text;
  }
}

TEST_F(CurveSocket, GoesOnForOthersAfterRefusals) {
  ZmqSocket client(ZMQ_DEALER), stranger(ZMQ_DEALER);
  connect(stranger, make_curve_keys(), host_.public_key, server_.endpoint());
  const UniqueFd silent = connect_to(port());  // in its handshake all the while
  EXPECT_TRUE(serve_until_refused(1));
  connect(client, client_, host_.public_key, server_.endpoint());
  EXPECT_TRUE(is_answered(client));
}

/// Between a client and the server: passes everything on, and keeps what the client said.
class Recorder {
 public:
  explicit Recorder(std::uint16_t to) : to_(to), door_(::socket(AF_INET, SOCK_STREAM, 0)) {
    sockaddr_in name = loopback(0);
    socklen_t bytes = sizeof name;
    auto* const address = reinterpret_cast<sockaddr*>(&name);
    if (::bind(door_.get(), address, bytes) != 0 || ::listen(door_.get(), 1) != 0 ||
        ::getsockname(door_.get(), address, &bytes) != 0) {
      throw system_error("listen", errno);
    }
    address_ = "tcp://127.0.0.1:" + std::to_string(ntohs(name.sin_port));
  }
  const std::string& address() const { return address_; }
  const std::string& said() const { return said_; }
  void pass_on() {
    if (!client_ && is_readable(door_.get())) {
      client_ = UniqueFd(::accept(door_.get(), nullptr, nullptr));
      server_ = connect_to(to_);
    }
    if (!client_) return;
    said_ += pass(client_.get(), server_.get());
    pass(server_.get(), client_.get());
  }

 private:
  static std::string pass(int from, int to) {
    char buffer[4096];
    if (!is_readable(from)) return "";
    const ssize_t count = ::recv(from, buffer, sizeof buffer, 0);
    std::string piece(buffer, count > 0 ? static_cast<std::size_t>(count) : 0);
    EXPECT_EQ(::send(to, piece.data(), piece.size(), MSG_NOSIGNAL),
              static_cast<ssize_t>(piece.size()));
    return piece;
  }

  std::uint16_t to_;
  UniqueFd door_, client_, server_;
  std::string address_, said_;
};

TEST_F(CurveSocket, RefusesASessionThatIsPlayedAgain) {
  Recorder recorder(port());
  ZmqSocket client(ZMQ_DEALER);
  connect(client, client_, host_.public_key, recorder.address());
  bool sent = false, answered = false;
  EXPECT_TRUE(serve_until([&] {
    recorder.pass_on();
    std::vector<zmq::message_t> frames;
    frames.emplace_back(std::string_view("question"));
    if (!sent) sent = client.send(std::move(frames));
    answered = answered || client.receive().has_value();
    return answered;
  }));
  ASSERT_EQ(heard_.size(), 1U);
  ASSERT_EQ(server_.refused_count(), 0U);
  EXPECT_EQ(recorder.said().find("question"), std::string::npos) << "it is not enciphered";
  const UniqueFd replay = connect_to(port());
  const std::string& bytes = recorder.said();
  EXPECT_EQ(::send(replay.get(), bytes.data(), bytes.size(), MSG_NOSIGNAL),
            static_cast<ssize_t>(bytes.size()));
  EXPECT_TRUE(serve_until_refused(1));
  EXPECT_EQ(heard_.size(), 1U) << "it was heard again";
}

TEST(CurveServerAtWork, NamesAnAddressThatItCannotUse) {
  const CurveKeys keys = make_curve_keys();
  EXPECT_THROW(CurveServer("tcp://256.0.0.1:1", keys, {keys.public_key}), Error);
  EXPECT_THROW(CurveServer("tcp://127.0.0.1:0", keys, {"no key"}), Error);
}

}  // namespace
}  // namespace millrace
