// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

/// How a text that users read names a topology that runs, so that they can paste the command.

namespace millrace {

inline constexpr const char* kRunDirs = "/run/millrace";  ///< of root

/// Where topology `name` runs unless told otherwise: /run/millrace/<name> for root, else
/// $XDG_RUNTIME_DIR/millrace/<name>. Throws Error when that variable is missing.
std::string default_run_dir(const std::string& name);

/// How a command names what runs in `run_dir`: NAME, or "NAME --run-dir DIR" if that is not the
/// default one.
std::string words_for_run(const std::string& name, const std::string& run_dir);

/// The same of a run directory alone: of one that is not the default one the last part of its path
/// stands for the name, and commands say which name it is where that differs.
std::string words_for_run_in(const std::string& run_dir);

}  // namespace millrace
