// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

namespace millrace {

/// `text` with "(secret)" wherever one of the secrets stands in it. Everything that shows settings,
/// or a message that may quote one, goes through here.
std::string without_secrets(std::string text, const std::vector<std::string>& secrets);

}  // namespace millrace
