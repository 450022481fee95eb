// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#include "orchestration/cli/pcapng_writer.hpp"

#include <utility>

namespace millrace {

PcapngWriter::PcapngWriter(UniqueFd file, const std::vector<PcapngInterface>& interfaces,
                           std::string name)
    : file_(std::move(file), std::move(name)) {
  put_pcapng_section(file_.buffer(), "millrace capture");
  for (const PcapngInterface& one : interfaces) put_pcapng_interface(file_.buffer(), one);
  file_.end_record();
}

}  // namespace millrace
