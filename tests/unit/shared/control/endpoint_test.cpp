// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#include "shared/control/endpoint.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <filesystem>
#include <thread>
#include <zmq.hpp>

#include "shared/base/unique_fd.hpp"
#include "shared/control/curve_socket.hpp"
#include "tests/unit/support/error_of.hpp"

namespace millrace {
namespace {

using test::error_of;

using std::chrono_literals::operator""ms;
using std::chrono_literals::operator""s;
using testing::HasSubstr;

class Endpoint : public testing::Test {
 protected:
  Endpoint() {
    char pattern[] = "/tmp/millrace-control-XXXXXX";
    run_dir_ = ::mkdtemp(pattern);
  }
  ~Endpoint() override { std::filesystem::remove_all(run_dir_); }

  std::string run_dir_;
};

TEST_F(Endpoint, RefusesTcpWithoutKeys) {
  EXPECT_THAT(error_of([] { control_endpoint("tcp://127.0.0.1:5", "hub"); }),
              HasSubstr("only with CURVE keys: `control:` of the topology"));
}

TEST_F(Endpoint, RefusesAPathThatIsTooLongForASocket) {
  EXPECT_THAT(error_of([] { control_endpoint("/" + std::string(100, 'x'), "hub"); }),
              HasSubstr("choose a shorter --run-dir"));
}

TEST_F(Endpoint, ClosesTheRunDirectoryToOthers) {
  ASSERT_EQ(::chmod(run_dir_.c_str(), 0755), 0);
  const ControlServer server(run_dir_, "hub");
  struct stat info {};
  ASSERT_EQ(::stat(run_dir_.c_str(), &info), 0);
  EXPECT_EQ(info.st_mode & 0777, 0700U);
}

TEST_F(Endpoint, NamesAnAddressThatCannotBeBound) {
  EXPECT_THAT(error_of([&] { ControlServer(run_dir_ + "/absent", "hub"); }),
              HasSubstr("/absent: No such file"));
}

TEST_F(Endpoint, AnswersARequestAndRepeatsItsNumber) {
  ControlServer server(run_dir_, "supervisor");
  std::thread serving([&] {
    for (int round = 0; round < 3; ++round) {
      const auto received = server.receive(30s);
      ASSERT_TRUE(received);
      const auto& drain = std::get<Drain>(received->message.body);
      server.reply(*received, Ready{drain.actor});
    }
  });
  ControlClient client(run_dir_, "supervisor");
  for (std::uint32_t count = 0; count < 3; ++count) {
    EXPECT_EQ(client.request_for<Ready>(Drain{count, true}, 30s).actor, count);
  }
  serving.join();
}

TEST_F(Endpoint, TurnsAnErrorReplyIntoAnErrorThatNamesThePeer) {
  ControlServer server(run_dir_, "supervisor");
  std::thread serving([&] {
    if (const auto received = server.receive(30s)) {
      server.reply(*received, ErrorReply{"no group 'frnt'; did you mean 'front'?"});
    }
  });
  ControlClient client(run_dir_, "supervisor");
  EXPECT_EQ(error_of([&] { client.request(ChangeRequest{}, 30s); }),
            "supervisor: no group 'frnt'; did you mean 'front'?");
  serving.join();
}

TEST_F(Endpoint, TurnsAnUnexpectedAnswerIntoAnError) {
  ControlServer server(run_dir_, "hub");
  std::thread serving([&] {
    if (const auto received = server.receive(30s)) server.reply(*received, OkReply{});
  });
  ControlClient client(run_dir_, "hub");
  EXPECT_EQ(error_of([&] { client.request_for<AuditReply>(AuditRequest{}, 30s); }),
            "hub answered `audit` with `ok`");
  serving.join();
}

TEST_F(Endpoint, TellsWhoDidNotAnswerWhatInTime) {
  ControlServer mute(run_dir_, "hub");
  ControlClient client(run_dir_, "hub");
  ASSERT_TRUE(client.connected_within(30s));
  EXPECT_EQ(error_of([&] { client.request(AuditRequest{}, 100ms); }),
            "hub does not answer `audit` within 100 ms");
}

TEST_F(Endpoint, DoesNotCountTimeInWhichTheAskerStoodStill) {
  ControlServer server(run_dir_, "supervisor");
  ControlClient client(run_dir_, "supervisor");
  std::atomic<bool> stood_still = false;
  std::thread serving([&] {
    const auto received = server.receive(30s);
    while (!stood_still) std::this_thread::sleep_for(1ms);
    if (received) server.reply(*received, Ready{7});
  });
  const auto stand_still = [&] {
    if (!stood_still) std::this_thread::sleep_for(11s);
    stood_still = true;
    return true;
  };
  EXPECT_EQ(client.request_for<Ready>(Drain{}, 10s, stand_still).actor, 7U);
  serving.join();
}

TEST_F(Endpoint, TellsThatWhoWasAskedHasEndedAndTakesItsLastWord) {
  ControlServer server(run_dir_, "supervisor");
  ControlClient client(run_dir_, "supervisor");
  const auto has_ended = [] { return false; };
  const auto start = std::chrono::steady_clock::now();
  EXPECT_EQ(error_of([&] { client.request(ChangeRequest{}, 300s, has_ended); }),
            "supervisor has ended, and has not answered `change`");
  EXPECT_LT(std::chrono::steady_clock::now() - start, 60s);
  ASSERT_TRUE(server.receive(30s));
  std::thread serving([&] {
    if (const auto received = server.receive(30s)) server.reply(*received, Ready{7});
  });
  EXPECT_EQ(client.request_for<Ready>(Drain{}, 300s, has_ended).actor, 7U);
  serving.join();
}

TEST_F(Endpoint, TellsThatNobodyIsThere) {
  ControlClient client(run_dir_, "hub");
  EXPECT_EQ(error_of([&] { client.request(DownRequest{}, 50ms); }),
            "hub is not there to hear `down` within 50 ms");
  EXPECT_FALSE(client.send(Ready{1}));
  EXPECT_FALSE(client.connected_within(10ms));
  ControlServer late(run_dir_, "hub");
  EXPECT_TRUE(client.connected_within(30s));
}

TEST_F(Endpoint, IgnoresALateAnswerToAnEarlierRequest) {
  ControlServer server(run_dir_, "hub");
  ControlClient client(run_dir_, "hub");
  ASSERT_TRUE(client.connected_within(30s));
  EXPECT_THAT(error_of([&] { client.request(AuditRequest{}, 100ms); }), HasSubstr("not answer"));
  const auto late = server.receive(30s);
  ASSERT_TRUE(late);
  std::thread serving([&] {
    const auto received = server.receive(30s);
    ASSERT_TRUE(received);
    server.reply(*late, ErrorReply{"too late"});
    server.reply(*received, OkReply{});
  });
  EXPECT_TRUE(std::holds_alternative<OkReply>(client.request(Drain{1, true}, 30s)));
  serving.join();
}

TEST_F(Endpoint, ReachesAnActorByItsNameAlsoAfterItsRestart) {
  ControlServer server(run_dir_, "hub");
  for (int life = 0; life < 2; ++life) {
    ControlClient actor(run_dir_, "hub", actor_peer(4));
    while (!actor.send(Ready{4})) std::this_thread::sleep_for(1ms);
    const auto received = server.receive(30s);
    ASSERT_TRUE(received);
    EXPECT_EQ(received->peer, actor_peer(4));
    EXPECT_TRUE(server.send(actor_peer(4), FollowPlan{7}));
    ControlClient::wait({&actor, 1}, -1, 30s);
    const auto command = actor.receive();
    ASSERT_TRUE(command);
    EXPECT_TRUE(std::holds_alternative<FollowPlan>(command->body));
  }
}

TEST_F(Endpoint, TellsThatAPeerHasGone) {
  ControlServer server(run_dir_, "hub");
  EXPECT_FALSE(server.send(actor_peer(9), FollowPlan{7}));
}

TEST_F(Endpoint, CountsBadFramesAnswersThemAndGoesOn) {
  ControlServer server(run_dir_, "hub");
  zmq::context_t context;
  zmq::socket_t stranger(context, ZMQ_DEALER);
  stranger.set(zmq::sockopt::linger, 0);
  stranger.set(zmq::sockopt::rcvtimeo, 5000);
  stranger.connect(control_endpoint(run_dir_, "hub"));
  stranger.send(zmq::str_buffer("not a message"), zmq::send_flags::none);
  stranger.send(zmq::str_buffer(""), zmq::send_flags::sndmore);
  stranger.send(zmq::str_buffer("two frames"), zmq::send_flags::none);
  ControlClient client(run_dir_, "hub");
  while (!client.send(Ready{3})) std::this_thread::sleep_for(1ms);
  int ready_count = 0;
  for (int wait = 0; wait < 50 && (server.refused_count() < 2 || ready_count < 1); ++wait) {
    if (server.receive(100ms)) ++ready_count;
  }
  EXPECT_EQ(server.refused_count(), 2U);
  EXPECT_EQ(ready_count, 1);
  zmq::message_t answer;
  ASSERT_TRUE(stranger.recv(answer));
  const ControlMessage refusal =
      decode_message({static_cast<const std::byte*>(answer.data()), answer.size()});
  EXPECT_THAT(std::get<ErrorReply>(refusal.body).text, HasSubstr("not readable"));
}

TEST_F(Endpoint, WakesForADescriptor) {
  ControlServer server(run_dir_, "hub");
  const UniqueFd event(::eventfd(1, EFD_CLOEXEC));
  const int descriptors[] = {event.get()};
  const auto start = std::chrono::steady_clock::now();
  EXPECT_FALSE(server.receive(600s, descriptors));
  EXPECT_LT(std::chrono::steady_clock::now() - start, 120s);
}

TEST_F(Endpoint, WaitsNoLongerThanAsked) {
  ControlServer server(run_dir_, "hub");
  const auto start = std::chrono::steady_clock::now();
  EXPECT_FALSE(server.receive(50ms));
  EXPECT_GE(std::chrono::steady_clock::now() - start, 50ms);
  EXPECT_LT(std::chrono::steady_clock::now() - start, 120s);
}

TEST_F(Endpoint, AnswersQuestionsByTcpBesides) {
  const CurveKeys host = make_curve_keys(), operators = make_curve_keys();
  ControlServer server(run_dir_, "supervisor");
  const std::string address = server.listen(
      {"tcp://127.0.0.1:0", host, {make_curve_keys().public_key, operators.public_key}});
  EXPECT_THAT(address, testing::StartsWith("tcp://127.0.0.1:"));
  std::thread serving([&] {
    for (const bool remote : {true, false, true}) {
      const auto received = server.receive(30s);
      ASSERT_TRUE(received);
      EXPECT_EQ(received->remote, remote);
      EXPECT_TRUE(std::holds_alternative<ConfirmRequest>(received->message.body));
      EXPECT_TRUE(server.reply(*received, OkReply{}));
    }
  });
  ControlClient far({address, operators, host.public_key}), near(run_dir_, "supervisor");
  far.request_for<OkReply>(ConfirmRequest{}, 30s);
  near.request_for<OkReply>(ConfirmRequest{}, 30s);
  far.request_for<OkReply>(ConfirmRequest{}, 30s);
  serving.join();
  EXPECT_EQ(server.refused_count(), 0U);
}

TEST_F(Endpoint, RefusesAnActorByTcp) {
  const CurveKeys host = make_curve_keys(), operators = make_curve_keys();
  ControlServer server(run_dir_, "supervisor");
  const std::string address = server.listen({"tcp://127.0.0.1:0", host, {operators.public_key}});
  ControlClient client({address, operators, host.public_key});
  const ControlBody bodies[] = {Ready{3}, Event{.kind = "x"}, Drain{3, true}, FollowPlan{7},
                                SetService{0, true}};
  std::uint64_t refused = 0;
  for (const ControlBody& body : bodies) {
    EXPECT_FALSE(may_be_remote(body));
    std::thread serving([&] {
      const auto end = std::chrono::steady_clock::now() + 30s;
      while (server.refused_count() == refused && std::chrono::steady_clock::now() < end) {
        EXPECT_FALSE(server.receive(10ms)) << "it was heard";
      }
    });
    EXPECT_EQ(error_of([&] { client.request(body, 30s); }),
              "supervisor at " + address + ": `" + message_name(body) +
                  "` is not heard by TCP; status, audit, scale, reload, confirm and down are");
    serving.join();
    EXPECT_EQ(server.refused_count(), ++refused);
  }
}

TEST_F(Endpoint, TellsThatKeysAreNotTaken) {
  const CurveKeys host = make_curve_keys(), operators = make_curve_keys();
  ControlServer server(run_dir_, "supervisor");
  const std::string address = server.listen({"tcp://127.0.0.1:0", host, {operators.public_key}});
  std::atomic<bool> done = false;
  std::thread serving([&] {
    while (!done) EXPECT_FALSE(server.receive(10ms)) << "it was heard";
  });
  for (const RemoteServer& at : {RemoteServer{address, make_curve_keys(), host.public_key},
                                 RemoteServer{address, operators, make_curve_keys().public_key}}) {
    ControlClient client(at);
    EXPECT_THAT(error_of([&] { client.request(DownRequest{}, 30s); }),
                testing::StartsWith("supervisor at " + address + " does not take our keys: --key"));
  }
  done = true;
  serving.join();
  EXPECT_GE(server.refused_count(), 2U);
}

TEST_F(Endpoint, NamesATcpAddressThatIsTaken) {
  const CurveKeys host = make_curve_keys();
  ControlServer first(run_dir_, "hub"), second(run_dir_, "standby");
  const std::string address = first.listen({"tcp://127.0.0.1:0", host, {host.public_key}});
  EXPECT_EQ(error_of([&] {
              second.listen({address, host, {host.public_key}});
            }),
            "bind " + address + ": Address already in use");
}

/// One of strangers alone would end by its time limit; that of a client which has proved its key
/// ends only with all others.
TEST_F(Endpoint, EndsAllConnectionsByTcpWhenThereAreTooMany) {
  const CurveKeys host = make_curve_keys(), operators = make_curve_keys();
  ControlServer server(run_dir_, "supervisor");
  const std::string address = server.listen({"tcp://127.0.0.1:0", host, {operators.public_key}});
  std::atomic<bool> done = false;
  std::thread serving([&] {
    while (!done) {
      if (const auto received = server.receive(10ms)) server.reply(*received, OkReply{});
    }
  });
  ZmqSocket idle(ZMQ_DEALER);
  idle.be_client("");
  be_curve_client(idle, address, operators, host.public_key);
  ConnectionWatch ends(idle, ZMQ_EVENT_DISCONNECTED);
  idle.connect(address);
  EXPECT_TRUE(idle.writable_within(30s));
  sockaddr_in name{};
  name.sin_family = AF_INET;
  name.sin_port =
      htons(static_cast<std::uint16_t>(std::stoi(address.substr(address.rfind(':') + 1))));
  name.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  std::vector<UniqueFd> strangers;
  for (std::size_t i = 0; i < kRemoteConnectionsMax; ++i) {
    strangers.emplace_back(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
    // Refused for the moment in which it begins anew.
    ::connect(strangers.back().get(), reinterpret_cast<const sockaddr*>(&name), sizeof name);
  }
  bool ended = false;
  const auto end = std::chrono::steady_clock::now() + 30s;
  while (!ended && std::chrono::steady_clock::now() < end) {
    ended = ends.next().has_value();
    std::this_thread::sleep_for(1ms);
  }
  EXPECT_TRUE(ended);
  ControlClient client({address, operators, host.public_key});
  client.request_for<OkReply>(ConfirmRequest{}, 30s);
  done = true;
  serving.join();
  EXPECT_GE(server.refused_count(), kRemoteConnectionsMax - 1);
}

/// Another user is refused twice: by the mode of the directory, and, were that opened, by ZeroMQ.
TEST_F(Endpoint, DoesNotListenToOtherUsers) {
  if (::geteuid() != 0) GTEST_SKIP() << "needs root to become another user";
  ControlServer server(run_dir_, "hub");
  ASSERT_EQ(::chmod(run_dir_.c_str(), 0777), 0);
  ASSERT_EQ(::chmod((run_dir_ + "/control.hub").c_str(), 0777), 0);
  const pid_t child = ::fork();
  if (child == 0) {
    if (::setresuid(65534, 65534, 65534) != 0) ::_exit(2);
    ControlClient client(run_dir_, "hub");
    const std::string error = error_of([&] { client.request(DownRequest{}, 300ms); });
    ::_exit(error.find("within 300 ms") == std::string::npos ? 3 : 0);
  }
  EXPECT_FALSE(server.receive(600ms));
  int status = 0;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
}

}  // namespace
}  // namespace millrace
