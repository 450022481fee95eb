// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#include "services/functions/ids/protocols/mime_reader.hpp"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace millrace {
namespace {

struct MimeFile {
  std::string name, bytes;
  bool has_ended = false;
  bool operator==(const MimeFile&) const = default;
};

class MimeFiles final : public FileSink {
 public:
  void begin_file(std::string_view name) override { all.push_back({std::string(name), "", false}); }
  void file_bytes(std::string_view bytes) override { all.back().bytes += bytes; }
  void end_file() override { all.back().has_ended = true; }
  std::vector<MimeFile> all;
};

/// Lines of the mail, in pieces of `piece_bytes`.
std::vector<MimeFile> files_of(const std::string& mail, std::size_t piece_bytes = 10'000) {
  MimeFiles files;
  MimeReader reader;
  for (std::size_t at = 0; at < mail.size();) {
    const std::size_t end = std::min(mail.find('\n', at), mail.size() - 1) + 1;
    for (bool begins = true; at < end; begins = false) {
      const std::size_t bytes = std::min(piece_bytes, end - at);
      reader.read(std::string_view(mail).substr(at, bytes), begins, files);
      at += bytes;
    }
  }
  reader.end(files);
  return files.all;
}

std::vector<std::string> bodies_of(const std::string& mail) {
  std::vector<std::string> bodies;
  for (const MimeFile& file : files_of(mail)) {
    EXPECT_TRUE(file.has_ended);
    bodies.push_back(file.bytes);
  }
  return bodies;
}

using Bodies = std::vector<std::string>;

TEST(MimeReader, AMailWithoutPartsIsOne) {
  EXPECT_EQ(bodies_of("Subject: a\r\n\r\none\r\n\r\ntwo\r\n"), (Bodies{"one\r\n\r\ntwo"}));
  EXPECT_EQ(bodies_of("Subject: a\r\n\r\n"), (Bodies{""}));
  EXPECT_EQ(bodies_of("Subject: a\r\n"), Bodies{}) << "it has no body";
}

TEST(MimeReader, PartsStandBetweenBoundaries) {
  const std::string mail =
      "Content-Type: multipart/mixed;\r\n boundary=\"b 1\"\r\n\r\npreamble\r\n"
      "--b 1\r\n\r\nfirst\r\n--b 12\r\n--b 1 \r\nContent-Disposition: attachment;\r\n"
      "\tfilename=\"x.exe\"\r\n\r\nsecond\r\n--b 1--\r\nepilogue\r\n";
  EXPECT_EQ(files_of(mail),
            (std::vector<MimeFile>{{"", "first\r\n--b 12", true}, {"x.exe", "second", true}}));
}

TEST(MimeReader, PartsMayHaveParts) {
  const std::string mail =
      "content-type: multipart/mixed; boundary=out\r\n\r\n--out\r\n"
      "Content-Type: multipart/alternative; boundary=in\r\n\r\n--in\r\n\r\na\r\n--in\r\n\r\nb\r\n"
      "--in--\r\n--out\r\nContent-Type: message/rfc822\r\n\r\nSubject: c\r\n\r\nc\r\n"
      "--out\r\nContent-Type: multipart/mixed; boundary=last\r\n\r\n--last\r\n\r\nd\r\n--out--\r\n";
  EXPECT_EQ(bodies_of(mail), (Bodies{"a", "b", "c", "d"}));
}

TEST(MimeReader, BodiesAreDecoded) {
  EXPECT_EQ(bodies_of("Content-Transfer-Encoding: BASE64\r\n\r\nSGVs\r\nbG8g\r\nV29ybG\r\nQ=\r\n"),
            (Bodies{"Hello World"}));
  EXPECT_EQ(bodies_of("Content-Transfer-Encoding: base64\r\n\r\nSGVsbG8\r\n"), (Bodies{"Hello"}))
      << "padding is missing";
  EXPECT_EQ(bodies_of("Content-Transfer-Encoding: quoted-printable\r\n\r\n"
                      "a=3Db=\r\nc\r\n\r\nd=zz=4\r\n=\r\n"),
            (Bodies{"a=bc\r\n\r\nd=zz=4\r\n"}));
}

TEST(MimeReader, HowALineIsCutChangesNothing) {
  const std::string tail(700, 'x');
  const std::string mail =
      "Content-Type: multipart/mixed; boundary=b\r\n\r\n--b\r\n"
      "Content-Transfer-Encoding: base64\r\n\r\n" +
      std::string(4000, 'Q') +
      "\r\n--b\r\n"
      "Content-Transfer-Encoding: quoted-printable\r\n\r\n=41=42" +
      tail + "=43=\r\n" + tail + "\r\n--b\r\n\r\n" + tail + "\r\nend\r\n--b--\r\n";
  const auto whole = files_of(mail);
  ASSERT_EQ(whole.size(), 3u);
  EXPECT_EQ(whole[0].bytes.size(), 3000u);
  EXPECT_EQ(whole[1].bytes, "AB" + tail + "C" + tail);
  for (std::size_t bytes = MimeReader::kPieceBytesMin; bytes < 720; ++bytes) {
    EXPECT_EQ(files_of(mail, bytes), whole) << bytes;
  }
}

}  // namespace
}  // namespace millrace
