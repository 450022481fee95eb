// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#include "services/events/ipfix_export.hpp"

#include <sys/socket.h>

#include <algorithm>
#include <cerrno>
#include <string>

#include "shared/base/check.hpp"
#include "shared/base/error.hpp"
#include "shared/base/say.hpp"

namespace millrace {
namespace {

constexpr std::uint64_t kNsOfASecond = 1'000'000'000;
/// The kernel reports a refused message with the next one, so one success alone says little.
constexpr std::uint32_t kWellMessages = 3;

void count_more(std::atomic<std::uint64_t>& word, std::uint64_t count) {
  word.store(word.load(std::memory_order_relaxed) + count, std::memory_order_relaxed);
}

}  // namespace

IpfixExport::IpfixExport(const PlanIpfix& settings, EventSink& sink)
    : settings_(settings), sink_(sink) {
  const auto collector = socket_address(settings.collector);
  if (!collector)
    throw Error("'" + settings.collector +
                "' (`events: ipfix`) is no address; allowed: like 192.0.2.1:4739");
  collector_ = *collector;
  socket_ = UniqueFd(::socket(collector_.family(), SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  if (!socket_) throw system_error("make a socket (`events: ipfix`)", errno);
  const std::uint64_t begun = sink.ipfix_begun.load(std::memory_order_relaxed);
  const std::uint64_t sent = sink.ipfix_sent.load(std::memory_order_relaxed);
  sink.ipfix_lost.store(begun - std::min(sent, begun), std::memory_order_relaxed);
  sequence_ = begun;
}

void IpfixExport::begin(std::span<const EventRecord> records) noexcept {
  count_more(sink_.ipfix_begun,
             static_cast<std::uint64_t>(std::ranges::count_if(records, is_ipfix_record)));
}

/// Begins a message, with templates when they are due: a message that could not be sent has brought
/// them to no collector.
void IpfixExport::begin_message(std::uint64_t now_ns) noexcept {
  const bool due = messages_ >= kTemplatePauseMessages || now_ns < templates_ns_ ||
                   now_ns - templates_ns_ >= kTemplatePauseNs;
  if (due) {
    messages_ = 0;
    templates_ns_ = now_ns;
  }
  message_.begin(static_cast<std::uint32_t>(now_ns / kNsOfASecond),
                 static_cast<std::uint32_t>(sequence_), settings_.domain, due);
}

/// Returns 0, or errno.
int IpfixExport::try_to_send(std::span<const std::byte> message) noexcept {
  // Tried again until it works: there may be no route yet.
  if (!connected_ && ::connect(socket_.get(), collector_.get(), collector_.bytes) != 0) {
    return errno;
  }
  connected_ = true;
  return ::send(socket_.get(), message.data(), message.size(), MSG_NOSIGNAL) < 0 ? errno : 0;
}

void IpfixExport::note(int error, std::uint32_t records) noexcept {
  count_more(error == 0 ? sink_.ipfix_sent : sink_.ipfix_lost, records);
  const std::string collector = "collector " + settings_.collector + " (`events: ipfix`)";
  if (error != 0) {
    if (failed_ == 0) {
      say("events", system_error("send to " + collector, error).what() +
                        std::string("; records are lost and counted"));
    }
    failed_ += records;
    well_ = 0;
    return;
  }
  if (failed_ == 0 || ++well_ < kWellMessages) return;
  say("events", collector + " gets records again; " + std::to_string(failed_) + " were lost");
  failed_ = 0;
}

void IpfixExport::send_message() noexcept {
  const int error = try_to_send(message_.finish());
  sequence_ += message_.records();
  messages_ = error == 0 ? messages_ + 1 : kTemplatePauseMessages;
  note(error, message_.records());
}

void IpfixExport::send(std::span<const EventRecord> records,
                       std::span<const std::uint64_t> times_ns, std::uint64_t now_ns) noexcept {
  bool begun = false;
  for (std::size_t i = 0; i < records.size(); ++i) {
    if (!is_ipfix_record(records[i])) continue;
    if (!begun) begin_message(now_ns);
    begun = true;
    if (message_.add(records[i], times_ns[i])) continue;
    send_message();
    begin_message(now_ns);
    MILLRACE_CHECK(message_.add(records[i], times_ns[i]));
  }
  if (begun) send_message();
}

}  // namespace millrace
