// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <string>
#include <thread>

#include "shared/base/unique_fd.hpp"

namespace millrace {

/// Keeps files open and gives others of the same user a descriptor of each, over a socket in the
/// run directory (SCM_RIGHTS: no rights are needed but those to the directory). What a borrower
/// has goes on when the lender has ended.
class FileLender {
 public:
  /// Makes the socket, in the place of one that a dead lender left; answers in a thread of its own.
  /// Throws Error.
  FileLender(const std::string& socket_path, std::map<std::string, UniqueFd> files);
  FileLender(const FileLender&) = delete;  // the thread has its address
  FileLender& operator=(const FileLender&) = delete;
  ~FileLender();

 private:
  void serve() noexcept;
  void answer(const UniqueFd& peer) noexcept;

  std::map<std::string, UniqueFd> files_;
  UniqueFd socket_;
  std::thread thread_;
};

/// The file that a lender has under `name`; empty when nobody lends there, or nothing of that name.
/// Waits at most two seconds.
UniqueFd borrow_file(const std::string& socket_path, const std::string& name) noexcept;

}  // namespace millrace
