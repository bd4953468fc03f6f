#include "http/server/request_reader.h"

#include <string>

#include <gtest/gtest.h>

#include "absl/strings/str_cat.h"

namespace flyball::http {
namespace {

using State = RequestReader::State;

// 200 for a request that is whole, 0 for one that is not, else the status of the refusal.
int StatusOf(const RequestReader& reader) {
  if (reader.state() == State::kComplete) return 200;
  return reader.state() == State::kError ? reader.error_status() : 0;
}

int Read(absl::string_view bytes, const RequestLimits& limits = {}) {
  RequestReader reader(limits);
  reader.Feed(bytes);
  return StatusOf(reader);
}

std::string Get(absl::string_view lines) {
  return absl::StrCat("GET / HTTP/1.1\r\nHost: x\r\n", lines, "\r\n");
}

TEST(RequestReader, ReadsTargetAndHeadersAsSent) {
  RequestReader reader({});
  reader.Feed(
      "GET /a%2Fb?c=%20 HTTP/1.1\r\nHost: x\r\nX-Remote-Group: system%3Amasters "
      "\r\nEmpty:\r\n\r\n");
  ASSERT_EQ(reader.state(), State::kComplete);
  EXPECT_EQ(reader.request().method, "GET");
  EXPECT_EQ(reader.request().target, "/a%2Fb?c=%20");
  EXPECT_EQ(reader.request().headers,
            (Headers{{"Host", "x"}, {"X-Remote-Group", "system%3Amasters"}, {"Empty", ""}}));
  EXPECT_TRUE(reader.KeepAlive());
}

TEST(RequestReader, AClientOfHttp10IsAnsweredOnce) {
  RequestReader reader({});
  reader.Feed("GET / HTTP/1.0\r\nConnection: keep-alive\r\n\r\n");
  ASSERT_EQ(reader.state(), State::kComplete);
  EXPECT_FALSE(reader.KeepAlive());
}

TEST(RequestReader, EveryByteOfTheHeadCounts) {
  const RequestLimits limits = {.max_head_bytes = 64};
  const std::string head = Get("");  // 27 bytes
  ASSERT_EQ(head.size(), 27u);
  EXPECT_EQ(Read(Get("A: " + std::string(32, 'a') + "\r\n"), limits), 200);  // 64
  EXPECT_EQ(Read(Get("A: " + std::string(33, 'a') + "\r\n"), limits), 431);
  // Blanks around a value, empty values, and empty lines before the request as well.
  EXPECT_EQ(Read(Get("A:" + std::string(40, ' ') + "a\r\n"), limits), 431);
  std::string empty_values;
  for (int i = 0; i < 10; ++i) empty_values += "a:\r\n";
  EXPECT_EQ(Read(Get(empty_values), limits), 431);
  std::string empty_lines;
  for (int i = 0; i < 40; ++i) empty_lines += "\r\n";
  EXPECT_EQ(Read(empty_lines, limits), 431);
  // And before the head is whole.
  EXPECT_EQ(Read("GET /" + std::string(80, 'a'), limits), 431);
}

TEST(RequestReader, HeaderLinesAreLimited) {
  const RequestLimits limits = {.max_header_lines = 3};
  EXPECT_EQ(Read(Get("a:\r\nb:\r\n"), limits), 200);
  EXPECT_EQ(Read(Get("a:\r\nb:\r\nc:\r\n"), limits), 431);
}

TEST(RequestReader, AMillionShortLinesTakeNoMoreThanTheHeadMay) {
  RequestReader reader({});
  reader.Feed("GET / HTTP/1.1\r\nHost: x\r\n");
  size_t most = 0;
  for (int i = 0; i < 1'000'000 && reader.state() == State::kNeedMore; ++i) {
    reader.Feed("a:\r\n");
    most = std::max(most, reader.BytesHeld());
  }
  EXPECT_EQ(StatusOf(reader), 431);
  EXPECT_LT(most, 3u << 20);
}

TEST(RequestReader, BodiesCountWithAllThatIsAroundThem) {
  const RequestLimits limits = {.max_body_bytes = 64};
  const auto post = [](absl::string_view header, absl::string_view body) {
    return absl::StrCat("POST / HTTP/1.1\r\nHost: x\r\n", header, "\r\n\r\n", body);
  };
  const std::string chunked = "Transfer-Encoding: chunked";
  EXPECT_EQ(Read(post("Content-Length: 64", std::string(64, 'b')), limits), 200);
  EXPECT_EQ(Read(post("Content-Length: 65", std::string(65, 'b')), limits), 413);
  EXPECT_EQ(Read(post(chunked, "1\r\nb\r\n0\r\n\r\n"), limits), 200);
  std::string small_chunks;
  for (int i = 0; i < 11; ++i) small_chunks += "1\r\nb\r\n";
  EXPECT_EQ(Read(post(chunked, small_chunks), limits), 413);
  EXPECT_EQ(Read(post(chunked, "1;x=" + std::string(80, 'e')), limits), 413);
  EXPECT_EQ(Read(post(chunked, "0\r\nTrailer: " + std::string(80, 't')), limits), 413);
}

TEST(RequestReader, KeepsBodiesOnlyWhereTheyAreWanted) {
  const std::string post = "POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 5\r\n\r\nhello";
  const std::string chunked =
      "POST / HTTP/1.1\r\nHost: x\r\nExpect: 100-continue\r\nTransfer-Encoding: chunked\r\n\r\n"
      "2\r\nhe\r\n3\r\nllo\r\n0\r\n\r\n";
  for (const std::string& bytes : {post, chunked}) {
    RequestReader reader({.keep_bodies = true});
    for (const char& c : bytes) reader.Feed(absl::string_view(&c, 1));
    ASSERT_EQ(reader.state(), State::kComplete);
    EXPECT_EQ(reader.request().body, "hello");
    reader.Next();
    EXPECT_EQ(reader.request().body, "");
  }
  RequestReader dropping({});
  dropping.Feed(post);
  EXPECT_EQ(dropping.request().body, "");
  EXPECT_EQ(Read("POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 5\r\n\r\nhello",
                 {.max_body_bytes = 4, .keep_bodies = true}),
            413);
}

TEST(RequestReader, RefusesWhatServersReadInDifferentWays) {
  EXPECT_EQ(Read(Get("Name: value\r\n")), 200);
  for (const absl::string_view line :
       {"Name : value\r\n", "Name\t: value\r\n", ": value\r\n", "Na me: value\r\n", "Name\r\n",
        "Name: a\rb\r\n", "Name: a\nb: c\r\n", "Host: y\r\n",
        "Content-Length: 3\r\nTransfer-Encoding: chunked\r\n",
        "Content-Length: 3\r\nContent-Length: 4\r\n", "Content-Length: -1\r\n",
        "Transfer-Encoding: chunked, identity\r\n", "Transfer-Encoding: xchunked\r\n"}) {
    EXPECT_EQ(Read(Get(line)), 400) << line;
  }
  EXPECT_EQ(Read(Get(std::string("Name: a\0b\r\n", 11))), 400);
  EXPECT_EQ(Read(Get("Transfer-Encoding: gzip, chunked\r\n") + "0\r\n\r\n"), 501);
  EXPECT_EQ(Read(Get("Transfer-Encoding: Chunked\r\n") + "0\r\n\r\n"), 200);
  EXPECT_EQ(Read("GET / HTTP/1.1\r\n\r\n"), 400) << "no Host";
  EXPECT_EQ(Read("GET / HTTP/1.1\r\nHost:\r\n\r\n"), 200) << "an empty one, as Go";
  for (const absl::string_view host :
       {"a.example:80", "[fe80::1%25en0]:80", "a_b", "$-~!&'()*+,;=", "1.2.3.4"}) {
    EXPECT_EQ(Read(absl::StrCat("GET / HTTP/1.1\r\nHost: ", host, "\r\n\r\n")), 200) << host;
  }
  for (const absl::string_view host :
       {"a b", "a/b", "a@b", "a?b", "a#b", "\"a\"", "<a>", "\xc3\xa9"}) {
    EXPECT_EQ(Read(absl::StrCat("GET / HTTP/1.1\r\nHost: ", host, "\r\n\r\n")), 400) << host;
    EXPECT_EQ(Read(absl::StrCat("GET / HTTP/1.0\r\nHost: ", host, "\r\n\r\n")), 400) << host;
  }
  EXPECT_EQ(Read("GET / HTTP/1.0\r\n\r\n"), 200);
  EXPECT_EQ(Read("GET /a b HTTP/1.1\r\nHost: x\r\n\r\n"), 400);
  EXPECT_EQ(Read("GET / HTTP/2.0\r\nHost: x\r\n\r\n"), 505);
  EXPECT_EQ(Read("GET / HTTP/1.9\r\nHost: x\r\n\r\n"), 505);
  EXPECT_EQ(Read("GET /\r\n\r\n"), 505);
  EXPECT_EQ(Read("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"), 505);
}

// Go's server reads these; here they are refused (ARCHITECTURE.md).
TEST(RequestReader, IsStricterThanGo) {
  EXPECT_EQ(Read("GET / HTTP/1.1\r\nHost: x\nA: b\n\n"), 400) << "lines that end without CR";
  EXPECT_EQ(Read("GET /m\xc3\xa9trique HTTP/1.1\r\nHost: x\r\n\r\n"), 400) << "bytes beyond ASCII";
  for (const absl::string_view fold :
       {"Name: a\r\n b\r\n", "Name: a\r\n\tb\r\n", "Name:\r\n a\r\n", " Name: a\r\n"}) {
    EXPECT_EQ(Read(Get(fold)), 400) << "a value that goes on in the next line";
    RequestReader slowly({});
    for (const char c : Get(fold)) slowly.Feed(absl::string_view(&c, 1));
    EXPECT_EQ(StatusOf(slowly), 400) << fold;
  }
  EXPECT_EQ(Read("BREW / HTTP/1.1\r\nHost: x\r\n\r\n"), 400) << "methods that nobody has defined";
}

TEST(RequestReader, RefusesOtherProtocols) {
  for (const absl::string_view line :
       {"DESCRIBE /healthz RTSP/1.0", "OPTIONS /healthz RTSP/1.0", "GET /healthz RTSP/1.1",
        "SETUP /healthz RTSP/1.0", "SOURCE /healthz ICE/1.0", "GET /healthz ICE/1.1"}) {
    const std::string request = absl::StrCat(line, "\r\nHost: x\r\n\r\n");
    EXPECT_EQ(Read(request), 400) << line;
    RequestReader slowly({});
    for (const char c : request) slowly.Feed(absl::string_view(&c, 1));
    EXPECT_EQ(StatusOf(slowly), 400) << line;
  }
  RequestReader second({});
  second.Feed("\r\nGET /1 HTTP/1.1\r\nHost: x\r\n\r\nDESCRIBE / RTSP/1.0\r\n\r\n");
  EXPECT_EQ(second.state(), State::kComplete) << "an empty line may stand before a request";
  second.Next();
  EXPECT_EQ(StatusOf(second), 400);
}

TEST(RequestReader, TakesAbsoluteTargets) {
  RequestReader reader({});
  reader.Feed("GET http://host:80/livez?a=b HTTP/1.1\r\nHost: x\r\n\r\n");
  ASSERT_EQ(reader.state(), State::kComplete);
  EXPECT_EQ(reader.request().target, "http://host:80/livez?a=b");
}

TEST(RequestReader, PipelinedRequestsWaitAndAreReadInTurn) {
  RequestReader reader({});
  reader.Feed("GET /1 HTTP/1.1\r\nHost: x\r\n\r\nGET /2 HTTP/1.1\r\nHost: x\r\n\r\nGET /3");
  EXPECT_EQ(reader.request().target, "/1");
  reader.Next();
  ASSERT_EQ(reader.state(), State::kComplete);
  EXPECT_EQ(reader.request().target, "/2");
  reader.Next();
  EXPECT_EQ(reader.state(), State::kNeedMore);
  EXPECT_TRUE(reader.InMessage());
  reader.Feed(" HTTP/1.1\r\nHost: x\r\n\r\n");
  ASSERT_EQ(reader.state(), State::kComplete);
  EXPECT_EQ(reader.request().target, "/3");
  reader.Next();
  EXPECT_FALSE(reader.InMessage());
}

TEST(RequestReader, AnIdleOneKeepsNothingOfALargeRequest) {
  RequestReader reader({});
  reader.Feed("GET /" + std::string(500'000, 'a') +
              " HTTP/1.1\r\nHost: x\r\nB: " + std::string(300'000, 'b') + "\r\n\r\n");
  ASSERT_EQ(reader.state(), State::kComplete);
  EXPECT_GT(reader.BytesHeld(), 800'000u);
  reader.Next();
  EXPECT_LT(reader.BytesHeld(), 4096u);
}

}  // namespace
}  // namespace flyball::http
