// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <nlohmann/json.hpp>
#include <string>

namespace millrace {

/// A line of events (services/events) for people, without its end:
///
///     2026-11-25T12:00:00.123456+0000 alert scan: "an ELF file" allowed  UDP 10.1.0.5:5000 > ...
///
/// What is no such line is given back as it is.
std::string text_of_event(const std::string& line);

/// Of its JSON: "UDP 10.1.0.5:5000 > 192.0.2.9:53", as far as it says.
std::string ends_of_event(const nlohmann::ordered_json& event);

}  // namespace millrace
