// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#include "shared/control/run_state.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "tests/unit/io-worker/ports/capture_files.hpp"
#include "tests/unit/support/error_of.hpp"

namespace millrace {
namespace {

using test::error_of;
using testing::AllOf;
using testing::HasSubstr;
using testing::StartsWith;

/// Every field has a value of its own.
RunState filled_state() {
  return {.stopping = true,
          .posts = {{"front.0", true, 7, "killed by signal 9 (Killed)"}, {"hub", false, 0, ""}},
          .wanted = {{"front", 3}, {"gpu", 1}},
          .tables = {{"route", 4, 5, 6, {{"/a", 2}, {"/b", 3}}}},
          .config = {11, "0123", true, 12, 13, 14, true, 15, 16},
          .deadline = ConfirmDeadline{21, 22, "boot"},
          .control = RemoteControl{"tcp://[::1]:7", "key", {"anna.pub", "/with space"}}};
}

TEST(RunState, IsReadAsWritten) {
  const test::TestFolder run_dir;
  save_run_state(run_dir.path(""), RunState{});
  EXPECT_EQ(load_run_state(run_dir.path("")), RunState{});
  save_run_state(run_dir.path(""), filled_state());
  EXPECT_EQ(load_run_state(run_dir.path("")), filled_state());
  const auto mode = std::filesystem::status(run_state_path(run_dir.path(""))).permissions();
  EXPECT_EQ(mode, std::filesystem::perms(0600));
}

TEST(RunState, ABypassThatIsOffIsAnotherThanNone) {
  RunState state;
  for (const auto bypass : {std::optional<bool>(), std::optional(false), std::optional(true)}) {
    state.config.bypass = bypass;
    EXPECT_EQ(decode_run_state(encode_run_state(state)).config.bypass, bypass);
  }
}

TEST(RunState, WithoutAFileNothingIsKnown) {
  EXPECT_EQ(load_run_state("/nowhere/at/all"), RunState{});
}

TEST(RunState, ABrokenFileIsRefusedWithItsPath) {
  const test::TestFolder run_dir;
  const std::string path = run_state_path(run_dir.path(""));
  for (const std::string& text : {std::string(), std::string("front.0 up 1\n"),
                                  std::string(64, '\0'), std::string("\0\0\0\0\1\0\0\0", 8)}) {
    std::ofstream(path, std::ios::binary) << text;
    const std::string error = error_of([&] { load_run_state(run_dir.path("")); });
    EXPECT_THAT(error, AllOf(StartsWith(path + ": "), HasSubstr("rm " + path))) << error;
  }
  std::ofstream(path, std::ios::binary) << std::string(kStateBytesMax + 1, 'x');
  EXPECT_THAT(error_of([&] { load_run_state(run_dir.path("")); }), HasSubstr("longer than"));
  std::filesystem::remove(path);
  std::filesystem::create_directory(path);
  EXPECT_THAT(error_of([&] { load_run_state(run_dir.path("")); }), HasSubstr("Is a directory"));
}

TEST(RunState, CutAnywhereItIsRefused) {
  const std::vector<std::byte> whole = encode_run_state(filled_state());
  for (std::size_t bytes = 0; bytes < whole.size(); ++bytes) {
    const std::span<const std::byte> cut(whole.data(), bytes);
    EXPECT_THROW(decode_run_state(cut), Error) << bytes;
  }
}

TEST(RunState, CannotBeWrittenWhereThereIsNoFolder) {
  EXPECT_THAT(error_of([&] { save_run_state("/nowhere/at/all", {}); }), HasSubstr("/nowhere"));
}

}  // namespace
}  // namespace millrace
