// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdio>
#include <utility>

#include "shared/base/error.hpp"

namespace millrace {

/// Keeps a file of the run directory as something is: written when that has changed. One thread.
template <typename Notes>
class NoteKeeper {
 public:
  /// `write(notes)` may throw Error, which is told once on stderr, and is tried again next time:
  /// no traffic depends on it.
  template <typename Write>
  void keep(Notes notes, Write&& write) {
    if (notes == kept_) return;
    try {
      write(notes);
      kept_ = std::move(notes);
    } catch (const Error& error) {
      if (!std::exchange(failed_, true)) std::fprintf(stderr, "millrace: %s\n", error.what());
    }
  }

 private:
  Notes kept_{};
  bool failed_ = false;
};

}  // namespace millrace
