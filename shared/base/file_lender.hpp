// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <thread>

#include "shared/base/unique_fd.hpp"

namespace millrace {

/// Keeps files open and gives others of the same user a descriptor of each, over a socket in the
/// run directory (SCM_RIGHTS: no rights are needed but those to the directory). What a borrower
/// has goes on when the lender has ended. Some files are left by others, which may end before it.
class FileLender {
 public:
  /// `places`: names under which a file may be left, besides those of `files`. Makes the socket, in
  /// the place of one that a dead lender left; answers in a thread of its own. Throws Error.
  FileLender(const std::string& socket_path, std::map<std::string, UniqueFd> files,
             std::set<std::string> places = {});
  FileLender(const FileLender&) = delete;  // the thread has its address
  FileLender& operator=(const FileLender&) = delete;
  ~FileLender();

 private:
  void serve() noexcept;
  void answer(const UniqueFd& peer);
  bool keep(const std::string& name, UniqueFd file, bool replace);

  std::map<std::string, UniqueFd> files_;
  const std::set<std::string> places_;
  UniqueFd socket_;
  std::thread thread_;
};

inline constexpr std::chrono::milliseconds kLenderAnswers{2000};

/// All of these wait at most kLenderAnswers, or `limit`, and say false (or give nothing) when
/// no process lends there, or it knows no such name.

/// The file that a lender has under `name`.
UniqueFd borrow_file(const std::string& socket_path, std::string_view name,
                     std::chrono::milliseconds limit = kLenderAnswers) noexcept;
/// Leaves a descriptor of `file`, in the place of one that was left before.
bool leave_file(const std::string& socket_path, std::string_view name, const UniqueFd& file,
                std::chrono::milliseconds limit = kLenderAnswers) noexcept;
/// The same, if nothing lies there yet.
bool leave_file_if_none(const std::string& socket_path, std::string_view name, const UniqueFd& file,
                        std::chrono::milliseconds limit = kLenderAnswers) noexcept;
/// The lender closes what was left under `name`.
bool discard_file(const std::string& socket_path, std::string_view name) noexcept;

}  // namespace millrace
