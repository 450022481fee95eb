// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string_view>

namespace millrace {

/// How control by TCP is addressed: "tcp://HOST:PORT".
inline constexpr std::string_view kTcpScheme = "tcp://";

/// "HOST:PORT" of such an address, borrowed from it; nothing when it is none, or its port is not 0
/// to 65535. The host is not looked at beyond being there.
std::optional<std::string_view> host_and_port(std::string_view address) noexcept;

}  // namespace millrace
