// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "services/functions/ids/protocols/app_parser.hpp"
#include "services/functions/ids/protocols/http_multipart.hpp"
#include "services/functions/ids/protocols/mime_reader.hpp"

/// SMTP (RFC 5321): each mail is a transaction, from MAIL to its end. Its request has what the
/// mail's parts hold, decoded, as values of kFileData, and the names of their files.

namespace millrace {

/// What follows DATA is read as a mail, and kept until the server has answered: where it refuses,
/// that was commands, and is read once more as such. Answers are told apart by their number, as the
/// two directions have no order when a parser is made anew. Clients wait for the answer (RFC 2920
/// 3.1); one that goes on with another DATA breaks its direction, as does one that sends more than
/// AppLimits::header_bytes: what its server makes of that is not known. A mail ends with a dot
/// alone between line ends of two bytes, as RFC 5321 has it. Where TLS begins behind STARTTLS,
/// nothing more is read.
class SmtpParser final : public AppParser, private FileSink {
 public:
  SmtpParser(const AppLimits& limits, std::uint64_t transactions)
      : limits_(limits), transactions_(transactions) {}

  void read(std::uint8_t direction, std::span<const std::byte> bytes,
            TransactionSink& sink) override;
  void end(std::uint8_t direction, TransactionSink& sink) override;

  std::uint64_t settled(std::uint8_t direction) const noexcept override {
    return sides_[direction].settled;
  }
  std::uint64_t transactions() const noexcept override { return transactions_; }
  std::size_t held() const noexcept override;
  bool is_done() const noexcept override { return is_done_; }
  bool is_broken(std::uint8_t direction) const noexcept override {
    return direction == 0 && is_broken_;
  }

 private:
  enum class State : std::uint8_t { kCommand, kMail, kChunk };
  struct Side {
    std::uint64_t bytes = 0;  ///< taken
    std::uint64_t settled = 0;
    bool has_ended = false;
  };

  void read_answers(std::string_view text);
  void take_answer(char first);
  void expect_answer(char what);
  void keep_undecided(std::string_view text);
  void accept_data();
  void refuse_data();
  void read_lines(std::string_view text);
  std::size_t take_line(std::string_view text);
  void take_piece(std::string_view piece, bool begins);
  void take_command(std::string_view line);
  void take_greeting(std::string_view name);
  void take_recipient(std::string_view path);
  void take_chunk(std::string_view arguments);
  void end_chunk();
  void take_mail(std::string_view piece, bool begins);
  void begin_mail();
  /// `position`: of the client's bytes, from which a parser that is made anew reads on.
  void end_mail(std::uint64_t position);
  void settle() noexcept;
  void tell();

  void begin_file(std::string_view name) override;
  void file_bytes(std::string_view bytes) override;
  void end_file() override;

  AppLimits limits_;
  std::uint64_t transactions_;
  std::array<Side, 2> sides_;
  std::unique_ptr<Transaction> mail_;
  std::string helo_;  ///< as far as it has been read: a parser that is made anew may not know it
  MimeReader mime_;
  TransactionSink* sink_ = nullptr;  ///< during read() and end()
  State state_ = State::kCommand;
  /// Of the client, a line that has begun. Between chunks, that of the mail is put aside.
  struct Line {
    std::string bytes;
    bool goes_on = false;  ///< pieces of it were taken before
  };
  Line line_, aside_;
  std::uint64_t line_begin_ = 0;   ///< of the line that was last begun
  std::uint64_t chunk_bytes_ = 0;  ///< of the chunk that are still to come
  bool is_last_chunk_ = false, asks_for_tls_ = false, has_news_ = false, is_done_ = false;
  bool is_behind_line_end_ = true;  ///< of the mail: of two bytes
  bool is_broken_ = false;
  std::string awaited_;              ///< answers: kOfData, kOfTls, kOfOther
  std::string undecided_;            ///< of the client, what stands behind a DATA without an answer
  std::vector<std::size_t> begins_;  ///< in it, of each such DATA what stands behind it
  std::array<char, 4> answer_{};     ///< the first bytes of the server's line
  std::size_t answer_bytes_ = 0;     ///< of it so far
};

}  // namespace millrace
