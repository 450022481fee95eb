// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#include "services/functions/ids/protocols/smtp_parser.hpp"

#include <algorithm>
#include <charconv>
#include <utility>

#include "services/functions/ids/protocols/transaction_pool.hpp"
#include "services/functions/ids/protocols/wire_cursor.hpp"
#include "shared/base/ascii.hpp"

namespace millrace {
namespace {

constexpr std::uint8_t kClient = 0, kServer = 1;
/// A longer line is taken in pieces.
constexpr std::size_t kPieceBytes = 4u << 10;
static_assert(kPieceBytes >= MimeReader::kPieceBytesMin);
/// Of a path or a name, and how many recipients of a mail are kept.
constexpr std::size_t kEnvelopeBytesMax = 512, kRecipientsMax = 64;
constexpr std::string_view kLineEnd = "\r\n";
/// Answers that are awaited: more than pipelining brings are not counted.
constexpr char kOfData = 'd', kOfTls = 't', kOfOther = '.';
constexpr std::size_t kAwaitedMax = 4096;

std::string_view text_without_end(std::string_view line) noexcept {
  return line.substr(0, line.find_last_not_of(kLineEnd) + 1);
}

/// What follows as many bytes of a command's line as `name` has, and blanks.
std::string_view behind(std::string_view line, std::string_view name) noexcept {
  line.remove_prefix(std::min(name.size(), line.size()));
  line.remove_prefix(std::min(line.find_first_not_of(" \t"), line.size()));
  return line.substr(0, kEnvelopeBytesMax);
}

bool is_command(std::string_view line, std::string_view name) noexcept {
  return starts_with_nocase(line, name) &&
         (line.size() == name.size() || !is_ascii_alnum(line[name.size()]));
}

}  // namespace

std::size_t SmtpParser::held() const noexcept {
  const std::size_t undecided = undecided_.capacity() + awaited_.capacity();
  return sizeof *this + helo_.capacity() + line_.bytes.capacity() + aside_.bytes.capacity() +
         undecided + mime_.held() + (mail_ == nullptr ? 0 : mail_->held());
}

void SmtpParser::read(std::uint8_t direction, std::span<const std::byte> bytes,
                      TransactionSink& sink) {
  Side& side = sides_[direction];
  sink_ = &sink;
  if (direction == kServer) {
    side.bytes += bytes.size();
    read_answers(text_of(bytes));
    if (!mail_) side.settled = side.bytes;
  } else {
    read_lines(text_of(bytes));
  }
  if (has_news_) tell();
  if (!mail_) settle();
}

void SmtpParser::end(std::uint8_t direction, TransactionSink& sink) {
  sink_ = &sink;
  sides_[direction].has_ended = true;
  if (direction == kClient) {
    const Line rest = std::exchange(line_, {});
    if (!rest.bytes.empty()) take_piece(rest.bytes, !rest.goes_on);
    if (mail_) end_mail(sides_[kClient].bytes);
    state_ = State::kCommand;
  }
  is_done_ = is_done_ || (sides_[kClient].has_ended && sides_[kServer].has_ended);
}

/// Of lines that go on, as "250-", the last one counts.
void SmtpParser::read_answers(std::string_view text) {
  for (const char letter : text) {
    if (letter == '\n') {
      const bool is_last = answer_bytes_ < answer_.size() || answer_[answer_.size() - 1] != '-';
      if (is_last && answer_bytes_ != 0) take_answer(answer_[0]);
      answer_bytes_ = 0;
    } else if (answer_bytes_ < answer_.size()) {
      answer_[answer_bytes_++] = letter;
    }
  }
}

/// `first`: digit of its code.
void SmtpParser::take_answer(char first) {
  const bool is_greeting = std::string_view(answer_.data(), 3) == "220";
  if (awaited_.empty() || (is_greeting && awaited_[0] != kOfTls)) return;
  const bool is_of_data = awaited_[0] == kOfData;
  if (is_of_data && first == '2') return;  // of a command that another parser has read
  awaited_.erase(0, 1);
  if (!is_of_data || begins_.empty()) return;
  if (first == '3') return accept_data();
  refuse_data();
}

void SmtpParser::expect_answer(char what) {
  if (awaited_.size() < kAwaitedMax) awaited_ += what;
}

/// In front of the line that it is of.
void SmtpParser::keep_undecided(std::string_view text) {
  if (begins_.empty()) return;
  if (undecided_.size() + text.size() <= limits_.header_bytes) {
    undecided_ += text;
    return;
  }
  is_broken_ = is_broken_ || sides_[kServer].bytes != 0;  // else its answers go another way
  undecided_ = {};
  begins_.clear();
}

void SmtpParser::accept_data() {
  const std::size_t gone = begins_.size() > 1 ? begins_[1] : undecided_.size();
  begins_.erase(begins_.begin());
  for (std::size_t& begin : begins_) begin -= gone;
  undecided_.erase(0, gone);
}

void SmtpParser::refuse_data() {
  const std::string text = std::exchange(undecided_, {});
  begins_.clear();
  awaited_.clear();
  if (mail_) end_mail(sides_[kClient].bytes - text.size());
  state_ = State::kCommand;
  line_ = aside_ = {};
  sides_[kClient].bytes -= text.size();
  read_lines(text);
  if (has_news_) tell();
}

void SmtpParser::read_lines(std::string_view text) {
  Side& side = sides_[kClient];
  while (!text.empty() && !is_done_) {
    const bool is_chunk = state_ == State::kChunk;
    const std::size_t room =
        is_chunk ? std::min<std::uint64_t>(chunk_bytes_, text.size()) : text.size();
    const std::size_t taken = take_line(text.substr(0, room));
    text.remove_prefix(taken);
    if (is_chunk && (chunk_bytes_ -= taken) == 0) end_chunk();
  }
  side.bytes += text.size();
}

/// As much of `text` as goes into one piece. Returns how many bytes these are; they are counted
/// before the piece is read.
std::size_t SmtpParser::take_line(std::string_view text) {
  constexpr char kTlsHandshake = 0x16;
  if (asks_for_tls_ && text[0] == kTlsHandshake) {
    is_done_ = true;
    return 0;
  }
  asks_for_tls_ = false;
  text = text.substr(0, kPieceBytes - line_.bytes.size());
  const std::size_t end = text.find('\n');
  const bool ends = end != std::string_view::npos;
  if (ends) text = text.substr(0, end + 1);
  Side& side = sides_[kClient];
  if (line_.bytes.empty() && !line_.goes_on) line_begin_ = side.bytes;
  side.bytes += text.size();
  keep_undecided(text);
  line_.bytes.append(text);
  if (!ends && line_.bytes.size() < kPieceBytes) return text.size();
  const std::string piece = std::exchange(line_.bytes, {});
  take_piece(piece, !std::exchange(line_.goes_on, !ends));
  return text.size();
}

/// A line may go on in the next chunk.
void SmtpParser::end_chunk() {
  state_ = State::kCommand;
  aside_ = std::exchange(line_, {});
  if (is_last_chunk_) end_mail(sides_[kClient].bytes);
}

void SmtpParser::take_piece(std::string_view piece, bool begins) {
  if (state_ == State::kMail) return take_mail(piece, begins);
  if (state_ == State::kChunk) return mime_.read(piece, begins, *this);
  if (begins) take_command(text_without_end(piece));
}

void SmtpParser::take_command(std::string_view line) {
  const bool is_data = is_command(line, "DATA");
  expect_answer(is_data ? kOfData : is_command(line, "STARTTLS") ? kOfTls : kOfOther);
  if (is_command(line, "HELO") || is_command(line, "EHLO")) {
    take_greeting(behind(line, "HELO"));
  } else if (is_command(line, "MAIL")) {
    if (mail_) end_mail(line_begin_);  // a parser that is made anew begins the next one
    begin_mail();
    if (limits_.keeps_envelopes) mail_->envelope.from = behind(line, "MAIL FROM:");
  } else if (is_command(line, "RCPT") && mail_) {
    take_recipient(behind(line, "RCPT TO:"));
  } else if (is_data) {
    begin_mail();
    begins_.push_back(undecided_.size());
    state_ = State::kMail;
    is_behind_line_end_ = true;
  } else if (is_command(line, "BDAT")) {
    take_chunk(line.substr(std::string_view("BDAT").size()));
  } else if (is_command(line, "RSET") && mail_) {
    end_mail(line_begin_);
  } else if (is_command(line, "STARTTLS")) {
    asks_for_tls_ = true;
  }
}

void SmtpParser::take_greeting(std::string_view name) {
  if (limits_.keeps_envelopes) helo_ = name;
}

void SmtpParser::take_recipient(std::string_view path) {
  std::vector<std::string>& recipients = mail_->envelope.recipients;
  if (limits_.keeps_envelopes && recipients.size() < kRecipientsMax) recipients.emplace_back(path);
}

/// " 1000 LAST"
void SmtpParser::take_chunk(std::string_view arguments) {
  arguments.remove_prefix(std::min(arguments.find_first_not_of(" \t"), arguments.size()));
  std::uint64_t bytes = 0;
  const char* const stop = arguments.data() + arguments.size();
  const auto [rest, error] = std::from_chars(arguments.data(), stop, bytes);
  if (error != std::errc{}) return;
  std::string_view last(rest, static_cast<std::size_t>(stop - rest));
  last.remove_prefix(std::min(last.find_first_not_of(" \t"), last.size()));
  begin_mail();
  is_last_chunk_ = is_command(last, "LAST");
  chunk_bytes_ = bytes;
  if (bytes != 0) {
    state_ = State::kChunk;
    line_ = std::exchange(aside_, {});
  } else if (is_last_chunk_) {
    end_mail(sides_[kClient].bytes);
  }
}

void SmtpParser::take_mail(std::string_view piece, bool begins) {
  const bool begins_line = begins && is_behind_line_end_;
  is_behind_line_end_ = piece.ends_with(kLineEnd);
  // Its server may have refused, and take this for the command that it looks like.
  const bool is_doubtful = begins && !begins_.empty();
  if (is_doubtful && (is_command(piece, "DATA") || is_command(piece, "BDAT"))) is_broken_ = true;
  if (begins_line && piece == ".\r\n") {
    expect_answer(kOfOther);
    end_mail(sides_[kClient].bytes);
    state_ = State::kCommand;
    return;
  }
  if (begins_line && piece.starts_with('.')) piece.remove_prefix(1);
  mime_.read(piece, begins, *this);
}

void SmtpParser::begin_mail() {
  if (mail_) return;
  mail_ = take_transaction(limits_.pool, AppProtocol::kSmtp, transactions_);
  mail_->envelope.helo = helo_;
}

void SmtpParser::end_mail(std::uint64_t position) {
  const Line rest = std::exchange(aside_, {});
  if (!rest.bytes.empty()) mime_.read(rest.bytes, !rest.goes_on, *this);
  mime_.end(*this);
  for (const std::uint8_t direction : {kClient, kServer}) {
    mail_->complete(direction);
    sink_->on_news(*mail_, direction);
  }
  has_news_ = false;
  give_transaction(limits_.pool, std::move(mail_));
  ++transactions_;
  sides_[kClient].settled = position;
}

/// What a parser that is made anew does not need: lines that are through.
void SmtpParser::settle() noexcept {
  if (line_.bytes.empty() && !line_.goes_on && !asks_for_tls_)
    sides_[kClient].settled = sides_[kClient].bytes;
}

void SmtpParser::tell() {
  has_news_ = false;
  sink_->on_news(*mail_, kClient);
}

void SmtpParser::begin_file(std::string_view name) {
  if (!name.empty()) mail_->put(kClient, RuleBuffer::kFileName, name);
  has_news_ = has_news_ || !name.empty();
}

/// Detection looks before bytes are cut off that it has not seen.
void SmtpParser::file_bytes(std::string_view bytes) {
  while (!bytes.empty()) {
    const auto& parts = mail_->parts(kClient, RuleBuffer::kFileData);
    const bool grows = !parts.empty() && !parts.back().is_complete;
    const std::size_t unseen = grows ? parts.back().bytes.size() - parts.back().seen : 0;
    if (unseen >= limits_.body_bytes) {
      tell();
      continue;
    }
    const std::size_t next = std::min(limits_.body_bytes - unseen, bytes.size());
    mail_->append(kClient, RuleBuffer::kFileData, bytes.substr(0, next), limits_.body_bytes);
    has_news_ = true;
    bytes.remove_prefix(next);
  }
}

void SmtpParser::end_file() {
  mail_->complete(kClient, RuleBuffer::kFileData);
  has_news_ = true;
}

}  // namespace millrace
