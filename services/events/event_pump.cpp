// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#include "services/events/event_pump.hpp"

#include <span>
#include <utility>

#include "services/events/flow_identity.hpp"
#include "services/events/stats_json.hpp"
#include "shared/base/check.hpp"
#include "shared/base/say.hpp"

namespace millrace {
namespace {

/// EventSink::intent_ring while a line that belongs to no ring is written.
constexpr std::uint64_t kOfNoRing = UINT64_MAX;
constexpr std::size_t kLineBytes = 1024;  ///< more than a line has: room for all of a turn's

void store(std::atomic<std::uint64_t>& word, std::uint64_t value) {
  word.store(value, std::memory_order_relaxed);
}

std::uint64_t load(const std::atomic<std::uint64_t>& word) {
  return word.load(std::memory_order_relaxed);
}

}  // namespace

EventPump::EventPump(const Plan& plan, const EventRings& rings, std::uint64_t tsc_hz,
                     EventFile* file, EventSocket& socket, IpfixExport* ipfix)
    : plan_(plan),
      rings_(rings),
      sink_(rings.sink()),
      scale_(tsc_hz),
      file_(file),
      socket_(socket),
      ipfix_(ipfix) {
  for (std::uint32_t actor = 0; actor < plan.actors.size(); ++actor) {
    const std::uint32_t ring = event_ring_of(plan, actor);
    if (ring == kNoEventRing) continue;
    MILLRACE_CHECK(ring == sources_.size());
    sources_.push_back({plan.actors[actor].name, EventReader(rings, ring)});
  }
  use(plan_);
  static_cast<void>(community_id_of({}));  // loads the parts of libcrypto that it needs
  lines_.reserve(std::size_t{kRecordsPerTurn} * kLineBytes);
  finish_what_was_begun();
}

/// Called when the last process was killed while it wrote. Sets all words and adds to none: if this
/// process is killed here too, the next one does the same again. After let_go_until() nothing is
/// left to do.
void EventPump::finish_what_was_begun() {
  const std::uint64_t number = sink_.intent_ring.load(std::memory_order_acquire);
  if (number == kOfNoRing && file_ != nullptr) {
    file_->lines_behind({sink_.intent_file, sink_.intent_offset});  // cuts off half a line
    sink_.intent_ring.store(0, std::memory_order_release);
  }
  if (number == 0 || number > sources_.size() || file_ == nullptr) return;
  if (!file_->is_open()) {
    tell_without_file(static_cast<std::uint32_t>(number - 1));
    return;
  }
  EventReader& reader = sources_[number - 1].reader;
  const std::uint64_t lines = file_->lines_behind({sink_.intent_file, sink_.intent_offset});
  if (reader.head() == sink_.intent_head) {
    std::uint64_t refused = 0, streamed = 0;
    const std::uint32_t records = records_of(reader, lines, refused, streamed);
    store(sink_.file_written, sink_.intent_written + lines);
    store(sink_.file_lost, sink_.intent_lost + refused);
    store(sink_.stream_written, sink_.intent_stream_written + streamed);
    store(sink_.stream_lost, sink_.intent_stream_lost);
    reader.let_go_until(sink_.intent_head + records);
  }
  sink_.intent_ring.store(0, std::memory_order_release);
}

/// Tells the killed process's records while the file is closed. So they count as lost, and are not
/// written again when a file that has a part of them is back.
void EventPump::tell_without_file(std::uint32_t ring) {
  if (sources_[ring].reader.head() == sink_.intent_head) {
    store(sink_.file_written, sink_.intent_written);
    store(sink_.file_lost, sink_.intent_lost);
    store(sink_.stream_written, sink_.intent_stream_written);
    store(sink_.stream_lost, sink_.intent_stream_lost);
    begin_turn();
    tell(ring);
  }
  sink_.intent_ring.store(0, std::memory_order_release);
}

/// Records that the next `lines` lines of a ring take, with those between them that are refused or
/// belong to streams: these are in their files before anything else is written.
std::uint32_t EventPump::records_of(EventReader& reader, std::uint64_t lines,
                                    std::uint64_t& refused, std::uint64_t& streamed) noexcept {
  std::uint64_t skipped = 0;
  const std::uint32_t count = reader.peek(records_, skipped);
  std::span<const EventRecord> rest(records_.data(), count);
  while (lines != 0 && !rest.empty()) {
    next_line(rest, line_);
    if (line_.is_whole && line_.record.kind == EventKind::kStream) {
      ++streamed;
    } else if (line_.is_whole) {
      --lines;
    } else {
      ++refused;
    }
  }
  return count - static_cast<std::uint32_t>(rest.size());
}

void EventPump::use(Plan plan) {
  plan_ = std::move(plan);
  for (const std::string& problem : signatures_.use(plan_)) say("events", problem);
  use_streams();
}

/// Opens the files of `streams` functions; those with unchanged settings go on.
void EventPump::use_streams() {
  streams_.resize(plan_.functions.size());
  for (std::size_t i = 0; i < streams_.size(); ++i) {
    const auto limits = stream_file_limits(plan_.functions[i]);
    if (streams_[i] != nullptr && limits && streams_[i]->limits() == *limits) continue;
    streams_[i] = nullptr;
    if (limits) streams_[i] = std::make_unique<StreamFiles>(*limits);
  }
}

bool EventPump::put_stream(const EventRecord& record, std::span<const std::byte> text) {
  StreamFiles* const files =
      record.function < streams_.size() ? streams_[record.function].get() : nullptr;
  return files != nullptr && files->put(record, text);
}

const SignatureName* EventPump::name_of(const EventRecord& record) {
  const auto asked = named_signature(record);
  if (!asked) return nullptr;
  const SignatureName* name = signatures_.find(record);
  const bool known = name != nullptr && name->revision == asked->revision;
  if (known || !newest_ || std::exchange(asked_, true)) return name;
  if (auto plan = newest_()) {
    use(std::move(*plan));
    name = signatures_.find(record);
  }
  return name;
}

void EventPump::put_lines(const Source& source, std::uint64_t head,
                          std::span<const EventRecord> records) {
  lines_.clear();
  line_count_ = refused_ = streamed_ = stream_lost_ = 0;
  const std::size_t count = records.size();
  for (std::size_t i = 0; i < count; ++i) {
    times_ns_[i] = now_ns_ - scale_.ns_between(records[i].time_tsc, now_tsc_);
  }
  while (!records.empty()) {
    const std::size_t at = count - records.size();
    next_line(records, line_);
    if (!line_.is_whole) {
      ++refused_;
      continue;
    }
    if (line_.record.kind == EventKind::kStream) {
      ++streamed_;
      if (!put_stream(line_.record, line_.text())) ++stream_lost_;
      continue;
    }
    ++line_count_;
    put_event(line_.record,
              {.actor = source.actor,
               .number = head + at,
               .time_ns = times_ns_[at],
               .signature = name_of(line_.record),
               .text = line_.text()},
              plan_, times_, lines_);
  }
}

void EventPump::count_streams() noexcept {
  store(sink_.stream_written, load(sink_.stream_written) + streamed_ - stream_lost_);
  store(sink_.stream_lost, load(sink_.stream_lost) + stream_lost_);
}

void EventPump::note_place() noexcept {
  const EventFile::Place place = file_->place();
  sink_.intent_file = place.file;
  sink_.intent_offset = place.offset;
}

void EventPump::rotate() noexcept {
  if (file_->rotate()) store(sink_.rotations, load(sink_.rotations) + 1);
}

/// Writes, counts, then lets the records go; writes to the file between two stores of the intent.
void EventPump::write(std::uint32_t ring, std::uint64_t head, std::uint32_t count) noexcept {
  const std::uint64_t written = load(sink_.file_written), lost = load(sink_.file_lost);
  sink_.intent_stream_written = load(sink_.stream_written);
  sink_.intent_stream_lost = load(sink_.stream_lost);
  note_place();
  sink_.intent_head = head;
  sink_.intent_written = written;
  sink_.intent_lost = lost;
  sink_.intent_ring.store(ring + 1, std::memory_order_release);
  const std::uint64_t lines = file_->write(lines_);
  store(sink_.file_written, written + lines);
  store(sink_.file_lost, lost + refused_ + line_count_ - lines);
  count_streams();
  sources_[ring].reader.let_go_until(head + count);
  sink_.intent_ring.store(0, std::memory_order_release);
  rotate();
}

void EventPump::tell_stats(const StatusView& status) {
  const std::uint64_t now_ns = system_clock_ns();
  lines_.clear();
  put_stats(stats_sums(plan_, status, now_ns), signatures_.counts(), plan_, now_ns, times_, lines_);
  if (file_ != nullptr) {
    note_place();
    sink_.intent_ring.store(kOfNoRing, std::memory_order_release);
    file_->write(lines_);
    sink_.intent_ring.store(0, std::memory_order_release);
    rotate();
  }
  socket_.put(lines_);
}

std::uint32_t EventPump::tell(std::uint32_t ring) {
  Source& source = sources_[ring];
  const std::uint64_t head = source.reader.head();
  std::uint64_t skipped = 0;
  const std::uint32_t count = source.reader.peek(records_, skipped);
  if (skipped != 0) store(sink_.file_lost, load(sink_.file_lost) + skipped);
  if (count == 0) return 0;
  const std::span<const EventRecord> records(records_.data(), count);
  put_lines(source, head, records);
  if (ipfix_ != nullptr) ipfix_->begin(records);
  if (file_ != nullptr) {
    write(ring, head, count);
  } else {
    count_streams();
    source.reader.let_go_until(head + count);
  }
  if (ipfix_ != nullptr) ipfix_->send(records, {times_ns_.data(), count}, now_ns_);
  socket_.put(lines_);
  return line_count_ + refused_ + streamed_;
}

void EventPump::begin_turn() noexcept {
  now_tsc_ = tsc_now();
  now_ns_ = system_clock_ns();
  asked_ = false;
}

std::size_t EventPump::turn() {
  begin_turn();
  std::size_t count = 0;
  for (std::uint32_t ring = 0; ring < sources_.size(); ++ring) count += tell(ring);
  return count;
}

}  // namespace millrace
