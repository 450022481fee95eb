// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#include "io-worker/ports/generate.hpp"

#include <arpa/inet.h>

#include <algorithm>
#include <charconv>
#include <string>

#include "io-worker/ports/packet_maker.hpp"
#include "io-worker/ports/received.hpp"
#include "io-worker/ports/schedule.hpp"
#include "io-worker/ports/settings.hpp"
#include "shared/base/clock.hpp"
#include "shared/base/error.hpp"
#include "shared/base/mac.hpp"

namespace millrace {
namespace {

bool parse_prefix(const std::string& text, Ipv4Prefix& prefix) {
  const std::size_t slash = text.find('/');
  in_addr address{};
  if (::inet_pton(AF_INET, text.substr(0, slash).c_str(), &address) != 1) return false;
  std::uint32_t bits = 32;
  if (slash != std::string::npos) {
    const char* end = text.data() + text.size();
    const auto [stop, error] = std::from_chars(text.data() + slash + 1, end, bits);
    if (error != std::errc{} || stop != end || bits > 32) return false;
  }
  prefix.host_mask = bits == 32 ? 0 : UINT32_MAX >> bits;
  prefix.address = ntohl(address.s_addr);
  return (prefix.address & prefix.host_mask) == 0;
}

std::vector<Ipv4Prefix> parse_destinations(const PortSettings& settings) {
  const std::vector<std::string> texts = settings.list("destinations");
  if (texts.size() > kGenerateDestinationCountMax) {
    settings.refuse("destinations", std::to_string(texts.size()) + " prefixes",
                    "1.." + std::to_string(kGenerateDestinationCountMax));
  }
  std::vector<Ipv4Prefix> prefixes(texts.size());
  for (std::size_t i = 0; i < texts.size(); ++i) {
    if (!parse_prefix(texts[i], prefixes[i])) {
      settings.refuse("destinations", texts[i], "IPv4 prefixes like 10.0.0.0/8, host bits zero");
    }
  }
  return prefixes;
}

std::vector<std::uint64_t> parse_sizes(const PortSettings& settings, bool numbered, bool syn) {
  const std::uint32_t smallest = numbered ? kNumberedSizeMin : kGenerateSizeMin;
  const std::uint32_t usual = syn ? kGenerateSizeMin : numbered ? kNumberedSizeMin : 64;
  std::vector<std::uint64_t> sizes = settings.numbers("size", smallest);
  if (sizes.empty()) sizes.push_back(usual);
  if (sizes.size() > kGenerateSizeCountMax) {
    settings.refuse("size", std::to_string(sizes.size()) + " sizes",
                    "1.." + std::to_string(kGenerateSizeCountMax));
  }
  return sizes;
}

static_assert(known_setting(kSettingsOfGenerate, "sources")->high == kGenerateSourceCountMax);

void check_flows(const PortSettings& settings, const GenerateSettings& parsed) {
  const std::uint64_t most = parsed.sources * kGenerateSourcePortCount;
  if (parsed.syn && settings.has("flows")) {
    settings.refuse("flows", std::to_string(parsed.flows), "none with syn, whose ports are random");
  }
  if (parsed.syn && parsed.numbered) settings.refuse("numbered", "true", "false with syn");
  if (parsed.flows > most) {
    settings.refuse("flows", std::to_string(parsed.flows),
                    "1.." + std::to_string(most) + " of so many sources");
  }
}

MacAddress mac_of(const PlanPort& port) {
  MacAddress mac{};
  if (!parse_mac(port.mac, mac)) {
    throw Error("mac is '" + port.mac + "'; allowed: an address like 02:00:00:00:00:01");
  }
  return mac;
}

class GenerateRxQueue final : public RxQueue {
 public:
  GenerateRxQueue(const GenerateSettings& settings, MacAddress mac, std::uint32_t stream,
                  std::uint64_t tsc_hz)
      : maker_(settings, mac, stream),
        schedule_(settings.rate_mpps, settings.count, tsc_hz),
        timed_(settings.numbered),
        scale_(tsc_hz) {}

