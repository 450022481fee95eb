// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#include "io-worker/ports/pcap.hpp"

#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>

#include "io-worker/ports/capture_reader.hpp"
#include "io-worker/ports/settings.hpp"
#include "shared/base/error.hpp"
#include "shared/base/whole_file.hpp"

namespace millrace {
namespace {

bool same_file(const std::string& a, const std::string& b) {
  std::error_code ignored;
  return a == b || std::filesystem::equivalent(a, b, ignored);
}

}  // namespace

PcapSettings pcap_settings(const PlanPort& port) {
  const PortSettings settings(port);
  PcapSettings parsed{settings.text("in"), settings.text("out")};
  if (parsed.in.empty() && parsed.out.empty()) {
    settings.refuse("needs 'in' (a capture to read), 'out' (a file to write), or both");
  }
  if (!parsed.in.empty() && same_file(parsed.in, parsed.out)) {
    settings.refuse("out", parsed.out, "another file than 'in'");
  }
  return parsed;
}

void check_pcap(const PlanPort& port) {
  const PcapSettings settings = pcap_settings(port);
  const auto check = [&] {
    if (!settings.in.empty()) CaptureReader{settings.in};
    if (settings.out.empty()) return;
    std::filesystem::path folder = std::filesystem::path(settings.out).parent_path();
    if (folder.empty()) folder = ".";
    if (::access(folder.c_str(), W_OK | X_OK) != 0) throw system_error(settings.out, errno);
    struct stat status {};
    if (::stat(settings.out.c_str(), &status) == 0 && !S_ISREG(status.st_mode)) {
      throw Error(settings.out + ": it is " + std::string(file_kind(status.st_mode)) +
                  "; a regular file is needed");
    }
  };
  while_doing("port '" + port.name + "' (pcap)", check);
}

PortQueues pcap_queues(const PlanPort& port) {
  const PcapSettings settings = pcap_settings(port);
  return {settings.in.empty() ? 0u : 1u, settings.out.empty() ? 0u : 1u};
}

}  // namespace millrace
