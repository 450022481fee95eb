// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>

#include "services/functions/function.hpp"

/// What rows of FunctionType have alike: regions that several functions read, and the way that most
/// are made. A function with needs of its own says so in its folder.

namespace millrace {

/// All headers that parse_headers() walks, but for long chains of extension headers.
inline constexpr Region kReadsHeaders[] = {{Region::Start::kFrame, 128}};
/// These, and all that is behind them.
inline constexpr Region kReadsWholePackets[] = {{Region::Start::kFrame, 128},
                                                {Region::Start::kPayload, kWholePacket}};
/// What a rule over addresses, ports and protocol looks at, and flags of TCP.
inline constexpr Region kReadsFlowKeys[] = {{Region::Start::kNetwork, 40},
                                            {Region::Start::kTransport, 14}};

/// MakeFunction of a class that is made of its FunctionContext.
template <typename Own>
std::unique_ptr<Function> make_function(const FunctionContext& context) {
  return std::make_unique<Own>(context);
}

}  // namespace millrace
