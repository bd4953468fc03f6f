#include "adapter/live/receive/push_pages.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <malloc.h>
#include <snappy.h>

#include <algorithm>
#include <memory>

#include "absl/strings/str_join.h"
#include "adapter/live/formats/testing/write_request.h"
#include "http/server/test_workers.h"
#include "promql/text.h"

namespace flyball::live {
namespace {

using formats::Message;
using formats::SeriesMessage;
using testing::ElementsAre;
using testing::HasSubstr;

constexpr int64_t kPushed = 1'700'000'000'000;

struct PushServer {
  explicit PushServer(StoreOptions options = {}, PushLimits limits = {})
      : store(options), pages(ingest, room, clock, limits) {}

  // Status and first line of the text.
  std::string Send(http::HttpRequest request) {
    last = pages.Answer(request);
    std::string text = last.body == nullptr ? "" : *last.body;
    return absl::StrCat(last.status, text.empty() ? "" : " ", text.substr(0, text.find('\n')));
  }
  std::string Write(const std::string& message, int version = 1) {
    http::HttpRequest request;
    request.method = "POST";
    request.target = "/api/v1/write";
    request.headers = {{"Content-Encoding", "snappy"},
                       {"Content-Type", version == 1 ? "application/x-protobuf"
                                                     : "application/x-protobuf;proto=io.prometheus."
                                                       "write.v2.Request"}};
    snappy::Compress(message.data(), message.size(), &request.body);
    return Send(request);
  }
  std::string Push(const std::string& page, const std::string& type = "") {
    http::HttpRequest request;
    request.method = "POST";
    request.target = "/api/v1/push?x=y";
    request.headers = {{"Content-Type", type}};
    request.body = page;
    return Send(request);
  }
  // `labels value@ms …` of each series.
  std::vector<std::string> Stored() const {
    std::vector<std::string> stored;
    for (const auto& series : store.Select({})) {
      std::string line = promql::FormatLabels(series->labels().ToLabelSet());
      std::vector<promql::Point> points;
      series->Read(0, kPushed * 2, points);
      for (const promql::Point& point : points) {
        absl::StrAppend(&line, " ", promql::FormatValue(point.value), "@", point.time_ms - kPushed);
      }
      stored.push_back(line);
    }
    return stored;
  }

