// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <pcap/pcap.h>

#include <cstdint>
#include <string>
#include <vector>

/// libpcap's reading of a capture: the oracle for ours.

namespace millrace::test {

/// Of a record whose fraction of a second is none: libpcap reads it with a sign.
inline constexpr std::uint64_t kNoTime = UINT64_MAX;

struct PcapPacket {
  std::string bytes;
  std::uint32_t wire_length;
  std::uint64_t time_ns;
  friend bool operator==(const PcapPacket&, const PcapPacket&) = default;
};

struct PcapReading {
  bool opened = false;
  int link_type = -1;
  bool ended_well = false;  ///< at the end of a whole record
  std::string error;
  std::vector<PcapPacket> packets;
};

inline PcapReading read_with_libpcap(const std::string& path) {
  PcapReading reading;
  char error[PCAP_ERRBUF_SIZE] = {};
  pcap_t* pcap =
      pcap_open_offline_with_tstamp_precision(path.c_str(), PCAP_TSTAMP_PRECISION_NANO, error);
  reading.error = error;
  if (pcap == nullptr) return reading;
  reading.opened = true;
  reading.link_type = pcap_datalink(pcap);
  pcap_pkthdr* header = nullptr;
  const u_char* bytes = nullptr;
  int status;
  while ((status = pcap_next_ex(pcap, &header, &bytes)) == 1) {
    const bool sane =
        header->ts.tv_sec >= 0 && header->ts.tv_usec >= 0 && header->ts.tv_usec < 1'000'000'000;
    const auto time_ns = static_cast<std::uint64_t>(header->ts.tv_sec) * 1'000'000'000 +
                         static_cast<std::uint64_t>(header->ts.tv_usec);
    reading.packets.push_back({{reinterpret_cast<const char*>(bytes), header->caplen},
                               header->len,
                               sane ? time_ns : kNoTime});
  }
  reading.ended_well = status == PCAP_ERROR_BREAK;
  reading.error = pcap_geterr(pcap);
  pcap_close(pcap);
  return reading;
}

}  // namespace millrace::test
