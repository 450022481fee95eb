// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#include "orchestration/supervisor/programs.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <sstream>
#include <system_error>

#include "shared/base/error.hpp"
#include "shared/base/say.hpp"
#include "shared/base/unique_fd.hpp"

namespace millrace {
namespace {

constexpr std::size_t kTailBytes = 2000;

const char* program_of(ActorKind kind) {
  switch (kind) {
    case ActorKind::kHub:
    case ActorKind::kStandby:
      return "millrace-hub";
    case ActorKind::kIngress:
    case ActorKind::kEgress:
      return "millrace-io-worker";
    case ActorKind::kClassifier:
      return "millrace-classifier";
    case ActorKind::kGpu:
      return "millrace-gpu-worker";
  }
  return "";
}

}  // namespace

std::string executable_folder() {
  std::error_code error;
  const auto path = std::filesystem::read_symlink("/proc/self/exe", error);
  if (error) throw Error("find this executable: " + error.message());
  return path.parent_path();
}

std::string program_of(const Plan& plan, std::uint32_t actor) {
  const bool fused = plan.fused && moves_packets(plan.actors.at(actor));
  return fused ? "millrace-fused" : program_of(plan.actors.at(actor).kind);
}

Command actor_command(const std::string& folder, const std::string& run_dir, const Plan& plan,
                      std::uint32_t actor) {
  return {folder + "/" + program_of(plan, actor),
          {"--run-dir", run_dir, "--actor", std::to_string(actor)}};
}

Command observer_command(const std::string& folder, const std::string& name,
                         const std::string& run_dir) {
  return {folder + "/millrace-" + name, {"--run-dir", run_dir}};
}

Command builder_command(const std::string& folder, const std::string& plan_path,
                        std::uint32_t function) {
  return {folder + "/millrace-builder",
          {"--plan", plan_path, "--function", std::to_string(function)}};
}

std::string log_path(const std::string& run_dir, const std::string& name) {
  return run_dir + "/logs/" + name + ".log";
}

void append_to_log(const std::string& run_dir, const std::string& name, std::uint64_t time_ns,
                   const std::string& text) {
  const UniqueFd file(
      ::open(log_path(run_dir, name).c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600));
  const std::string line = time_stamp(time_ns) + " " + name + ": " + text + "\n";
  if (file) static_cast<void>(!::write(file.get(), line.data(), line.size()));
}

std::string log_tail(const std::string& run_dir, const std::string& name) {
  std::ifstream file(log_path(run_dir, name), std::ios::binary);
  std::string text{std::istreambuf_iterator<char>(file), {}};
  if (text.size() > kTailBytes) text.erase(0, text.size() - kTailBytes);
  while (!text.empty() && text.back() == '\n') text.pop_back();
  std::istringstream lines(text);
  std::string plain;
  for (std::string line; std::getline(lines, line);) {
    const auto said = parse_said(line);
    plain += (plain.empty() ? "" : "\n") + std::string(said ? said->rest : line);
  }
  return plain;
}

}  // namespace millrace
