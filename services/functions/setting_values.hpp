// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>

/// Values of a function's settings. The loader has checked ranges by KnownSetting; `millrace try`
/// and tests give text that it has not seen. Throw Error that names the key and the value.

namespace millrace {

std::uint64_t setting_number(const std::string& key, const std::string& value);
/// "true" or "false".
bool setting_flag(const std::string& key, const std::string& value);

}  // namespace millrace
