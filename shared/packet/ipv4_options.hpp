// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

/// Options of IPv4 headers as a router that forwards treats them (RFC 791 3.1, RFC 1812 5.2.4, RFC
/// 7126): record route and timestamp are filled in, source routes refused, a router alert has to be
/// long enough (RFC 2113), all else passes by its length, known or not. What is malformed, and
/// which byte of it is named, is as in Linux (net/ipv4/ip_options.c), which also looks into CIPSO
/// and clears what lies behind an end of options.

namespace millrace {

enum class Ipv4OptionsResult : std::uint8_t {
  kNothing,      // the header passes as it is
  kChanged,      // an option gets an entry
  kProblem,      // malformed: parameter problem (RFC 792), the datagram is dropped
  kSourceRoute,  // a loose or strict source route, used up or not: source route failed
};

/// `pointer`: offset in the header of the bad byte (kProblem), of the source route (kSourceRoute);
/// else 0.
struct Ipv4OptionsVerdict {
  Ipv4OptionsResult result = Ipv4OptionsResult::kNothing;
  std::uint8_t pointer = 0;

  friend bool operator==(const Ipv4OptionsVerdict&, const Ipv4OptionsVerdict&) = default;
};

/// `header`: exactly the bytes of an IPv4 header, 20 to 60; of more the first 60 count, fewer are
/// kNothing. kChanged: apply_ipv4_options() has an entry to make, or asks whether a prespecified
/// address is ours. kProblem wins over kSourceRoute. Bytes behind an end of options are not looked
/// at.
Ipv4OptionsVerdict check_ipv4_options(std::span<const std::byte> header) noexcept;

/// Makes the entries and updates the header's checksum; one that was wrong stays wrong. kChanged:
/// something was written; any other result: nothing was. `own_address`: that of the interface that
/// the datagram leaves by, in host byte order (RFC 1812 5.2.4.2); an entry of a timestamp with
/// prespecified addresses (flag 3) is made only if its address is this. `ms_since_midnight_ut`:
/// below 86,400,000. A timestamp without room counts the overflow, and the sixteenth is kProblem.
Ipv4OptionsVerdict apply_ipv4_options(std::span<std::byte> header, std::uint32_t own_address,
                                      std::uint32_t ms_since_midnight_ut) noexcept;

}  // namespace millrace
