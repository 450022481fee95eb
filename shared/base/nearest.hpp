// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>

namespace millrace {

/// Insertions, deletions, changes and swaps of neighbours between two names (optimal string
/// alignment, Damerau 1964).
std::size_t name_distance(std::string_view a, std::string_view b);

/// The name that was probably meant: the nearest one, if it differs by at most a third of the
/// longer name (and at least one change is always forgiven). Empty when none is near. The first of
/// equals.
std::string nearest_of(std::string_view name, std::span<const std::string_view> names);

/// "no port 'wam'; there are: wan, lan; did you mean 'wan'?"
std::string no_such(std::string_view what, std::string_view name,
                    std::span<const std::string_view> names);

/// "a, b, c"; "nothing" when there are none.
std::string comma_list(std::span<const std::string_view> names);

}  // namespace millrace
