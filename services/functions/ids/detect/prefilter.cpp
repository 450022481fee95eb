// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#include "services/functions/ids/detect/prefilter.hpp"

#include <algorithm>
#include <array>
#include <cstring>
#include <map>
#include <set>
#include <tuple>
#include <utility>

#include "services/functions/match/vectorscan.hpp"
#include "shared/base/error.hpp"
#include "shared/base/fnv.hpp"

namespace millrace {
namespace {

constexpr std::size_t kStreamPlace = ScanGroup(PayloadOf::kStream).place();

/// Groups of one database are looked for by one search: segments of TCP hold a stream's bytes, and
/// mostly those of a body.
constexpr std::size_t database_of(std::size_t group) noexcept {
  const bool is_shared = group == ScanGroup(PayloadOf::kTcpPacket).place() ||
                         group == ScanGroup(RuleBuffer::kFileData).place();
  return is_shared ? kStreamPlace : group;
}

/// Equal gates of a database are one literal.
struct GroupGates {
  std::vector<HsLiteral> literals;  ///< of the database of this place; numbers are their places
  std::vector<std::vector<std::uint32_t>> owners;  ///< by its database's literal: signatures
  std::vector<std::uint32_t> ungated;
  std::uint32_t longest = 0;
};
using AllGates = std::array<GroupGates, ScanGroup::kCount>;

class GateCollector {
 public:
  void add(ScanGroup group, const std::optional<RuleGate>& gate, std::uint32_t signature) {
    GroupGates& gates = gates_[group.place()];
    if (!gate) return gates.ungated.push_back(signature);
    const std::size_t database = database_of(group.place());
    std::vector<HsLiteral>& literals = gates_[database].literals;
    const auto [place, is_new] = places_[database].try_emplace(
        {gate->bytes, gate->nocase}, static_cast<unsigned>(literals.size()));
    if (is_new) {
      literals.push_back({.bytes = gate->bytes, .nocase = gate->nocase, .number = place->second});
    }
    gates.longest = std::max(gates.longest, static_cast<std::uint32_t>(gate->bytes.size()));
    if (gates.owners.size() <= place->second) gates.owners.resize(place->second + 1);
    gates.owners[place->second].push_back(signature);
  }
  AllGates take() { return std::move(gates_); }

