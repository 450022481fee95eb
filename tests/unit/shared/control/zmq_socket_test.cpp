// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#include "shared/control/zmq_socket.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/eventfd.h>

#include <filesystem>

#include "shared/base/error.hpp"
#include "shared/base/unique_fd.hpp"

namespace millrace {
namespace {

using std::chrono_literals::operator""ms;

class ZmqSocketTest : public testing::Test {
 protected:
  ZmqSocketTest() {
    char pattern[] = "/tmp/millrace-zmq-XXXXXX";
    folder_ = ::mkdtemp(pattern);
    endpoint_ = "ipc://" + folder_ + "/socket";
  }
  ~ZmqSocketTest() override { std::filesystem::remove_all(folder_); }

  static std::vector<zmq::message_t> frames_of(std::initializer_list<std::string> texts) {
    std::vector<zmq::message_t> frames;
    for (const std::string& text : texts) frames.emplace_back(text);
    return frames;
  }

  std::string folder_, endpoint_;
};

TEST_F(ZmqSocketTest, CarriesMessagesOfSeveralFrames) {
  ZmqSocket server(ZMQ_ROUTER);
  server.be_server();
  server.bind(endpoint_);
  ZmqSocket client(ZMQ_DEALER);
  client.be_client("me");
  client.connect(endpoint_);
  EXPECT_FALSE(server.receive());
  ASSERT_TRUE(client.writable_within(5000ms));
  ASSERT_TRUE(client.send(frames_of({"a", "bc"})));
  ZmqSocket* const sockets[] = {&server};
  EXPECT_FALSE(wait_readable(sockets, {}, 5000ms));
  const auto frames = server.receive();
  ASSERT_TRUE(frames);
  ASSERT_EQ(frames->size(), 3U);
  EXPECT_EQ((*frames)[0].to_string(), "me");
  EXPECT_EQ((*frames)[2].to_string(), "bc");
}

TEST_F(ZmqSocketTest, SendsNothingToNobody) {
  ZmqSocket client(ZMQ_DEALER);
  client.be_client("");
  client.connect(endpoint_);
  EXPECT_FALSE(client.send(frames_of({"a"})));
  EXPECT_FALSE(client.writable_within(20ms));
}

TEST_F(ZmqSocketTest, NamesTheEndpointThatItCannotUse) {
  ZmqSocket socket(ZMQ_ROUTER);
  try {
    socket.bind("nonsense");
    FAIL() << "no error";
  } catch (const Error& error) {
    EXPECT_THAT(error.what(), testing::StartsWith("bind nonsense: "));
  }
}

TEST_F(ZmqSocketTest, WaitsForDescriptorsToo) {
  const UniqueFd quiet(::eventfd(0, EFD_CLOEXEC));
  const UniqueFd ready(::eventfd(1, EFD_CLOEXEC));
  const int both[] = {quiet.get(), ready.get()};
  EXPECT_TRUE(wait_readable({}, both, 5000ms));
  EXPECT_FALSE(wait_readable({}, std::span(both).first(1), 10ms));
}

}  // namespace
}  // namespace millrace