  SimulatedClock clock{absl::FromUnixMillis(kPushed)};
  Store store;
  Ingest ingest{store};
  PushRoom room{1000};
  PushPages pages;
  http::HttpResponse last;
};

std::string Request(const formats::TextLabels& labels,
                    const std::vector<std::pair<int64_t, double>>& samples) {
  return Message().Add(1, SeriesMessage(labels, samples)).bytes();
}

TEST(PushPages, RemoteWriteIsStored) {
  PushServer server;
  EXPECT_EQ(
      server.Write(Request({{"__name__", "up"}, {"job", "a"}}, {{kPushed, 1}, {kPushed + 5, 2}})),
      "204");
  EXPECT_EQ(server.Write(Request({{"__name__", "up"}, {"job", "a"}}, {{kPushed + 10, 3}})), "204");
  EXPECT_THAT(server.Stored(), ElementsAre("up{job=\"a\"} 1@0 2@5 3@10"));
}

TEST(PushPages, WhatIsGoodOfARequestIsTakenAndTheRestTold) {
  PushServer server;
  const std::string request =
      Message()
          .Add(1,
               SeriesMessage({{"__name__", "a"}}, {{kPushed, 1}, {kPushed, 2}, {kPushed + 1, 3}}))
          .Add(1, SeriesMessage({{"job", "nameless"}}, {{kPushed, 1}, {kPushed, 1}}))
          .Add(1, SeriesMessage({{"__name__", "b"}}, {{kPushed, 1}}))
          .bytes();
  EXPECT_THAT(server.Write(request),
              HasSubstr("400 3 of 6 samples were refused, the first one: duplicate sample"));
  EXPECT_THAT(server.Stored(), ElementsAre("a 1@0 3@1", "b 1@0"));
}

// The store names the series of a sample that it refuses.
TEST(PushPages, AReasonIsRepeatedOnlyInPart) {
  PushServer server;
  std::string series = "a{";
  for (int i = 0; i < 10; ++i)
    absl::StrAppend(&series, "l", i, "=\"", std::string(4000, 'x'), "\",");
  EXPECT_EQ(server.Push(series + "} 1\n"), "204");
  EXPECT_THAT(server.Push(series + "} 2\n"),
              testing::AllOf(HasSubstr("duplicate sample"), HasSubstr("bytes more)"),
                             testing::SizeIs(testing::Lt(3000))));
}

TEST(PushPages, ProbesHaveAWorkerMeanwhile) {
  PushServer server;
  EXPECT_EQ(http::WorkersAfter([&] { EXPECT_EQ(server.Push("up 1\n"), "204"); }), 2);
}

TEST(PushPages, RemoteWrite2TellsWhatWasWritten) {
  PushServer server;
  const Message sample = Message().Double(1, 4).Varint(2, kPushed);
  const std::string request = Message()
                                  .Bytes(4, "")
                                  .Bytes(4, "__name__")
                                  .Bytes(4, "up")
                                  .Add(5, Message().Packed(1, {1, 2}).Add(2, sample))
                                  .Add(5, Message().Packed(1, {1, 9}).Add(2, sample))
                                  .bytes();
  EXPECT_THAT(server.Write(request, 2), HasSubstr("400 1 of 2 samples were refused"));
  EXPECT_EQ(http::FindHeader(server.last.headers, "X-Prometheus-Remote-Write-Samples-Written"),
            "1");
  EXPECT_THAT(server.Stored(), ElementsAre("up 4@0"));
}

TEST(PushPages, ASeriesWithoutSamplesOrWithBadSymbolsIsRefused) {
  PushServer server;
  const auto answer = [&server](const Message& series) {
    const Message request =
        Message().Bytes(4, "").Bytes(4, "__name__").Bytes(4, "up").Add(5, series);
    return server.Write(request.bytes(), 2);
  };
  EXPECT_THAT(answer(Message().Packed(1, {1, 2})),
              HasSubstr("400 1 of 1 samples were refused, the first one: a series has neither"));
  const Message histogram = Message().Varint(1, 5);
  EXPECT_THAT(answer(Message().Packed(1, {1, 9}).Add(3, histogram)),
              HasSubstr("the first one: a label refers to symbol 9"));
  EXPECT_EQ(answer(Message().Packed(1, {1, 2}).Add(3, histogram)), "204");
}

TEST(PushPages, ASeriesThatTheStoreHasDroppedIsMadeAnew) {
  PushServer server;
  const formats::TextLabels labels = {{"__name__", "up"}};
  EXPECT_EQ(server.Write(Request(labels, {{kPushed, 1}})), "204");
  const int64_t later = kPushed + 3600'000;
  server.store.Prune(later);
  EXPECT_THAT(server.Stored(), ElementsAre());
  server.clock.Advance(absl::Hours(1));
  EXPECT_EQ(server.Write(Request(labels, {{later, 2}})), "204");
  EXPECT_THAT(server.Stored(), ElementsAre("up 2@3600000"));
}

TEST(PushPages, SeriesThatNothingUsesAreKnownInLittleMemory) {
  constexpr int kSeries = 20'000;
  PushServer server;
  server.store.Keep(std::vector<Selector>());
  Message message;
  for (int i = 0; i < kSeries; ++i) {
    const std::string text = absl::StrCat(i, std::string(900, 'x'));
    message.Add(1, SeriesMessage({{"__name__", "unused"}, {"text", text}}, {{kPushed, 1}}));
  }
  const auto in_use = [] {
    const auto all = mallinfo2();
    return all.uordblks + all.hblkhd;
  };
  server.Write("");  // and what the process keeps from then on
  const size_t before = in_use();
  EXPECT_EQ(server.Write(message.bytes()), "204");
  EXPECT_LT(in_use() - before, kSeries * 200u);
  EXPECT_EQ(server.store.counts().not_kept, kSeries);
  EXPECT_EQ(server.Write(message.bytes()), "204");
  EXPECT_EQ(server.store.counts().not_kept, kSeries) << "each is looked up once";
}

// Otherwise the labels of pods that are gone would take memory that nothing limits.
TEST(PushPages, ASeriesThatTheStoreHasDroppedIsFreed) {
  PushServer server;
  EXPECT_EQ(server.Write(Request({{"__name__", "sorted"}, {"a", "1"}}, {{kPushed, 1}})), "204");
  EXPECT_EQ(server.Write(Request({{"a", "1"}, {"__name__", "unsorted"}}, {{kPushed, 1}})), "204");
  EXPECT_EQ(server.Write(Request({{"__name__", "goes_on"}}, {{kPushed + 5000, 1}})), "204");
  std::vector<std::weak_ptr<const StoredSeries>> series;
  for (const auto& stored : server.store.All()) series.push_back(stored);
  ASSERT_EQ(series.size(), 3u);
  const auto alive = [&series] {
    return std::count_if(series.begin(), series.end(),
                         [](const auto& one) { return !one.expired(); });
  };
  server.store.Prune(kPushed + server.store.options().retention_ms + 1);
  EXPECT_EQ(alive(), 3);
  server.ingest.ForgetDropped();
  EXPECT_EQ(alive(), 1);
}

TEST(PushPages, AFullStoreAsksToBeTriedAgain) {
  PushServer server({.max_series = 1});
  EXPECT_EQ(server.Write(Request({{"__name__", "a"}}, {{kPushed, 1}})), "204");
  EXPECT_THAT(server.Write(Request({{"__name__", "b"}}, {{kPushed, 1}})), HasSubstr("503 1 of 1"));
  EXPECT_EQ(http::FindHeader(server.last.headers, "Retry-After"), "5");
  // Series that there are go on.
  EXPECT_EQ(server.Write(Request({{"__name__", "a"}}, {{kPushed + 1, 1}})), "204");
}

// A sender would repeat the request, and with it hold back the series that there are.
TEST(PushPages, AFullStoreAsksForNothingAgainOfWhichItTookAPart) {
  PushServer server({.max_series = 1});
  EXPECT_EQ(server.Write(Request({{"__name__", "a"}}, {{kPushed, 1}})), "204");
  EXPECT_THAT(server.Write(Request({{"__name__", "a"}}, {{kPushed + 1, 1}}) +
                           Request({{"__name__", "b"}}, {{kPushed + 1, 1}})),
              HasSubstr("400 1 of 2 samples were refused, the first one: over the limit"));
  EXPECT_EQ(http::FindHeader(server.last.headers, "Retry-After"), "");
  EXPECT_THAT(server.Stored(), ElementsAre("a 1@0 1@1"));
}

TEST(PushPages, TextIsStoredWithItsStampsOrNow) {
  PushServer server;
  EXPECT_EQ(server.Push(absl::StrCat("queue{q=\"a\"} 7\nqueue{q=\"b\"} 8 ", kPushed - 1000, "\n")),
            "204");
  EXPECT_EQ(server.Push("depth 1 1700000000.5\n# EOF\n", "application/openmetrics-text"), "204");
  EXPECT_THAT(server.Stored(),
              ElementsAre("depth 1@500", "queue{q=\"a\"} 7@0", "queue{q=\"b\"} 8@-1000"));
}

TEST(PushPages, APageWithAFaultChangesNothing) {
  PushServer server;
  EXPECT_THAT(server.Push("a 1\nb{ 2\n"),
              HasSubstr("400 line 2, column 4: expected a label's name or }"));
  EXPECT_THAT(server.Stored(), ElementsAre());
}

TEST(PushPages, WhatIsNoRequestIsRefused) {
  PushServer server({}, {.max_uncompressed_bytes = 100});
  http::HttpRequest request;
  request.method = "GET";
  request.target = "/api/v1/write";
  EXPECT_EQ(server.Send(request), "405 expected POST");
  request.method = "POST";
  EXPECT_THAT(server.Send(request), HasSubstr("415 content encoding"));
  request.headers = {{"Content-Encoding", "snappy"}, {"Content-Type", "application/x-protobuf"}};
  request.body = "\x05no snappy";
  EXPECT_EQ(server.Send(request), "400 the body is not compressed with snappy");
  EXPECT_THAT(server.Write("no message"), HasSubstr("400 the body is no remote write request"));
  EXPECT_THAT(server.Write(std::string(101, 'x')), HasSubstr("413 the request has 101 bytes"));
  EXPECT_TRUE(server.pages.Has("/api/v1/push"));
  EXPECT_FALSE(server.pages.Has("/api/v1/pushed"));
}

TEST(PushPages, TooManyAtOnceAreToldToWait) {
  PushServer server({}, {.max_at_once = 0});
  EXPECT_THAT(server.Push("a 1\n"), HasSubstr("429"));
}

// Of all pages, by what reading takes; one that is alone may take any.
TEST(PushPages, RequestsShareARoom) {
  PushServer server;
  const std::string page = "a " + std::string(400, '0') + "1\n";
  EXPECT_THAT(server.Push(page), HasSubstr("204"));
  {
    PushRoom::Share other(server.room);
    ASSERT_TRUE(other.GrowTo(2000)) << "it was alone";
    EXPECT_THAT(server.Push("a 2\n"), HasSubstr("429"));
    EXPECT_EQ(server.last.headers.back().first, "Retry-After");
    EXPECT_THAT(server.Write(page), HasSubstr("429"));
  }
  PushRoom::Share other(server.room);
  ASSERT_TRUE(other.GrowTo(500));
  EXPECT_FALSE(PushRoom::Share(server.room).GrowTo(501));
  EXPECT_THAT(server.Push("b 2\n"), HasSubstr("204")) << "there is room for both";
  EXPECT_THAT(server.Push(page), HasSubstr("429"));
}

TEST(PushRoom, ShortRequestsAreReadBesideALongOne) {
  PushRoom room(64'000);
  PushRoom::Share alone(room), other(room);
  ASSERT_TRUE(alone.GrowTo(1'000'000));
  EXPECT_TRUE(other.GrowTo(1000));
  EXPECT_FALSE(other.GrowTo(1001));
  EXPECT_TRUE(alone.GrowTo(2'000'000)) << "nothing else is counted";
}

TEST(PushPages, OfASeriesOfTextNoMoreIsReadThanAnyMayHave) {
  PushServer server;
  std::string page = "a{";
  for (int i = 0; i < 1024; ++i) absl::StrAppend(&page, "l", i, "=\"x\",");
  EXPECT_THAT(server.Push(page + "} 1\nb 1\n"),
              HasSubstr("400 1 of 2 samples were refused, the first one: a series has more than "
                        "1024 labels"));
  EXPECT_THAT(server.Push(absl::StrCat("a{l=\"", std::string(600'000, 'x'), "\"} 1\n")),
              HasSubstr("the name and labels of a series take more than 557568 bytes"));
  EXPECT_EQ(server.store.counts().refused_labels, 2u);
}

TEST(PushPages, SeriesThatAreRefusedForTheirLabelsAreCounted) {
  PushServer server;
  const Message request = Message()
                              .Bytes(4, "")
                              .Bytes(4, "__name__")
                              .Bytes(4, std::string(5000, 'x'))
                              .Add(5, Message().Packed(1, {1, 2}).Add(2, Message().Double(1, 1)));
  EXPECT_THAT(server.Write(request.bytes(), 2), HasSubstr("400 1 of 1 samples were refused"));
  EXPECT_EQ(server.store.counts().refused_labels, 1u);
}

}  // namespace
}  // namespace flyball::live
