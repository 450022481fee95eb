// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#include "services/events/stream_files.hpp"

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <nlohmann/json.hpp>
#include <sstream>
#include <string_view>

#include "tests/unit/services/events/event_world.hpp"

namespace millrace {
namespace {

constexpr const char* kToServer = "10.0.0.1.5000-10.0.0.2.80";
constexpr const char* kToClient = "10.0.0.2.80-10.0.0.1.5000";

class StreamFilesTest : public testing::Test {
 protected:
  static EventRecord record_of(std::uint32_t connection, std::uint64_t position,
                               std::uint8_t direction = 0) {
    EventRecord record{};
    record.kind = EventKind::kStream;
    record.ip_version = 4;
    record.source = {10, 0, 0, 1};
    record.destination = {10, 0, 0, 2};
    record.source_port = 5000;
    record.destination_port = 80;
    record.tcp_stream.connection = connection;
    record.tcp_stream.position = EventCount(position);
    record.tcp_stream.direction = direction;
    return record;
  }
  static bool put(StreamFiles& files, const EventRecord& record, std::string_view text) {
    return files.put(record, std::as_bytes(std::span(text)));
  }
  StreamFileLimits limits(std::uint64_t bytes = 1000, std::uint64_t files = 10) const {
    return {.folder = folder_.path("streams"), .bytes_max = bytes, .files_max = files};
  }
  std::string text(const std::string& name) const { return folder_.text("streams/" + name); }

