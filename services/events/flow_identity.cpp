// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#include "services/events/flow_identity.hpp"

#include <openssl/evp.h>

#include <algorithm>
#include <array>
#include <memory>
#include <span>
#include <string_view>
#include <tuple>
#include <utility>

#include "services/events/base64.hpp"
#include "shared/base/fnv.hpp"
#include "shared/base/ip_protocol.hpp"

namespace millrace {
namespace {

constexpr std::uint64_t kFlowIdMask = (std::uint64_t{1} << 51) - 1;
constexpr std::size_t kDigestBytes = 20;

/// An end of a connection; ends are ordered as Community ID has it.
struct End {
  std::array<std::uint8_t, 16> address;
  std::uint16_t port;
  bool operator<(const End& other) const noexcept {
    return std::tie(address, port) < std::tie(other.address, other.port);
  }
};

struct Ends {
  End source, destination;
  bool has_ports, one_way;  ///< of Community ID; one_way: there is no answer to it
};

/// Types of ICMP that ask for or answer one another.
struct Counterpart {
  std::uint8_t protocol, type, other;
};
constexpr Counterpart kQuestions[] = {
    {ip_protocol::kIcmp, 8, 0},   {ip_protocol::kIcmp, 13, 14},     {ip_protocol::kIcmp, 15, 16},
    {ip_protocol::kIcmp, 17, 18}, {ip_protocol::kIcmpv6, 128, 129},
};
/// These have no identifier, so they make no flow; Community ID pairs them.
constexpr Counterpart kPairs[] = {
    {ip_protocol::kIcmp, 10, 9},      {ip_protocol::kIcmpv6, 130, 131},
    {ip_protocol::kIcmpv6, 133, 134}, {ip_protocol::kIcmpv6, 135, 136},
    {ip_protocol::kIcmpv6, 139, 140}, {ip_protocol::kIcmpv6, 144, 145},
};

const Counterpart* find_in(std::span<const Counterpart> rows, std::uint8_t protocol,
                           std::uint8_t type) noexcept {
  for (const Counterpart& row : rows) {
    if (row.protocol == protocol && (row.type == type || row.other == type)) return &row;
  }
  return nullptr;
}

bool is_known(const EventRecord& record) noexcept {
  if (record.ip_version != 4 && record.ip_version != 6) return false;
  const bool ports = ip_protocol::has_ports(record.protocol);
  return !ports || record.source_port != 0 || record.destination_port != 0;
}

Ends ends_of(const EventRecord& record) noexcept {
  return {.source = {record.source, record.source_port},
          .destination = {record.destination, record.destination_port},
          .has_ports = record.protocol == ip_protocol::kTcp ||
                       record.protocol == ip_protocol::kUdp ||
                       record.protocol == ip_protocol::kSctp,
          .one_way = false};
}

std::uint8_t icmp_type(const EventRecord& record) noexcept {
  return static_cast<std::uint8_t>(record.destination_port);
}

/// Type and the type of the answer stand for ports; of a type without answer, type and code.
void put_icmp_types(const EventRecord& record, Ends& ends) noexcept {
  const std::uint8_t type = icmp_type(record);
  const Counterpart* row = find_in(kQuestions, record.protocol, type);
  if (row == nullptr) row = find_in(kPairs, record.protocol, type);
  ends.has_ports = true;
  ends.one_way = row == nullptr;
  ends.source.port = type;
  ends.destination.port = record.destination_port >> 8;
  if (row != nullptr) ends.destination.port = row->type == type ? row->other : row->type;
}

std::uint64_t word_of(std::span<const std::uint8_t> bytes) noexcept {
  std::uint64_t word = 0;
  for (const std::uint8_t byte : bytes) word = word << 8 | byte;
  return word;
}

/// What is hashed: seed, both addresses, protocol, a zero, both ports; the wire's byte order.
class Hashed {
 public:
  void put(std::uint8_t byte) noexcept { bytes_[size_++] = byte; }
  void put_port(std::uint16_t port) noexcept {
    put(static_cast<std::uint8_t>(port >> 8));
    put(static_cast<std::uint8_t>(port));
  }
  void put(std::span<const std::uint8_t> bytes) noexcept {
    for (const std::uint8_t byte : bytes) put(byte);
  }
  std::span<const std::uint8_t> bytes() const noexcept { return {bytes_.data(), size_}; }

 private:
  std::array<std::uint8_t, 40> bytes_;
  std::size_t size_ = 0;
};

std::string digest_text(std::span<const std::uint8_t> bytes) {
  struct Free {
    void operator()(EVP_MD* digest) const { EVP_MD_free(digest); }
  };
  static const std::unique_ptr<EVP_MD, Free> sha1(EVP_MD_fetch(nullptr, "SHA1", nullptr));
  std::array<std::uint8_t, kDigestBytes> digest{};
  if (!sha1 ||
      EVP_Digest(bytes.data(), bytes.size(), digest.data(), nullptr, sha1.get(), nullptr) != 1) {
    return {};
  }
  return "1:" + base64_of(std::as_bytes(std::span(digest)));
}

}  // namespace

std::optional<std::uint64_t> flow_id_of(const EventRecord& record) noexcept {
  if (!is_known(record)) return std::nullopt;
  Ends ends = ends_of(record);
  if (ip_protocol::is_icmp(record.protocol)) {
    const Counterpart* const row = find_in(kQuestions, record.protocol, icmp_type(record));
    if (row == nullptr) return std::nullopt;
    ends.destination.port = row->type;
    if (row->other == icmp_type(record)) std::swap(ends.source.port, ends.destination.port);
  }
  if (ends.destination < ends.source) std::swap(ends.source, ends.destination);
  const auto half = [](const End& end, std::size_t at) {
    return word_of(std::span(end.address).subspan(at, 8));
  };
  const std::uint64_t hash =
      fnv1a({half(ends.source, 0), half(ends.source, 8), half(ends.destination, 0),
             half(ends.destination, 8),
             std::uint64_t{ends.source.port} << 32 | std::uint64_t{ends.destination.port} << 16 |
                 std::uint64_t{record.ip_version} << 8 | record.protocol});
  return (hash ^ hash >> 51) & kFlowIdMask;
}

std::string community_id_of(const EventRecord& record) {
  if (!is_known(record)) return {};
  Ends ends = ends_of(record);
  if (ip_protocol::is_icmp(record.protocol)) put_icmp_types(record, ends);
  if (!ends.one_way && ends.destination < ends.source) std::swap(ends.source, ends.destination);
  const std::size_t bytes = record.ip_version == 4 ? 4 : 16;
  Hashed hashed;
  hashed.put_port(0);  // the seed
  hashed.put(std::span(ends.source.address).first(bytes));
  hashed.put(std::span(ends.destination.address).first(bytes));
  hashed.put(record.protocol);
  hashed.put(0);
  if (ends.has_ports) {
    hashed.put_port(ends.source.port);
    hashed.put_port(ends.destination.port);
  }
  return digest_text(hashed.bytes());
}

}  // namespace millrace
