// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <bit>
#include <iostream>
#include <memory>
#include <thread>

#include "orchestration/cli/capture_files.hpp"
#include "orchestration/cli/commands.hpp"
#include "orchestration/cli/ending.hpp"
#include "orchestration/cli/failure.hpp"
#include "orchestration/cli/fate.hpp"
#include "orchestration/cli/files_in_use.hpp"
#include "orchestration/cli/json_text.hpp"
#include "orchestration/cli/running.hpp"
#include "orchestration/cli/watching.hpp"
#include "shared/base/nearest.hpp"
#include "shared/config/plan_reasons.hpp"

namespace millrace {
namespace {

using Clock = std::chrono::steady_clock;
constexpr std::uint32_t kShownPerFlush = 1024;
constexpr std::uint64_t kMegabyte = 1'000'000;

struct CaptureOptions : RunningOptions {
  std::vector<std::string> ports, links, reasons;
  bool dropped = false;
  std::string filter;
  std::uint64_t count = 0;
  double seconds = 0;
  std::uint32_t snap_length = 0;
  std::uint32_t buffer_mib = 4;
  std::string file = "-";
  std::uint64_t file_megabytes = 0;
  std::uint32_t file_count = 0;
};

/// Numbers of the reasons of these names. Throws Error with the names that there are.
std::vector<std::uint8_t> reasons_of(const Plan& plan, const std::vector<std::string>& names) {
  std::vector<std::uint8_t> numbers;
  for (const std::string& name : names) {
    const std::size_t number = reason_number(plan.reasons, name);
    if (number == kReasonCount) {
      std::vector<std::string_view> known;
      for (std::size_t i = 1; i < kReasonCount; ++i) {
        if (const auto one = reason_name(plan.reasons, i); !one.empty()) known.push_back(one);
      }
      throw Error("--reason: " + no_such("reason", name, known));
    }
    numbers.push_back(static_cast<std::uint8_t>(number));
  }
  return numbers;
}

class Capture {
 public:
  Capture(const CaptureOptions& options, const std::string& run_dir)
      : options_(options),
        observed_(observe(run_dir)),
        reasons_(reasons_of(observed_.plan, options.reasons)),
        places_(watch_places(observed_.plan, options.ports, options.links,
                             options.dropped || !reasons_.empty())),
        written_(places_.size()),
        told_(places_.size()),
        watching_(observed_, run_dir, wish()),
        files_(options.file,
               {.bytes = options.file_megabytes * kMegabyte, .files = options.file_count},
               interfaces(), [this, run_dir](const std::string& path) {
                 refuse_file_in_use(observed_.plan, run_dir, path);
               }) {}

  void run();
  void tell() const;
  /// An actor that was asked has never answered.
  bool is_partial() const { return !silent_.empty(); }

 private:
  WatchWish wish() const;
  std::vector<PcapngInterface> interfaces() const;
  bool full() const { return options_.count != 0 && total_ == options_.count; }
  bool write_some(bool at_once);
  bool is_wanted(const WatchRecord& record) const;
  void write(const Watching::Shown& shown);
  void put_statistics();
  bool is_over();

