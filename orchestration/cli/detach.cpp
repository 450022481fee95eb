// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#include "orchestration/cli/detach.hpp"

#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <iostream>

#include "shared/base/error.hpp"

namespace millrace {

void Starter::running() {
  std::cout.flush();
  const UniqueFd nowhere(::open("/dev/null", O_RDWR | O_CLOEXEC));
  for (const int file : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) {
    ::dup2(nowhere.get(), file);
  }
  const char byte = 1;
  // The parent may have been killed meanwhile; the topology runs all the same.
  [[maybe_unused]] const ssize_t written = ::write(status_.get(), &byte, 1);
  status_ = UniqueFd();
}

int run_detached(const std::function<int(Starter&)>& work) {
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC) != 0) throw system_error("pipe to the background", errno);
  UniqueFd from(ends[0]);
  UniqueFd to(ends[1]);
  std::cout.flush();
  const pid_t child = ::fork();
  if (child < 0) throw system_error("fork into the background", errno);
  if (child == 0) {
    ::setsid();
    from = UniqueFd();
    Starter starter(std::move(to));
    const int status = work(starter);
    std::cout.flush();
    std::fflush(nullptr);
    ::_exit(status);
  }
  to = UniqueFd();
  char byte = 0;
  ssize_t got = 0;
  while ((got = ::read(from.get(), &byte, 1)) < 0 && errno == EINTR) continue;
  if (got == 1) return 0;
  int status = 0;
  while (::waitpid(child, &status, 0) < 0 && errno == EINTR) continue;
  return WIFEXITED(status) ? WEXITSTATUS(status) : 1;
}

}  // namespace millrace
