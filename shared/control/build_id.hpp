// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

namespace millrace {

/// The linker's build id of the running executable, in hex; empty when it was linked without one.
/// It only informs: processes of different builds work together as long as layouts and schema
/// agree.
std::string build_id();

}  // namespace millrace
