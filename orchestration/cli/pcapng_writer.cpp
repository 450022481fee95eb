// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#include "orchestration/cli/pcapng_writer.hpp"

#include <poll.h>
#include <unistd.h>

#include <cerrno>
#include <span>

#include "shared/base/error.hpp"

namespace millrace {

PcapngWriter::PcapngWriter(UniqueFd file, const std::vector<PcapngInterface>& interfaces)
    : file_(std::move(file)) {
  put_pcapng_section(buffer_, "millrace capture");
  for (const PcapngInterface& one : interfaces) put_pcapng_interface(buffer_, one);
}

bool PcapngWriter::has_reader() const {
  pollfd end{file_.get(), 0, 0};
  return ::poll(&end, 1, 0) <= 0 || (end.revents & POLLERR) == 0;
}

bool PcapngWriter::flush() {
  if (buffer_.empty()) return has_reader();
  std::span<const std::byte> rest = buffer_;
  while (!rest.empty()) {
    const ssize_t written = ::write(file_.get(), rest.data(), rest.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0 && errno == EPIPE) return false;
    if (written < 0) throw system_error("write the capture", errno);
    rest = rest.subspan(static_cast<std::size_t>(written));
  }
  buffer_.clear();
  return true;
}

}  // namespace millrace
