// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#include "orchestration/supervisor/remote_control.hpp"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <sstream>

#include "orchestration/supervisor/key_files.hpp"

namespace millrace {
namespace {

class RemoteControlTest : public testing::Test {
 protected:
  RemoteControlTest() {
    char pattern[] = "/tmp/millrace-remote-XXXXXX";
    folder_ = ::mkdtemp(pattern);
    for (const char* name : {"host", "anna", "bert"}) write_key_files(path(name), name);
  }
  ~RemoteControlTest() override { std::filesystem::remove_all(folder_); }
  std::string path(const std::string& name) const { return folder_ + "/" + name; }

  std::string folder_;
};

TEST_F(RemoteControlTest, IsNotedWithoutKeys) {
  const RemoteControl control{"tcp://[::1]:7", path("host"), {path("anna.pub"), "/with space"}};
  save_run_state(folder_, {.control = control});
  EXPECT_EQ(load_run_state(folder_).control, control);
  std::ifstream file(run_state_path(folder_), std::ios::binary);
  std::ostringstream text;
  text << file.rdbuf();
  EXPECT_EQ(text.str().find(read_secret_key(path("host")).secret_key), std::string::npos);
}

TEST_F(RemoteControlTest, ComesFromTheTopology) {
  Topology topology;
  EXPECT_FALSE(remote_control_of(topology));
  topology.control = {.listen = {"tcp://h:1", {}}, .key = {"k", {}}, .clients = {{"a", {}}}};
  EXPECT_EQ(remote_control_of(topology), (RemoteControl{"tcp://h:1", "k", {"a"}}));
}

TEST_F(RemoteControlTest, ReadsTheKeysOfAllClients) {
  const RemoteListen listen =
      remote_listen_of({"tcp://h:1", path("host"), {path("anna.pub"), path("bert.pub")}});
  EXPECT_EQ(listen.keys.secret_key, read_secret_key(path("host")).secret_key);
  EXPECT_EQ(listen.clients, (std::vector<std::string>{read_secret_key(path("anna")).public_key,
                                                      read_secret_key(path("bert")).public_key}));
  EXPECT_THROW(remote_listen_of({"tcp://h:1", path("host.pub"), {path("anna.pub")}}), Error);
}

}  // namespace
}  // namespace millrace