 private:
  AllGates gates_;
  std::array<std::map<std::pair<std::string, bool>, unsigned>, ScanGroup::kCount> places_;
};

/// The first buffer that transactions have; of a rule that is looked at with them.
RuleBuffer first_buffer(const Signature& signature) {
  return std::ranges::find_if(
             signature.buffers,
             [](const BufferTests& tests) { return tests.buffer != RuleBuffer::kPayload; })
      ->buffer;
}

AllGates collect_gates(std::span<const Signature> signatures) {
  GateCollector collector;
  for (std::uint32_t number = 0; number < signatures.size(); ++number) {
    const Signature& signature = signatures[number];
    const RuleRoutes routes = routes_of(signature);
    const std::optional<RuleGate> gate = gate_of(signature);
    if (routes.transactions) {
      const RuleBuffer buffer =
          gate ? signature.buffers[gate->buffer].buffer : first_buffer(signature);
      collector.add(buffer, gate, number);
    } else if (routes.has_payload) {
      for (std::size_t kind = 0; kind < kPayloadKinds; ++kind) {
        if (routes.payload[kind]) collector.add(static_cast<PayloadOf>(kind), gate, number);
      }
    }
  }
  return collector.take();
}

/// Bodies and streams come in pieces, each behind bytes that have been searched before.
bool comes_in_pieces(std::size_t database) { return database == kStreamPlace; }

/// What the databases were made of.
std::uint64_t hash_of(const AllGates& groups) {
  std::uint64_t hash = fnv1a({ScanGroup::kCount, kGateBytesMin, kGateBytesMax});
  for (const GroupGates& gates : groups) {
    hash = fnv1a({hash, gates.literals.size()});
    for (const HsLiteral& literal : gates.literals) {
      for (const char byte : literal.bytes) hash = fnv1a_add(hash, static_cast<std::uint8_t>(byte));
      hash = fnv1a({hash, literal.bytes.size(), literal.nocase ? 1u : 0u});
    }
  }
  return hash;
}

using Ports = std::set<std::uint16_t>;  // 0: any

/// Ports of one side; any where there are too many.
Ports ports_of(const PortSet& set) {
  if (set.is_any) return {0};
  Ports ports;
  for (const auto& [low, high] : set.ranges) {
    if (high - low >= static_cast<int>(PayloadLiterals::kPortsMax)) return {0};
    for (std::uint32_t port = low; port <= high; ++port) {
      ports.insert(static_cast<std::uint16_t>(port));
    }
    if (ports.size() > PayloadLiterals::kPortsMax) return {0};
  }
  return ports;
}

/// A packet that the rule fits has one of them at some side.
Ports ports_of(const Signature& signature) {
  Ports source = ports_of(signature.source_ports);
  Ports destination = ports_of(signature.destination_ports);
  if (source.contains(0)) return destination;
  return destination.contains(0) || source.size() < destination.size() ? source : destination;
}

/// Literals of one database, which `groups` share.
std::vector<PayloadLiterals::Literal> literals_of(const AllGates& gates, std::size_t database,
                                                  std::span<const Signature> signatures) {
  const std::vector<HsLiteral>& literals = gates[database].literals;
  std::vector<Ports> ports(literals.size());
  for (std::size_t group = 0; group < gates.size(); ++group) {
    if (database_of(group) != database) continue;
    const auto& owners = gates[group].owners;
    for (std::size_t literal = 0; literal < owners.size(); ++literal) {
      for (const std::uint32_t owner : owners[literal]) {
        ports[literal].merge(ports_of(signatures[owner]));
      }
    }
  }
  std::vector<PayloadLiterals::Literal> found;
  for (std::size_t literal = 0; literal < literals.size(); ++literal) {
    const auto& [bytes, nocase, number] = literals[literal];
    if (ports[literal].contains(0) || ports[literal].size() > PayloadLiterals::kPortsMax) {
      ports[literal] = {0};
    }
    for (const std::uint16_t port : ports[literal]) found.push_back({bytes, nocase, port});
  }
  std::ranges::sort(found, {}, [](const PayloadLiterals::Literal& one) {
    return std::tie(one.bytes, one.nocase, one.port);
  });
  return found;
}

std::uint64_t add_to_hash(std::uint64_t hash, const std::vector<PayloadLiterals::Literal>& set) {
  hash = fnv1a({hash, set.size()});
  for (const PayloadLiterals::Literal& literal : set) {
    for (const char byte : literal.bytes) hash = fnv1a_add(hash, static_cast<std::uint8_t>(byte));
    hash = fnv1a({hash, literal.bytes.size(), literal.nocase ? 1u : 0u, literal.port});
  }
  return hash;
}

/// In front of the databases, which follow in the order of their groups.
struct BuiltHeader {
  std::uint64_t gates;     ///< hash_of()
  std::uint64_t literals;  ///< PayloadLiterals::fingerprint
  std::array<std::uint64_t, ScanGroup::kCount> bytes;
};
static_assert(sizeof(BuiltHeader) == 16 + 8 * ScanGroup::kCount);

BuiltHeader header_of(std::span<const std::byte> built) {
  BuiltHeader header;
  if (built.size() < sizeof header) throw Error("the prefilter is cut short");
  std::memcpy(&header, built.data(), sizeof header);
  return header;
}

}  // namespace

PayloadLiterals payload_literals(std::span<const Signature> signatures) {
  const AllGates groups = collect_gates(signatures);
  constexpr std::size_t kDatagramPlace = ScanGroup(PayloadOf::kDatagram).place();
  PayloadLiterals literals{.tcp = literals_of(groups, kStreamPlace, signatures),
                           .udp = literals_of(groups, kDatagramPlace, signatures)};
  const std::uint64_t hash = add_to_hash(add_to_hash(kFnvBasis, literals.tcp), literals.udp);
  literals.fingerprint = static_cast<std::uint32_t>(hash ^ hash >> 32);
  return literals;
}

std::uint32_t payload_fingerprint(std::span<const std::byte> built) {
  return static_cast<std::uint32_t>(header_of(built).literals);
}

std::vector<std::byte> build_prefilter(std::span<const Signature> signatures) {
  const AllGates groups = collect_gates(signatures);
  BuiltHeader header{};
  header.gates = hash_of(groups);
  header.literals = payload_literals(signatures).fingerprint;
  std::vector<std::byte> built(sizeof header);
  for (std::size_t group = 0; group < groups.size(); ++group) {
    HsRefusal refusal;
    const HsDatabase database =
        compile_literals(groups[group].literals,
                         comes_in_pieces(group) ? MatchPlaces::kEach : MatchPlaces::kOne, refusal);
    if (!refusal.reason.empty()) {
      throw Error("Vectorscan cannot compile the fast patterns: " + refusal.reason);
    }
    const std::vector<std::byte> bytes = serialize_database(database.get());
    header.bytes[group] = bytes.size();
    built.insert(built.end(), bytes.begin(), bytes.end());
  }
  std::memcpy(built.data(), &header, sizeof header);
  return built;
}

struct Prefilter::Parts {
  struct Group {
    std::vector<std::vector<std::uint32_t>> owners;
    std::vector<std::uint32_t> ungated;
    std::uint32_t carry = 0;
  };
  struct Database {
    HsDatabase literals;
    std::uint32_t carry = 0;  ///< the longest of its groups
  };
  std::array<Group, ScanGroup::kCount> groups;
  std::array<Database, ScanGroup::kCount> databases;
  HsScratch scratch;
  // Of the search in hand.
  std::vector<std::uint32_t> literals;  ///< found, each once
  std::vector<bool> is_found;           ///< by literal

