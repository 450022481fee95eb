// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

namespace millrace {

/// Rows of equally many fields as a table: each column as wide as its longest field, two blanks
/// between, none at the end of a line.
std::string columns_text(const std::vector<std::vector<std::string>>& rows);

}  // namespace millrace
