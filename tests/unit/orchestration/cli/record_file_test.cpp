// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#include "orchestration/cli/record_file.hpp"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/wait.h>

#include <csignal>

#include "shared/base/error.hpp"
#include "tests/unit/io-worker/ports/capture_files.hpp"

namespace millrace {
namespace {

using testing::EndsWith;

constexpr std::size_t kLimit = 10'000;

/// In a process whose files cannot grow beyond kLimit; a full disk gives another errno.
template <typename Work>
std::string error_at_limit(Work work) {
  int ends[2];
  EXPECT_EQ(::pipe(ends), 0);
  const pid_t child = ::fork();
  if (child == 0) {
    ::signal(SIGXFSZ, SIG_IGN);
    const rlimit limit{kLimit, kLimit};
    ::setrlimit(RLIMIT_FSIZE, &limit);
    const std::string error = test::error_of(work);
    ::_exit(::write(ends[1], error.data(), error.size()) == std::ssize(error) ? 0 : 1);
  }
  ::close(ends[1]);
  std::string error(4096, 0);
  error.resize(
      static_cast<std::size_t>(std::max<ssize_t>(::read(ends[0], error.data(), error.size()), 0)));
  ::close(ends[0]);
  ::waitpid(child, nullptr, 0);
  return error;
}

TEST(RecordFile, EndsBehindAWholeRecordWhenTheDiskIsFull) {
  const test::TestFolder folder;
  for (const std::size_t bytes : {1u, 7u, 999u, 1000u, 3333u}) {
    for (const std::size_t at_once : {1u, 5u, 100u}) {
      const std::string path = folder.path("a");
      const std::string error = error_at_limit([&] {
        RecordFile file(path);
        for (std::size_t i = 0; i <= kLimit; ++i) {
          file.put(std::string(bytes, 'x'));
          if (i % at_once == 0) file.flush();
        }
        file.flush();
      });
      EXPECT_THAT(error, EndsWith("write " + path + ": File too large"));
      EXPECT_EQ(test::TestFolder::read(path).size(), kLimit / bytes * bytes) << bytes;
    }
  }
}

TEST(RecordFile, AppendsToWhatIsThere) {
  const test::TestFolder folder;
  const std::string path = folder.write("a", std::string(5000, 'o'));
  error_at_limit([&] {
    RecordFile file(UniqueFd(::open(path.c_str(), O_WRONLY | O_APPEND)), path);
    for (int i = 0; i < 10; ++i) file.put(std::string(1300, 'x'));
    file.flush();
  });
  EXPECT_EQ(test::TestFolder::read(path).size(), 5000 + 3 * 1300);
}

TEST(RecordFile, NamesWhatCannotBeOpened) {
  EXPECT_EQ(test::error_of([] { RecordFile("/nowhere/x"); }),
            "write /nowhere/x: No such file or directory");
}

}  // namespace
}  // namespace millrace
