// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#include "io-worker/ports/kept_file.hpp"

namespace millrace {

std::string kept_file_name(const PlanPort& port, std::uint32_t queue) {
  return port.name + "." + std::to_string(queue);
}

UniqueFd borrow_kept(const std::string& run_dir, const std::string& name,
                     std::chrono::milliseconds limit) noexcept {
  if (run_dir.empty()) return {};
  UniqueFd file = borrow_file(run_dir + kHubFiles, name, limit);
  return file ? std::move(file) : borrow_file(run_dir + kStandbyFiles, name, limit);
}

bool leave_kept(const std::string& run_dir, const std::string& name, const UniqueFd& file,
                std::chrono::milliseconds limit) noexcept {
  if (run_dir.empty()) return true;
  const bool with_hub = leave_file(run_dir + kHubFiles, name, file, limit);
  return leave_file(run_dir + kStandbyFiles, name, file, limit) && with_hub;
}

void leave_kept_if_none(const std::string& run_dir, const std::string& name, const UniqueFd& file,
                        std::chrono::milliseconds limit) noexcept {
  if (run_dir.empty()) return;
  leave_file_if_none(run_dir + kHubFiles, name, file, limit);
  leave_file_if_none(run_dir + kStandbyFiles, name, file, limit);
}

void discard_kept(const std::string& run_dir, const std::string& name) noexcept {
  if (run_dir.empty()) return;
  discard_file(run_dir + kHubFiles, name);
  discard_file(run_dir + kStandbyFiles, name);
}

}  // namespace millrace
