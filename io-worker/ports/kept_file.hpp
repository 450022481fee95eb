// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstdint>
#include <string>

#include "shared/base/file_lender.hpp"
#include "shared/base/unique_fd.hpp"
#include "shared/config/plan.hpp"

/// Files of ports that outlive io-workers: the hub and its standby keep them open and lend them
/// (services/hub/port_keeper.hpp). Any thread; each call may take moments, as `limit` says of each
/// of the two. `run_dir` of the topology; empty: nothing is kept.

namespace millrace {

/// Sockets in the run directory at which hub and standby lend files. A process that leaves a file
/// asks them in this order: a standby that is not there yet takes over the files of the hub.
inline constexpr const char* kHubFiles = "/files.hub";
inline constexpr const char* kStandbyFiles = "/files.standby";

/// Name under which they lend the segment's file, which is no port's: ports have no such name.
inline constexpr const char* kSegmentLoan = "=segment";

/// Name under which the file of a port's receive queue is kept.
std::string kept_file_name(const PlanPort& port, std::uint32_t queue);
/// Borrows the file of that name. Empty: neither has it.
UniqueFd borrow_kept(const std::string& run_dir, const std::string& name,
                     std::chrono::milliseconds limit = kLenderAnswers) noexcept;
/// Leaves the file in the place of the one that they kept under that name. False: not both have it
/// now.
bool leave_kept(const std::string& run_dir, const std::string& name, const UniqueFd& file,
                std::chrono::milliseconds limit = kLenderAnswers) noexcept;
/// Leaves the file with each that keeps none under that name: one of them may have been away.
void leave_kept_if_none(const std::string& run_dir, const std::string& name, const UniqueFd& file,
                        std::chrono::milliseconds limit = kLenderAnswers) noexcept;
/// Makes both close the file: no process will want it any more.
void discard_kept(const std::string& run_dir, const std::string& name) noexcept;

}  // namespace millrace