  const CaptureOptions& options_;
  Observed observed_;
  std::vector<std::uint8_t> reasons_;  ///< of dropped packets; empty: any
  std::vector<WatchPlace> places_;
  std::vector<std::uint64_t> written_;  ///< by place
  struct Told {
    std::uint64_t written = 0, missed = 0;
  };
  std::vector<Told> told_;  ///< by place, in the statistics of files before this one
  std::uint64_t total_ = 0;
  Watching watching_;
  CaptureFiles files_;
  std::vector<std::string> silent_;  ///< which have not answered
  bool read_ = true;                 ///< a reader takes what is written
  Clock::time_point began_ = Clock::now();
};

WatchWish Capture::wish() const {
  WatchWish wish = wish_of(observed_.plan, places_);
  wish.filter = filter_of_option(options_.filter);
  if (options_.snap_length != 0) wish.snap_length = options_.snap_length;
  wish.ring_bytes = std::bit_ceil(std::uint64_t{options_.buffer_mib} << 20);
  return wish;
}

std::vector<PcapngInterface> Capture::interfaces() const {
  std::vector<PcapngInterface> interfaces;
  for (const WatchPlace& place : places_) {
    interfaces.push_back({place.name, options_.filter, options_.snap_length});
  }
  return interfaces;
}

bool Capture::is_wanted(const WatchRecord& record) const {
  const bool of_dropped = places_.at(record.point).kind == WatchPlace::Kind::kDropped;
  return !of_dropped || reasons_.empty() || std::ranges::count(reasons_, record.reason) != 0;
}

void Capture::put_statistics() {
  for (std::uint32_t i = 0; i < places_.size(); ++i) {
    const Told all = {written_[i], watching_.missed(i)};
    files_.writer().statistics(i, system_clock_ns(), all.written - told_[i].written,
                               all.missed - told_[i].missed);
    told_[i] = all;
  }
}

void Capture::write(const Watching::Shown& shown) {
  const WatchRecord& record = *shown.record;
  const WatchPlace& place = places_.at(record.point);
  PcapngDirection direction = PcapngDirection::kUnknown;
  if (place.kind == WatchPlace::Kind::kPortIn) direction = PcapngDirection::kIn;
  if (place.kind == WatchPlace::Kind::kPortOut) direction = PcapngDirection::kOut;
  files_.writer().packet(record.point, {shown.bytes, record.wire_length, shown.time_ns}, direction,
                         fate_text(observed_.plan.reasons, static_cast<Verdict>(record.verdict),
                                   static_cast<Reason>(record.reason)));
  ++written_[record.point];
  ++total_;
  if (!files_.is_full()) return;
  put_statistics();
  read_ = files_.next();
}

/// True when there was something.
bool Capture::write_some(bool at_once) {
  Watching::Shown shown;
  std::uint32_t count = 0;
  while (count < kShownPerFlush && read_ && !full() && watching_.next(shown, at_once)) {
    if (is_wanted(*shown.record)) write(shown);
    ++count;
  }
  read_ = read_ && files_.writer().flush();
  return count != 0;
}

bool Capture::is_over() {
  if (g_ended || !read_ || full()) return true;
  const std::chrono::duration<double> since = Clock::now() - began_;
  return (options_.seconds != 0 && since.count() >= options_.seconds) || !watching_.goes_on();
}

void Capture::run() {
  read_ = files_.writer().flush();
  silent_ = watching_.await_all("packets");
  std::cerr << "capturing" << (options_.file == "-" ? "" : " to " + options_.file)
            << "; Ctrl-C ends it\n";
  began_ = Clock::now();
  while (!is_over()) {
    if (!write_some(false)) std::this_thread::sleep_for(kWatchPause);
  }
  while (read_ && !full() && write_some(true)) {
  }
  silent_ = watching_.still_silent(silent_);
  put_statistics();
  if (read_) files_.writer().flush();
}

void Capture::tell() const {
  for (const std::string& name : silent_) {
    std::cerr << "millrace: " << name << " never answered: its packets are not in the capture\n";
  }
  std::uint64_t missed = 0;
  nlohmann::ordered_json json = {{"ok", !is_partial()}, {"packets", total_}};
  for (std::uint32_t i = 0; i < places_.size(); ++i) {
    missed += watching_.missed(i);
    json["places"].push_back(
        {{"name", places_[i].name}, {"packets", written_[i]}, {"missed", watching_.missed(i)}});
  }
  json["missed"] = missed;
  json["files"] = files_.count();
  json["silent"] = silent_;
  if (options_.json) {
    std::cout << json_text(json) << '\n';
    return;
  }
  std::cerr << total_ << " packets captured, " << missed << " missed";
  if (missed != 0) std::cerr << ": a filter, --snaplen or a larger --buffer helps";
  std::cerr << '\n';
}

void capture(const CaptureOptions& options) {
  if (options.json && options.file == "-") throw Error("--json needs -w FILE");
  if (options.file_megabytes != 0 && options.file == "-") throw Error("-C needs -w FILE");
  end_on_signals();
  Capture capture(options, running_dir(options));
  capture.run();
  capture.tell();
  if (capture.is_partial()) throw CLI::RuntimeError(kExitInvalid);
}

constexpr const char* kCaptureHelp =
    "Where: --port and --link may be repeated; without them all ports, both ways. Links are\n"
    "listed by `millrace plan FILE`; packets are there as the workers in front have left them.\n"
    "--filter takes what tcpdump takes (man pcap-filter), for example:\n"
    "  host 10.1.0.5 and tcp port 443     net 2001:db8::/32     icmp or arp     vlan 7 and udp\n"
    "Each packet has its port or link, and, where it is dropped, the reason as a comment.\n"
    "Examples:\n"
    "  millrace capture edge --port wan:in --filter 'tcp port 443' -w wan.pcapng --count 1000\n"
    "  millrace capture edge --dropped --reason rule --seconds 10 | tcpdump -r - -n\n"
    "  millrace capture edge -w ring.pcapng -C 100 -W 10           the last 1000 MB\n"
    "Workers never wait for it: what it cannot take is counted as missed, and said at its end.";

}  // namespace

void add_capture(CLI::App& app) {
  CLI::App* command = app.add_subcommand(
      "capture",
      "write packets of ports or links as pcapng: millrace capture NAME | wireshark -k -i -");
  auto options = std::make_shared<CaptureOptions>();
  add_running_options(*command, *options);
  command->add_option("--port", options->ports,
                      "take packets at PORT, PORT:in or PORT:out; default: all ports");
  command->add_option("--link", options->links,
                      "take packets of the link PRODUCER_CONSUMER, as in `millrace plan`");
  command->add_flag("--dropped", options->dropped, "take dropped packets, with the reason");
  command
      ->add_option("--reason", options->reasons,
                   "take only packets dropped for this reason; may be repeated")
      ->allow_extra_args(false);
  command->add_option("--filter", options->filter, "take only packets that match this pcap filter");
  command->add_option("--count", options->count, "stop after N packets")
      ->check(CLI::Range(std::uint64_t{0}, std::uint64_t{INT64_MAX}));
  command->add_option("--seconds", options->seconds, "stop after N seconds")
      ->check(CLI::Range(0.01, 1e6));
  command->add_option("--snaplen", options->snap_length,
                      "keep N bytes of each packet; default: all");
  command->add_option("--buffer", options->buffer_mib, "use N MiB for each watched process")
      ->check(CLI::Range(1, 1024));
  command->add_option("-w,--write", options->file,
                      "write to FILE (default, or -: standard output)");
  auto* const size = command
                         ->add_option("-C,--file-size", options->file_megabytes,
                                      "begin the next file, FILE1, FILE2, ..., after N MB")
                         ->check(CLI::Range(1, 1'000'000));
  command
      ->add_option("-W,--file-count", options->file_count,
                   "write N files in turn: FILE0, FILE1, ...")
      ->check(CLI::Range(1, 100'000))
      ->needs(size);
  command->footer(kCaptureHelp);
  command->callback([options] {
    run_command(options->json ? Format::kJson : Format::kText, [&] { capture(*options); });
  });
}

}  // namespace millrace
