// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#include "shared/control/discovery_file.hpp"

#include <cstddef>
#include <filesystem>
#include <span>
#include <system_error>

#include "shared/base/error.hpp"
#include "shared/control/whole_file.hpp"

namespace millrace {
namespace {

namespace fs = std::filesystem;

void write_target(const std::string& run_dir, const std::string& target,
                  const std::string& labels) {
  const std::string path = discovery_path(run_dir);
  const std::string text = "[{\"targets\": [\"" + target + "\"], \"labels\": {" + labels + "}}]\n";
  write_whole_file(path, std::as_bytes(std::span(text)));
  std::error_code error;
  fs::permissions(path, fs::perms::group_read | fs::perms::others_read, fs::perm_options::add,
                  error);
  if (error) throw Error("make " + path + " readable: " + error.message());
}

}  // namespace

void write_discovery(const std::string& run_dir, const std::string& topology,
                     const std::string& address) {
  write_target(run_dir, address, "\"topology\": \"" + topology + "\"");
}

void write_bypass_discovery(const std::string& run_dir, const std::string& topology) {
  write_target(run_dir, "127.0.0.1:0", "\"topology\": \"" + topology + "\", \"bypass\": \"on\"");
}

}  // namespace millrace
