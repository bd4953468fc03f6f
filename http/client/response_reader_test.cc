#include "http/client/response_reader.h"

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "http/testing/gzip.h"

namespace flyball::http {
namespace {

using testing::HasSubstr;

// What came of the bytes.
struct Read {
  absl::Status status;
  std::string text;  // "200 name=value … | body"
  bool done = false, keep_alive = false;
};

// `piece` bytes at a time; then the peer closes, if the answer is not whole by then.
Read ReadAll(absl::string_view bytes, size_t piece, bool head_only = false) {
  Read out;
  ResponseReader reader(head_only, {.on_head =
                                        [&](int status, const auto& headers) {
                                          absl::StrAppend(&out.text, status);
                                          for (const auto& [name, value] : headers) {
                                            absl::StrAppend(&out.text, " ", name, "=", value);
                                          }
                                          absl::StrAppend(&out.text, " | ");
                                          return true;
                                        },
                                    .on_data =
                                        [&](absl::string_view data) {
                                          absl::StrAppend(&out.text, data);
                                          return true;
                                        }});
  while (!bytes.empty() && out.status.ok() && !reader.done()) {
    out.status = reader.Feed(bytes.substr(0, piece));
    bytes.remove_prefix(std::min(piece, bytes.size()));
  }
  if (out.status.ok() && !reader.done()) out.status = reader.End();
  out.done = reader.done();
  out.keep_alive = reader.keep_alive() && bytes.empty();
  return out;
}

struct ResponseReaderRow {
  std::string name;
  std::string bytes;
  std::string want;  // Read::text, or of the error
  bool keep_alive = true;
  bool head_only = false;
};

std::ostream& operator<<(std::ostream& out, const ResponseReaderRow& row) {
  return out << row.name;
}

class GoodAnswerTest : public testing::TestWithParam<ResponseReaderRow> {};

TEST_P(GoodAnswerTest, IsReadTheSameHoweverItArrives) {
  for (const size_t piece : {1, 2, 3, 7, 100'000}) {
    const Read got = ReadAll(GetParam().bytes, piece, GetParam().head_only);
    EXPECT_TRUE(got.status.ok()) << got.status;
    EXPECT_TRUE(got.done);
    EXPECT_EQ(got.text, GetParam().want) << piece;
    EXPECT_EQ(got.keep_alive, GetParam().keep_alive) << piece;
  }
}

const std::string kOk = "HTTP/1.1 200 OK\r\n";
const std::string kGzip = kOk + "Content-Encoding: gzip\r\n\r\n";

INSTANTIATE_TEST_SUITE_P(
    Rows, GoodAnswerTest,
    testing::Values(
        ResponseReaderRow{"Length", kOk + "A: b \r\nContent-Length: 3\r\n\r\nabc",
                          "200 A=b Content-Length=3 | abc"},
        ResponseReaderRow{"NoReason", "HTTP/1.1 404\r\nContent-Length: 0\r\n\r\n",
                          "404 Content-Length=0 | "},
        ResponseReaderRow{"HeaderValuesStayEncoded",
                          kOk + "Location: /a?b=%2B%20\r\nContent-Length: 0\r\n\r\n",
                          "200 Location=/a?b=%2B%20 Content-Length=0 | "},
        ResponseReaderRow{
            "Chunks",
            kOk + "Transfer-Encoding: chunked\r\n\r\n3;x=y\r\nabc\r\n1\r\nd\r\n0\r\nT: t\r\n\r\n",
            "200 Transfer-Encoding=chunked | abcd"},
        ResponseReaderRow{"UntilTheEnd", kOk + "\r\nabc", "200 | abc", false},
        ResponseReaderRow{"Closing", kOk + "Connection: close\r\nContent-Length: 1\r\n\r\nx",
                          "200 Connection=close Content-Length=1 | x", false},
        ResponseReaderRow{"OldVersion", "HTTP/1.0 200 OK\r\nContent-Length: 1\r\n\r\nx",
                          "200 Content-Length=1 | x", false},
        ResponseReaderRow{
            "AfterAContinue",
            "HTTP/1.1 100 Continue\r\nX: y\r\n\r\n" + kOk + "Content-Length: 1\r\n\r\nx",
            "200 Content-Length=1 | x"},
        ResponseReaderRow{"NotModifiedHasNoBody", "HTTP/1.1 304 N\r\nContent-Length: 9\r\n\r\n",
                          "304 Content-Length=9 | "},
        ResponseReaderRow{"NoContent", "HTTP/1.1 204 N\r\n\r\n", "204 | "},
        ResponseReaderRow{"Head", kOk + "Content-Length: 9\r\n\r\n", "200 Content-Length=9 | ",
                          true, true},
        ResponseReaderRow{"Gzip", absl::StrCat(kGzip, Gzip("a text")),
                          "200 Content-Encoding=gzip | a text", false},
        ResponseReaderRow{"GzipOfTwoMembers", absl::StrCat(kGzip, Gzip("a "), Gzip("text")),
                          "200 Content-Encoding=gzip | a text", false},
        ResponseReaderRow{"NothingInGzip",
                          kOk + "Content-Encoding: gzip\r\nContent-Length: 0\r\n\r\n",
                          "200 Content-Encoding=gzip Content-Length=0 | "}),
    [](const auto& info) { return info.param.name; });

TEST(ResponseReaderTest, WhatFollowsAnAnswerEndsTheConnection) {
  const Read got = ReadAll(kOk + "Content-Length: 1\r\n\r\nxHTTP/1.1 200 OK\r\n", 1000);
  EXPECT_TRUE(got.done);
  EXPECT_FALSE(got.keep_alive);
}

class BadAnswerTest : public testing::TestWithParam<ResponseReaderRow> {};

TEST_P(BadAnswerTest, IsRefusedAndNotShown) {
  for (const size_t piece : {1, 5, 100'000}) {
    const Read got = ReadAll(GetParam().bytes, piece);
    EXPECT_EQ(got.status.code(), absl::StatusCode::kUnavailable) << got.status;
    EXPECT_THAT(std::string(got.status.message()), HasSubstr(GetParam().want));
    EXPECT_THAT(std::string(got.status.message()), testing::Not(HasSubstr("secret")));
  }
}

INSTANTIATE_TEST_SUITE_P(
    Rows, BadAnswerTest,
    testing::Values(
        ResponseReaderRow{"Nothing", "", "closed without an answer"},
        ResponseReaderRow{"Greeting", "SSH-2.0-secret\r\n\r\n", "not HTTP"},
        ResponseReaderRow{"CutHead", "HTTP/1.1 200 OK\r\nA: secret", "before the answer was whole"},
        ResponseReaderRow{"CutBody", kOk + "Content-Length: 9\r\n\r\nsecret",
                          "before the answer was whole"},
        ResponseReaderRow{"CutChunk", kOk + "Transfer-Encoding: chunked\r\n\r\n9\r\nsecret",
                          "before the answer was whole"},
        ResponseReaderRow{"NoChunk", kOk + "Transfer-Encoding: chunked\r\n\r\nsecret\r\n",
                          "not HTTP"},
        ResponseReaderRow{"TwoLengths", kOk + "Content-Length: 1\r\nContent-Length: 2\r\n\r\nab",
                          "not HTTP"},
        ResponseReaderRow{
            "LengthAndChunks",
            kOk + "Content-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n1\r\na\r\n0\r\n\r\n",
            "not HTTP"},
        ResponseReaderRow{"AnotherProtocol",
                          "HTTP/1.1 101 S\r\nUpgrade: x\r\nConnection: upgrade\r\n\r\n",
                          "not HTTP"},
        ResponseReaderRow{"NoGzip", kOk + "Content-Encoding: gzip\r\n\r\nsecret secret secret",
                          "no gzip"},
        ResponseReaderRow{"CutGzip", absl::StrCat(kGzip, Gzip("a text").substr(0, 12)),
                          "cut short"},
        ResponseReaderRow{"OtherEncoding", kOk + "Content-Encoding: br\r\n\r\nsecret",
                          "not asked for"}),
    [](const auto& info) { return info.param.name; });

// ---- limits ----

// `prefix`, then `again` for ever.
struct Flood {
  std::string name, prefix, again;
};

std::ostream& operator<<(std::ostream& out, const Flood& row) { return out << row.name; }

class FloodTest : public testing::TestWithParam<Flood> {};

TEST_P(FloodTest, IsStoppedSoon) {
  ResponseReader reader(false, {.on_head = [](int, const auto&) { return true; },
                                .on_data = [](absl::string_view) { return true; }});
  absl::Status status = reader.Feed(GetParam().prefix);
  size_t sent = 0;
  while (status.ok() && sent < (10 << 20)) {
    std::string piece;
    while (piece.size() < 32'000) piece += GetParam().again;
    status = reader.Feed(piece);
    sent += piece.size();
  }
  EXPECT_EQ(status.code(), absl::StatusCode::kResourceExhausted) << status;
  EXPECT_LE(sent, 200'000u);
}

INSTANTIATE_TEST_SUITE_P(
    Rows, FloodTest,
    testing::Values(Flood{"StatusLine", "HTTP/1.1 200 ", "x"}, Flood{"ShortHeaders", kOk, "a:\r\n"},
                    Flood{"OneHeadersName", kOk, "x"}, Flood{"OneHeadersValue", kOk + "a: ", "x"},
                    Flood{"ContinuedHeader", kOk + "a: b", "\r\n x"},
                    Flood{"Continues", "", "HTTP/1.1 100 Continue\r\n\r\n"},
                    Flood{"ChunkExtension", kOk + "Transfer-Encoding: chunked\r\n\r\n3;", "x"},
                    Flood{"Trailers", kOk + "Transfer-Encoding: chunked\r\n\r\n0\r\n", "a: b\r\n"},
                    Flood{"OneTrailer", kOk + "Transfer-Encoding: chunked\r\n\r\n0\r\na: ", "x"},
                    Flood{"EmptyGzipBlocks", kGzip + Gzip("").substr(0, 10),
                          std::string("\0\0\0\xff\xff", 5)},
                    Flood{"EmptyGzipMembers", kGzip, Gzip("")}),
    [](const auto& info) { return info.param.name; });

TEST(ResponseReaderTest, HeadersUpToTheLimitsAreTaken) {
  std::string head = kOk;
  for (int i = 0; i < 200; ++i)
    absl::StrAppend(&head, "header-", i, ": ", std::string(200, 'x'), "\r\n");
  EXPECT_TRUE(ReadAll(head + "Content-Length: 0\r\n\r\n", 1000).status.ok());
}

TEST(ResponseReaderTest, ChunksOfOneByteAreTaken) {
  std::string bytes = kOk + "Transfer-Encoding: chunked\r\n\r\n";
  for (int i = 0; i < 100'000; ++i) bytes += "1\r\nx\r\n";
  const Read got = ReadAll(bytes + "0\r\n\r\n", 1000);
  EXPECT_TRUE(got.status.ok()) << got.status;
  EXPECT_TRUE(got.keep_alive);
}

// A bomb's pieces are handed on one by one: whoever wants no more gets no more.
TEST(ResponseReaderTest, AHandlerEndsABomb) {
  size_t got = 0;
  ResponseReader reader(false, {.on_head = [](int, const auto&) { return true; },
                                .on_data =
                                    [&](absl::string_view data) {
                                      EXPECT_LE(data.size(), 32u << 10);
                                      return (got += data.size()) < 100'000;
                                    }});
  const std::string bomb = Gzip(std::string(50 << 20, 'x'));
  ASSERT_TRUE(reader.Feed(absl::StrCat(kGzip, bomb)).ok());
  EXPECT_TRUE(reader.done());
  EXPECT_FALSE(reader.keep_alive());
  EXPECT_LT(got, 200'000u);
}

}  // namespace
}  // namespace flyball::http
