// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#include "shared/base/file_lender.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/socket.h>
#include <sys/un.h>

#include <array>
#include <cstring>
#include <filesystem>
#include <optional>

#include "shared/base/error.hpp"

namespace millrace {
namespace {

class FileLenderTest : public ::testing::Test {
 protected:
  void SetUp() override {
    folder_ = std::filesystem::temp_directory_path() / ("lender-" + std::to_string(::getpid()));
    std::filesystem::create_directory(folder_);
    path_ = folder_ / "files";
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }

  /// Lends the read end of a pipe as "pipe"; what is written to the other end comes out of it.
  void lend() {
    int ends[2];
    ASSERT_EQ(::pipe2(ends, O_CLOEXEC | O_NONBLOCK), 0);
    std::map<std::string, UniqueFd> files;
    files["pipe"] = UniqueFd(ends[0]);
    writer_ = UniqueFd(ends[1]);
    lender_.emplace(path_, std::move(files), std::set<std::string>{"left"});
  }
  /// A file of its own, which says that it is `what`.
  UniqueFd note(const std::string& what) const {
    const std::string path = folder_ / what;
    UniqueFd file(::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600));
    EXPECT_EQ(::write(file.get(), what.data(), what.size()), std::ssize(what));
    return file;
  }
  std::string borrowed(const std::string& name) const {
    const UniqueFd file = borrow_file(path_, name);
    char text[16] = {};
    return file && ::pread(file.get(), text, sizeof text, 0) > 0 ? text : "";
  }
  /// Whether `file` is the read end.
  bool is_the_pipe(const UniqueFd& file) const {
    char byte = 0;
    return ::write(writer_.get(), "x", 1) == 1 && ::read(file.get(), &byte, 1) == 1 && byte == 'x';
  }