  test::EventFolder folder_;
};

TEST_F(StreamFilesTest, BytesLieAtTheirPlaces) {
  StreamFiles files(limits());
  EXPECT_TRUE(put(files, record_of(1, 3), "def"));
  EXPECT_TRUE(put(files, record_of(1, 0), "abc"));
  EXPECT_TRUE(put(files, record_of(1, 0, 1), "back"));
  EXPECT_TRUE(put(files, record_of(2, 0), "other"));
  EXPECT_EQ(text(kToServer), "abcdef");
  EXPECT_EQ(text(kToClient), "back");
  EXPECT_EQ(text(std::string(kToServer) + "-2"), "other");
  EXPECT_EQ(files.bytes(), 15u);
  EXPECT_EQ(files.files(), 3u);
}

TEST_F(StreamFilesTest, TheIndexSaysWhatIsMissing) {
  StreamFiles files(limits());
  put(files, record_of(1, 2), "cd");
  EventRecord end = record_of(1, 0);
  end.tcp_stream.step = StreamStep::kEnd;
  end.tcp_stream.bytes[0] = EventCount(7);
  EXPECT_TRUE(files.put(end, {}));
  const auto line = nlohmann::json::parse(text(StreamFiles::kIndex));
  EXPECT_TRUE(line["ended"]);
  ASSERT_EQ(line["streams"].size(), 1u);
  EXPECT_EQ(line["streams"][0]["bytes"], 7);
  EXPECT_EQ(line["streams"][0]["missing_bytes"], 5);
  EXPECT_EQ(line["streams"][0]["missing"].dump(), "[[0,2],[4,7]]");
}

TEST_F(StreamFilesTest, WhatWasInFrontOfTheFirstByteMovesIt) {
  StreamFiles files(limits());
  const auto picked_up = [](std::uint64_t position) {
    EventRecord record = record_of(1, position);
    record.tcp_stream.is_picked_up[0] = 1;
    return record;
  };
  EXPECT_TRUE(put(files, picked_up(kStreamOrigin), "def"));
  EXPECT_TRUE(put(files, picked_up(kStreamOrigin - 3), "abc"));
  EXPECT_EQ(text(kToServer), "abcdef");
}

TEST_F(StreamFilesTest, LimitsHold) {
  StreamFiles files(limits(5, 1));
  EXPECT_TRUE(put(files, record_of(1, 0), "abc"));
  EXPECT_FALSE(put(files, record_of(1, 3), "def"));
  EXPECT_FALSE(put(files, record_of(2, 0), "x"));
  EXPECT_EQ(text(kToServer), "abc");
}

TEST_F(StreamFilesTest, ASuccessorGoesOnInTheSameFile) {
  std::string open;
  {
    StreamFiles files(limits());
    put(files, record_of(1, 0), "abc");
    open = text(StreamFiles::kOpen);
  }
  std::ofstream(folder_.path("streams/.open")) << open;  // as if it had been killed
  StreamFiles files(limits());
  EXPECT_TRUE(put(files, record_of(1, 0), "abc"));
  EXPECT_TRUE(put(files, record_of(1, 3), "def"));
  EXPECT_EQ(text(kToServer), "abcdef");
  EXPECT_EQ(files.files(), 1u);
}

TEST_F(StreamFilesTest, HalfALineOfAKilledOneIsCutOff) {
  const std::string whole(70'000, 'x');  // longer than what is read at once
  std::filesystem::create_directory(folder_.path("streams"));
  std::ofstream(folder_.path("streams/connections.jsonl")) << "{}\n" << whole << "\n{\"src_";
  std::ofstream(folder_.path("streams/.open"))
      << "0 1 0 0 0 " << kToServer << "\n0 2 0 0 0 10.0.0.1.50";
  StreamFiles files(limits());
  EXPECT_EQ(text(StreamFiles::kIndex), "{}\n" + whole + "\n");
  EXPECT_EQ(text(StreamFiles::kOpen), "0 1 0 0 0 " + std::string(kToServer) + "\n");
  files.finish();
  const std::string index = text(StreamFiles::kIndex);
  const auto line = nlohmann::json::parse(index.substr(3 + whole.size() + 1));
  EXPECT_EQ(line["streams"].size(), 1u) << "of the connection whose line was whole";
}

TEST_F(StreamFilesTest, AFolderThatCannotBeMadeLosesBytes) {
  StreamFiles files({.folder = folder_.path("no/such/folder")});
  EXPECT_FALSE(put(files, record_of(1, 0), "abc"));
}

/// A disk that is full, by the limit of a file's size: the same partial write, another error.
TEST_F(StreamFilesTest, TheIndexHasNoHalfLineWhenTheDiskIsFullAndGoesOnLater) {
  const auto ended = [&](StreamFiles& files, std::uint32_t connection) {
    put(files, record_of(connection, 0), "abc");
    EventRecord end = record_of(connection, 0);
    end.tcp_stream.step = StreamStep::kEnd;
    end.tcp_stream.bytes[0] = EventCount(3);
    return files.put(end, {});
  };
  testing::internal::CaptureStderr();
  const pid_t child = ::fork();
  if (child == 0) {
    ::signal(SIGXFSZ, SIG_IGN);
    StreamFiles files(limits());
    if (!ended(files, 1)) ::_exit(1);
    const rlim_t line = text(StreamFiles::kIndex).size();
    const rlimit full{line + line / 2, RLIM_INFINITY}, room{RLIM_INFINITY, RLIM_INFINITY};
    ::setrlimit(RLIMIT_FSIZE, &full);
    if (ended(files, 2) || ended(files, 3)) ::_exit(2);
    if (text(StreamFiles::kIndex).size() != line) ::_exit(3);
    ::setrlimit(RLIMIT_FSIZE, &room);
    if (!ended(files, 4)) ::_exit(4);
    ::_exit(0);
  }
  int status = 0;
  ::waitpid(child, &status, 0);
  const std::string said = testing::internal::GetCapturedStderr();
  EXPECT_TRUE(WIFEXITED(status));
  EXPECT_EQ(WEXITSTATUS(status), 0);
  std::istringstream lines(text(StreamFiles::kIndex));
  std::size_t count = 0;
  for (std::string line; std::getline(lines, line); ++count) {
    EXPECT_TRUE(nlohmann::json::accept(line)) << line;
  }
  EXPECT_EQ(count, 2u) << "of the first and the last connection";
  EXPECT_EQ(said.find("; until that is mended its lines are lost"),
            said.rfind("; until that is mended its lines are lost"))
      << said;
  EXPECT_NE(said.find("connections.jsonl goes on; 2 lines are lost"), std::string::npos) << said;
}

TEST_F(StreamFilesTest, AreOfAFunctionStreamsAlone) {
  EXPECT_FALSE(stream_file_limits({.type = "match"}));
  const auto found = stream_file_limits(
      {.type = "streams", .settings = {{"folder", "/f"}, {"size_mb", "2"}, {"files_max", "3"}}});
  ASSERT_TRUE(found);
  EXPECT_EQ(*found, (StreamFileLimits{.folder = "/f", .bytes_max = 2u << 20, .files_max = 3}));
}

}  // namespace
}  // namespace millrace