  struct Search {
    Parts& parts;
    std::uint64_t behind;  ///< a literal that ends there does not count
  };
  static int on_literal(unsigned literal, unsigned long long, unsigned long long end, unsigned,
                        void* context) noexcept {
    const Search& search = *static_cast<const Search*>(context);
    Parts& parts = search.parts;
    if (end <= search.behind || parts.is_found[literal]) return 0;
    parts.is_found[literal] = true;
    parts.literals.push_back(literal);
    return 0;
  }
  /// Leaves what it has found in `literals`.
  void scan(std::size_t place, const BufferValue& value, std::uint32_t carry,
            bool is_clean = false) noexcept {
    const Database& database = databases[place];
    literals.clear();
    if (database.literals == nullptr || value.seen >= value.bytes.size()) return;
    const std::uint32_t back = std::min(value.seen, carry);
    std::span<const std::byte> text = value.bytes.subspan(value.seen - back);
    if (is_clean) {  // what begins in front of the new bytes may be there still
      if (back == 0) return;
      text = text.first(std::min<std::size_t>(text.size(), std::size_t{back} + carry));
    }
    // Of a database that reports the first place alone, a literal may be in the new bytes too.
    Search search{*this, comes_in_pieces(place) ? back : 0u};
    scan_text(database.literals.get(), text, scratch.get(), on_literal, &search);
    for (const std::uint32_t literal : literals) is_found[literal] = false;
  }
  void name(const Group& group, std::span<const std::uint32_t> of, Candidates& found) {
    for (const std::uint32_t literal : of) {
      if (literal >= group.owners.size()) continue;  // of other groups of its database
      const std::vector<std::uint32_t>& owners = group.owners[literal];
      found.insert(found.end(), owners.begin(), owners.end());
    }
  }
};

Prefilter::Prefilter(std::span<const std::byte> built, std::span<const Signature> signatures)
    : parts_(std::make_unique<Parts>()) {
  AllGates gates = collect_gates(signatures);
  const BuiltHeader header = header_of(built);
  if (header.gates != hash_of(gates)) throw Error("the prefilter is of other rules");
  std::size_t at = sizeof header, most = 0;
  for (std::size_t place = 0; place < ScanGroup::kCount; ++place) {
    Parts::Group& group = parts_->groups[place];
    Parts::Database& database = parts_->databases[place];
    if (header.bytes[place] > built.size() - at) throw Error("the prefilter is cut short");
    database.literals = deserialize_database(built.subspan(at, header.bytes[place]));
    at += header.bytes[place];
    if ((database.literals == nullptr) != gates[place].literals.empty()) {
      throw Error("the prefilter lacks a database");
    }
    grow_scratch(parts_->scratch, database.literals.get());
    most = std::max(most, gates[place].literals.size());
    group.owners = std::move(gates[place].owners);
    group.ungated = std::move(gates[place].ungated);
    group.carry = gates[place].longest == 0 ? 0 : gates[place].longest - 1;
    std::uint32_t& carry = parts_->databases[database_of(place)].carry;
    carry = std::max(carry, group.carry);
  }
  parts_->literals.reserve(most);
  parts_->is_found.resize(most);
}

Prefilter::~Prefilter() = default;
Prefilter::Prefilter(Prefilter&&) noexcept = default;
Prefilter& Prefilter::operator=(Prefilter&&) noexcept = default;

void Prefilter::search(ScanGroup group_of, const BufferValue& value, Candidates& found) noexcept {
  const Parts::Group& group = parts_->groups[group_of.place()];
  if (group.owners.empty()) return;
  parts_->scan(database_of(group_of.place()), value, group.carry);
  if (parts_->literals.empty()) return;
  parts_->name(group, parts_->literals, found);
  std::ranges::sort(found);
  found.erase(std::unique(found.begin(), found.end()), found.end());
}

void Prefilter::search_segment(const BufferValue& text, FoundLiterals& found,
                               bool is_clean) noexcept {
  parts_->scan(kStreamPlace, text, parts_->databases[kStreamPlace].carry, is_clean);
  found.numbers.assign(parts_->literals.begin(), parts_->literals.end());
}

void Prefilter::name(ScanGroup group, const FoundLiterals& literals, Candidates& found) noexcept {
  parts_->name(parts_->groups[group.place()], literals.numbers, found);
}

std::span<const std::uint32_t> Prefilter::ungated(ScanGroup group) const noexcept {
  return parts_->groups[group.place()].ungated;
}

std::uint32_t Prefilter::carry(ScanGroup group) const noexcept {
  return parts_->groups[group.place()].carry;
}

}  // namespace millrace