  std::filesystem::path folder_;
  std::string path_;
  UniqueFd writer_;
  std::optional<FileLender> lender_;
};

TEST_F(FileLenderTest, SeveralBorrowTheSameFile) {
  lend();
  const UniqueFd one = borrow_file(path_, "pipe"), two = borrow_file(path_, "pipe");
  ASSERT_TRUE(one);
  ASSERT_TRUE(two);
  EXPECT_TRUE(is_the_pipe(one));
  EXPECT_TRUE(is_the_pipe(two));
  EXPECT_EQ(::fcntl(one.get(), F_GETFD), FD_CLOEXEC);
}

TEST_F(FileLenderTest, WhatWasBorrowedOutlivesTheLender) {
  lend();
  const UniqueFd file = borrow_file(path_, "pipe");
  lender_.reset();
  EXPECT_TRUE(is_the_pipe(file));
  EXPECT_FALSE(borrow_file(path_, "pipe")) << "its socket is still there";
}

TEST_F(FileLenderTest, AnotherLenderTakesThePlaceOfADeadOne) {
  lend();
  lender_.reset();
  lend();
  EXPECT_TRUE(is_the_pipe(borrow_file(path_, "pipe")));
}

TEST_F(FileLenderTest, NothingIsLentUnderAnotherName) {
  EXPECT_FALSE(borrow_file(path_, "pipe")) << "nobody lends";
  lend();
  EXPECT_FALSE(borrow_file(path_, "pip"));
  EXPECT_FALSE(borrow_file(path_, ""));
  EXPECT_FALSE(borrow_file(path_, std::string(5000, 'x')));
  EXPECT_FALSE(borrow_file(std::string(5000, 'x'), "pipe"));
  EXPECT_TRUE(borrow_file(path_, "pipe"));
}

TEST_F(FileLenderTest, WhatSomebodyLeftIsLentAfterHisEnd) {
  EXPECT_FALSE(leave_file(path_, "left", note("none"))) << "nobody lends";
  lend();
  EXPECT_EQ(borrowed("left"), "");
  EXPECT_TRUE(leave_file(path_, "left", note("first")));
  EXPECT_EQ(borrowed("left"), "first");
  EXPECT_FALSE(leave_file_if_none(path_, "left", note("late")));
  EXPECT_EQ(borrowed("left"), "first");
  EXPECT_TRUE(leave_file(path_, "left", note("second")));
  EXPECT_EQ(borrowed("left"), "second");
  EXPECT_TRUE(discard_file(path_, "left"));
  EXPECT_EQ(borrowed("left"), "");
  EXPECT_TRUE(leave_file_if_none(path_, "left", note("third")));
  EXPECT_EQ(borrowed("left"), "third");
}

TEST_F(FileLenderTest, NothingIsTakenUnderNamesThatItWasNotToldOf) {
  lend();
  EXPECT_FALSE(leave_file(path_, "elsewhere", note("x")));
  EXPECT_FALSE(leave_file(path_, "pipe", note("y"))) << "its own files are not to be replaced";
  EXPECT_FALSE(discard_file(path_, "pipe"));
  EXPECT_FALSE(leave_file(path_, "left", UniqueFd())) << "without a file";
  EXPECT_FALSE(leave_file(path_, std::string(5000, 'x'), note("z")));
  EXPECT_EQ(borrowed("left"), "");
  EXPECT_TRUE(is_the_pipe(borrow_file(path_, "pipe")));
}

TEST_F(FileLenderTest, DescriptorsThatNobodyAskedForAreClosed) {
  lend();
  const auto open_files = [] {
    return std::distance(std::filesystem::directory_iterator("/proc/self/fd"), {});
  };
  const UniqueFd file = note("x");
  const auto before = open_files();
  for (int i = 0; i < 20; ++i) {
    const UniqueFd socket(::socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0));
    sockaddr_un address{.sun_family = AF_UNIX, .sun_path = {}};
    path_.copy(address.sun_path, sizeof address.sun_path - 1);
    ASSERT_EQ(::connect(socket.get(), reinterpret_cast<sockaddr*>(&address), sizeof address), 0);
    alignas(cmsghdr) std::array<char, CMSG_SPACE(2 * sizeof(int))> control{};
    char nothing = 0;
    iovec piece{&nothing, 0};
    msghdr message{};
    message.msg_iov = &piece;
    message.msg_iovlen = 1;
    message.msg_control = control.data();
    message.msg_controllen = control.size();
    cmsghdr* head = CMSG_FIRSTHDR(&message);
    head->cmsg_level = SOL_SOCKET;
    head->cmsg_type = SCM_RIGHTS;
    head->cmsg_len = CMSG_LEN(2 * sizeof(int));
    const int twice[2] = {file.get(), file.get()};
    std::memcpy(CMSG_DATA(head), twice, sizeof twice);
    ASSERT_GE(::sendmsg(socket.get(), &message, 0), 0);
  }
  EXPECT_TRUE(is_the_pipe(borrow_file(path_, "pipe")));
  for (int i = 0; i < 1000 && open_files() != before; ++i) ::usleep(10'000);  // it closes the last
  EXPECT_EQ(open_files(), before);
}

TEST_F(FileLenderTest, ABorrowerThatSaysNothingHoldsUpTheOthersForAMoment) {
  lend();
  const UniqueFd silent(::socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0));
  sockaddr_un address{.sun_family = AF_UNIX, .sun_path = {}};
  path_.copy(address.sun_path, sizeof address.sun_path - 1);
  ASSERT_EQ(::connect(silent.get(), reinterpret_cast<sockaddr*>(&address), sizeof address), 0);
  EXPECT_TRUE(borrow_file(path_, "pipe"));
}

TEST_F(FileLenderTest, AFolderThatIsNotThereIsNamed) {
  try {
    FileLender lender("/nowhere/files", {});
    FAIL();
  } catch (const Error& error) {
    EXPECT_STREQ(error.what(), "listen at /nowhere/files: No such file or directory");
  }
  EXPECT_THROW(FileLender("/" + std::string(200, 'x'), {}), Error);
}

}  // namespace
}  // namespace millrace