  std::uint32_t poll(BufferSource& pool, std::span<RxPacket> out) noexcept override {
    const std::uint64_t now = schedule_.has_rate() || timed_ ? tsc_now() : 0;
    const std::uint32_t able = schedule_.ready(
        now, static_cast<std::uint32_t>(std::min<std::size_t>(out.size(), kBurstMax)));
    std::uint32_t buffers[kBurstMax];
    const std::uint32_t taken = able == 0 ? 0 : pool.take({buffers, able});
    if (taken == 0) return 0;
    const std::uint64_t clock_ns = timed_ ? system_clock_ns() : 0;
    const BufferArea area = pool.area();
    for (std::uint32_t i = 0; i < taken; ++i) {
      const Schedule::Next next = schedule_.next();
      const std::uint64_t late = next.due_tsc == 0 || next.due_tsc > now ? 0 : now - next.due_tsc;
      const auto late_ns = scale_.to_ns(late);
      const std::uint32_t length =
          maker_.make(area.at(buffers[i]) + kBufferHeadroom, clock_ns - late_ns);
      out[i] = {buffers[i],   kBufferHeadroom, static_cast<std::uint16_t>(length),
                length,       false,           false,
                next.ordinal, next.due_tsc};
    }
    return taken;
  }

  void resume(std::uint64_t first_wanted) noexcept override {
    schedule_.resume(first_wanted);
    maker_.seek(first_wanted);
  }
  bool exhausted() const noexcept override { return schedule_.exhausted(); }
  void rest() noexcept override { schedule_.rest(); }
  std::uint64_t next_ready_ns() const noexcept override {
    return schedule_.has_rate() ? schedule_.next_ready_ns(tsc_now()) : 0;
  }
  int wait_descriptor() noexcept override { return -1; }
  std::uint32_t held() const noexcept override { return 0; }
  std::uint64_t missed() const noexcept override { return schedule_.missed(); }

 private:
  PacketMaker maker_;
  Schedule schedule_;
  const bool timed_;
  const TscScale scale_;
};

}  // namespace

GenerateSettings generate_settings(const PlanPort& port) {
  const PortSettings settings(port);
  GenerateSettings parsed;
  parsed.numbered = settings.flag("numbered");
  parsed.flows = settings.number("flows");
  parsed.sources = settings.number("sources");
  parsed.syn = settings.flag("syn");
  check_flows(settings, parsed);
  parsed.sizes = parse_sizes(settings, parsed.numbered, parsed.syn);
  parsed.seed = settings.number("seed");
  parsed.count = settings.number("count");
  parsed.rate_mpps = settings.decimal("rate_mpps");
  parsed.stream = settings.count("stream");
  parsed.queues = settings.count("queues");
  parsed.destinations = parse_destinations(settings);
  return parsed;
}

void check_generate(const PlanPort& port) {
  generate_settings(port);
  while_doing("port '" + port.name + "' (generate)", [&] { mac_of(port); });
}

PortQueues generate_queues(const PlanPort& port) { return {generate_settings(port).queues, 0}; }

std::unique_ptr<RxQueue> open_generate_rx(const PlanPort& port, std::uint32_t queue,
                                          const BufferSource& pool, bool) {
  const GenerateSettings settings = generate_settings(port);
  const std::uint32_t room = buffer_room(pool.area());
  const std::uint64_t largest = *std::max_element(settings.sizes.begin(), settings.sizes.end());
  if (largest > room) {
    throw Error("size is '" + std::to_string(largest) + "'; a buffer holds " +
                std::to_string(room) + " bytes: raise the port's mtu");
  }
  return std::make_unique<GenerateRxQueue>(settings, mac_of(port), settings.stream + queue,
                                           measure_tsc_hz());
}

}  // namespace millrace
