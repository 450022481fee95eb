// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <string_view>

#include "services/functions/ids/rules/rule_keyword.hpp"

namespace millrace {
namespace {

struct Refused {
  std::string_view keyword, reason;
};
constexpr std::string_view kNoFiles = "files are not taken out of flows";
constexpr std::string_view kNoEvents = "events of decoders and streams are not kept";

constexpr Refused kRefused[] = {
    {"hostbits", "bits of hosts without a time are not kept; there is xbits"},
    {"flowint", "numbers of flows are not kept"},
    {"stream_size", "the size of a stream at a packet is not known"},
    {"lua", "scripts are not run"},
    {"luajit", "scripts are not run"},
    {"so", "code of others is not run"},
    {"geoip", "places of addresses are not known"},
    {"iprep", "the repute of addresses is not known"},
    {"filestore", kNoFiles},
    {"filemagic", kNoFiles},
    {"filemd5", kNoFiles},
    {"filesha1", kNoFiles},
    {"filesha256", kNoFiles},
    {"filesize", kNoFiles},
    {"fileext", kNoFiles},
    {"file_type", kNoFiles},
    {"file_meta", kNoFiles},
    {"decode-event", kNoEvents},
    {"stream-event", kNoEvents},
    {"engine-event", kNoEvents},
    {"ssl_state", "where a handshake is at a packet is not known"},
    {"sd_pattern", "patterns of sensitive data are not known"},
    {"regex", "expressions of Hyperscan's own are not supported; there is pcre"},
    {"replace", "packets are not rewritten"},
    {"ipopts", "options of IPv4 are not read"},
    {"datarep", "datasets have no reputes"},
    {"prefilter", "the prefilter is of contents alone"},
    {"bypass", "flows are not let past"},
};

struct RefusedGroup {
  std::string_view start, reason;
};
constexpr RefusedGroup kRefusedGroups[] = {
    {"dce_", "DCE/RPC is not read"},
    {"dcerpc.", "DCE/RPC is not read"},
    {"ber_", "BER is not read"},
    {"sip_", "SIP is not read"},
    {"sip.", "SIP is not read"},
    {"smb.", "SMB is not read"},
    {"krb5", "Kerberos is not read"},
    {"snmp.", "SNMP is not read"},
    {"mqtt.", "MQTT is not read"},
    {"rfb.", "RFB is not read"},
    {"quic.", "QUIC is not read"},
    {"nfs", "NFS is not read"},
    {"modbus", "Modbus is not read"},
    {"dnp3", "DNP3 is not read"},
    {"enip", "EtherNet/IP is not read"},
    {"cip", "CIP is not read"},
    {"ftp", "commands of FTP are not read"},
    {"ike.", "IKE is not read"},
    {"gtp_", "GTP is not read"},
    {"ssh.hassh", "HASSH is not made"},
};

}  // namespace

std::string_view reason_of_refusal(std::string_view keyword) noexcept {
  const auto* const found = std::ranges::find(kRefused, keyword, &Refused::keyword);
  if (found != std::end(kRefused)) return found->reason;
  const auto* const group = std::ranges::find_if(
      kRefusedGroups, [&](const RefusedGroup& row) { return keyword.starts_with(row.start); });
  return group == std::end(kRefusedGroups) ? std::string_view{} : group->reason;
}

}  // namespace millrace
