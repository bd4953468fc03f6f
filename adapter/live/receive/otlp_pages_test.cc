#include "adapter/live/receive/otlp_pages.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "absl/base/casts.h"
#include "absl/strings/str_join.h"
#include "adapter/live/formats/testing/write_request.h"
#include "http/server/test_workers.h"
#include "http/testing/gzip.h"
#include "promql/text.h"

namespace flyball::live {
namespace {

using http::Gzip;
using testing::ElementsAre;
using testing::HasSubstr;

constexpr int64_t kNow = 1'700'000'000'000;

struct Server {
  explicit Server(StoreOptions options = {}, OtlpLimits limits = {})
      : store(options), pages(receiver, room, clock, limits) {}

  // Status and body.
  std::string Send(const std::string& body, const std::string& type = "application/json",
                   const std::string& encoding = "") {
    http::HttpRequest request;
    request.method = "POST";
    request.target = "/v1/metrics";
    request.headers = {{"Content-Type", type}};
    if (!encoding.empty()) request.headers.emplace_back("Content-Encoding", encoding);
    request.body = body;
    last = pages.Answer(request);
    return absl::StrCat(last.status, " ", *last.body);
  }
  // `labels value@ms …` of each series.
  std::vector<std::string> Stored() const {
    std::vector<std::string> stored;
    for (const auto& series : store.Select({})) {
      std::string line = promql::FormatLabels(series->labels().ToLabelSet());
      std::vector<promql::Point> points;
      series->Read(0, kNow * 2, points);
      for (const promql::Point& point : points) {
        absl::StrAppend(&line, " ",
                        promql::IsStale(point.value) ? "stale" : promql::FormatValue(point.value),
                        "@", point.time_ms - kNow);
      }
      stored.push_back(line);
    }
    return stored;
  }

  SimulatedClock clock{absl::FromUnixMillis(kNow)};
  Store store;
  Ingest ingest{store};
  OtlpReceiver receiver{ingest};
  PushRoom room{1000};
  OtlpPages pages;
  http::HttpResponse last;
};

std::string Metrics(const std::string& metrics, const std::string& attributes = "") {
  return absl::StrCat(R"({"resourceMetrics":[{"resource":{"attributes":[)", attributes,
                      R"(]},"scopeMetrics":[{"metrics":[)", metrics, "]}]}]}");
}
// A point at so many milliseconds from now.
std::string PointJson(int64_t ms, double value, int64_t start_ms = -100'000) {
  return absl::StrCat(R"({"timeUnixNano":")", kNow + ms, R"(999999","startTimeUnixNano":")",
                      kNow + start_ms, R"(999999","asDouble":)", value, "}");
}
std::string Gauge(const std::string& name, const std::string& points) {
  return absl::StrCat(R"({"name":")", name, R"(","gauge":{"dataPoints":[)", points, "]}}");
}
std::string Sum(int temporality, bool monotonic, const std::string& points) {
  return absl::StrCat(R"({"name":"n","sum":{"aggregationTemporality":)", temporality,
                      R"(,"isMonotonic":)", monotonic ? "true" : "false", R"(,"dataPoints":[)",
                      points, "]}}");
}
constexpr char kService[] =
    R"({"key":"service.name","value":{"stringValue":"shop"}},{"key":"os","value":{"stringValue":"x"}})";

TEST(OtlpPages, SamplesAndTargetInfoAreStored) {
  Server server;
  EXPECT_EQ(
      server.Send(Metrics(Gauge("a.b", PointJson(-200'000, 1) + "," + PointJson(0, 2)), kService)),
      "200 {}");
  EXPECT_EQ(server.last.content_type, "application/json");
  EXPECT_THAT(server.Stored(),
              ElementsAre(R"(a_b{job="shop"} 1@-200000 2@0)",
                          R"(target_info{job="shop", os="x"} 1@-200000 1@-50000 1@0)"));
}

TEST(OtlpPages, ProbesHaveAWorkerMeanwhile) {
  Server server;
  EXPECT_EQ(http::WorkersAfter([&] { server.Send(Metrics(Gauge("a", PointJson(0, 1)))); }), 2);
}

TEST(OtlpPages, NoTargetInfoForTimesThatTheStoreRefuses) {
  constexpr int64_t kDays = 10 * int64_t{86'400'000};
  Server server;
  server.store.Keep(std::vector<Selector>());
  const std::string points = PointJson(-kDays, 1) + "," + PointJson(kDays, 2);
  EXPECT_THAT(server.Send(Metrics(Gauge("a", points), kService)),
              HasSubstr(R"("rejectedDataPoints":"2")"));
  EXPECT_LE(server.store.counts().not_kept, 2u);
}

TEST(OtlpPages, LongTextsAreRefusedBeforeTheirSeriesAreMade) {
  Server server;
  const std::string text(5000, 'x');
  const std::string resource =
      absl::StrCat(R"({"key":"service.name","value":{"stringValue":")", text, R"("}})");
  EXPECT_THAT(server.Send(Metrics(Gauge("a", PointJson(0, 1)), resource)),
              HasSubstr(R"(attribute \"service.name\" is longer than)"));
  EXPECT_EQ(server.store.counts().refused_labels, 1u);
  EXPECT_THAT(server.Send(Metrics(Gauge(text, PointJson(0, 1)))),
              HasSubstr("the name of a metric is longer than 4096 bytes"));
  // What no point has for a label is no reason to refuse one.
  const std::string other =
      absl::StrCat(R"({"key":"command","value":{"stringValue":")", text, R"("}})");
  EXPECT_EQ(server.Send(Metrics(Gauge("a", PointJson(0, 1)), absl::StrCat(kService, ",", other))),
            "200 {}");
  EXPECT_THAT(server.Stored(), ElementsAre(R"(a{job="shop"} 1@0)"));
}

TEST(OtlpPages, ProtobufIsAnsweredInProtobuf) {
  Server server;
  const formats::Message point =
      formats::Message().Bits(3, uint64_t{kNow} * 1'000'000).Double(4, 5);
  const formats::Message metric =
      formats::Message().Bytes(1, "x").Add(5, formats::Message().Add(1, point));
  const std::string request =
      formats::Message()
          .Add(1, formats::Message().Add(2, formats::Message().Add(2, metric)))
          .bytes();
  EXPECT_EQ(server.Send(request, "application/x-protobuf"), "200 ");
  EXPECT_EQ(server.last.content_type, "application/x-protobuf");
  EXPECT_EQ(server.Send(Gzip(request), "application/x-protobuf", "gzip"), "200 ");
  EXPECT_THAT(server.Stored(), ElementsAre("x 5@0"));
  EXPECT_EQ(server.Send("\x0a\x05x", "application/x-protobuf"),
            absl::StrCat("400 ", formats::Message()
                                     .Varint(1, 3)
                                     .Bytes(2,
                                            "the body is no export request of OTLP metrics in "
                                            "protobuf")
                                     .bytes()));
}

TEST(OtlpPages, WhatIsRefusedIsToldAndTheRestTaken) {
  Server server;
  EXPECT_THAT(
      server.Send(Metrics(Gauge("a", PointJson(0, 1) + "," + PointJson(-3600'000, 2)) + "," +
                          Gauge("__", PointJson(0, 1)) + "," + Sum(1, false, PointJson(0, 1)) +
                          "," + Sum(0, true, PointJson(0, 1)) + "," + Gauge("b", PointJson(0, 3)))),
      testing::AllOf(HasSubstr("200 "), HasSubstr(R"("rejectedDataPoints":"4")")));
  EXPECT_THAT(server.Stored(), ElementsAre("a 1@0", "b 3@0"));
}

TEST(OtlpPages, AMetricWithoutPointsIsAWarning) {
  Server server;
  EXPECT_EQ(server.Send(Metrics(Gauge("a", ""))),
            R"(200 {"partialSuccess":{"errorMessage":"metric \"a\" has no data points",)"
            R"("rejectedDataPoints":"0"}})");
}

// Escapes make a text longer, and an answer has copies of it.
TEST(OtlpPages, OfALongNameOnlyTheBeginningIsRepeated) {
  Server server;
  const std::string name(1 << 20, '\x01');
  const auto answered = [&server](const formats::Message& metric) {
    const formats::Message scope = formats::Message().Add(2, metric);
    const formats::Message request = formats::Message().Add(1, formats::Message().Add(2, scope));
    return server.Send(request.bytes(), "application/x-protobuf");
  };
  const auto data = formats::Message().Add(
      1, formats::Message().Bits(3, uint64_t{kNow} * 1'000'000).Double(4, 5));
  EXPECT_THAT(answered(formats::Message().Bytes(1, name)),
              testing::AllOf(HasSubstr("bytes more)\" has no data points"),
                             testing::SizeIs(testing::Lt(2048))));
  EXPECT_THAT(answered(formats::Message().Bytes(1, name).Add(7, data)),
              HasSubstr("the name of a metric is longer than 4096 bytes"));
  EXPECT_THAT(answered(formats::Message().Bytes(1, "a").Bytes(3, name).Add(5, data)),
              HasSubstr("the unit of a metric is longer than 4096 bytes"));
  EXPECT_THAT(server.Send(Metrics(Gauge(std::string(1 << 16, '_'), ""))),
              testing::SizeIs(testing::Lt(2048)));
  EXPECT_THAT(server.Stored(), ElementsAre());
  EXPECT_EQ(answered(formats::Message().Bytes(1, "a").Bytes(2, name).Add(5, data)), "200 ");
  EXPECT_EQ(server.ingest.metadata().All().at(0).second.help.size(), 512u);
}

// The store names the series of a sample that it refuses.
TEST(OtlpPages, AReasonIsRepeatedOnlyInPart) {
  Server server;
  std::string attributes;
  for (int i = 0; i < 10; ++i) {
    absl::StrAppend(&attributes, i == 0 ? "" : ",", R"({"key":"a)", i,
                    R"(","value":{"stringValue":")", std::string(4000, 'x'), R"("}})");
  }
  const auto send = [&](int value) {
    return server.Send(
        Metrics(Gauge("a", absl::StrCat(R"({"timeUnixNano":")", kNow, R"(000000","asDouble":)",
                                        value, R"(,"attributes":[)", attributes, "]}"))));
  };
  EXPECT_EQ(send(1), "200 {}");
  EXPECT_THAT(send(2), testing::AllOf(HasSubstr("duplicate sample"), HasSubstr("bytes more)"),
                                      testing::SizeIs(testing::Lt(3000))));
}

TEST(OtlpPages, DeltasBecomeTotals) {
  Server server;
  EXPECT_EQ(server.Send(Metrics(Sum(1, true, PointJson(-2000, 5, -3000)))), "200 {}");
  EXPECT_EQ(server.Send(Metrics(Sum(1, true, PointJson(-1000, 2, -2000)))), "200 {}");
  // Sent again.
  EXPECT_THAT(server.Send(Metrics(Sum(1, true, PointJson(-1000, 2, -2000)))),
              HasSubstr(R"("rejectedDataPoints":"1")"));
  EXPECT_EQ(server.Send(Metrics(Sum(1, true, PointJson(0, 4, -1000)))), "200 {}");
  EXPECT_THAT(server.Stored(), ElementsAre("n_total 5@-2000 7@-1000 11@0"));
}

// A delta histogram of a millisecond, so many after a time in the past.
formats::Message Histogram(int64_t ms, int bounds) {
  const auto number = [](uint64_t bits) {
    return formats::Message().Bits(1, bits).bytes().substr(1);
  };
  std::string counts = number(1), uppers;
  for (int i = 0; i < bounds; ++i) {
    counts += number(1);
    uppers += number(absl::bit_cast<uint64_t>(static_cast<double>(i)));
  }
  const auto begin_ns = static_cast<uint64_t>((kNow - 10'000 + ms) * 1'000'000);
  return formats::Message()
      .Bits(2, begin_ns)
      .Bits(3, begin_ns + 1'000'000)
      .Bits(4, static_cast<uint64_t>(bounds) + 1)
      .Bytes(6, counts)
      .Bytes(7, uppers);
}

// A request with these points of the delta histogram `h`.
std::string DeltasOf(formats::Message points) {
  points.Varint(2, 1);
  const formats::Message metric = formats::Message().Bytes(1, "h").Add(9, points);
  return formats::Message()
      .Add(1, formats::Message().Add(2, formats::Message().Add(2, metric)))
      .bytes();
}

// The total must go on even if one bucket could not be stored, since the other samples were.
TEST(OtlpPages, ADeltaOfWhichOneBucketHasNoRoomCounts) {
  Server server({.max_series = 3});
  const auto send = [&server](int64_t ms, int bounds) {
    const std::string message = DeltasOf(formats::Message().Add(1, Histogram(ms, bounds)));
    return server.receiver.Take(formats::OtlpEncoding::kProtobuf, message, kNow)->no_room;
  };
  EXPECT_EQ(send(0, 1), 0u);
  EXPECT_EQ(send(1, 2), 1u);
  EXPECT_EQ(send(2, 1), 1u);
  EXPECT_THAT(server.Stored(), testing::Contains("h_count 2@-9999 5@-9998 7@-9997"));
}

TEST(OtlpPages, ShortDeltasOfALongHistogramCostNoMoreThanTheirRequestMay) {
  const auto send = [](int first_bounds, int more, int bounds) {
    Server server;
    formats::Message points;
    points.Add(1, Histogram(0, first_bounds));
    for (int i = 1; i <= more; ++i) points.Add(1, Histogram(i, bounds));
    const std::string message = DeltasOf(points);
    const auto received = server.receiver.Take(formats::OtlpEncoding::kProtobuf, message, kNow);
    EXPECT_TRUE(received.ok()) << received.status();
    EXPECT_EQ(received->no_room, 0u) << "it would be sent again";
    return std::make_pair(received->rejected, received->reason);
  };
  const auto [rejected, reason] = send(1000, 1000, 1);
  EXPECT_GT(rejected, 300u);
  EXPECT_LT(rejected, 500u);
  EXPECT_THAT(reason, HasSubstr("send fewer of them at once"));
  EXPECT_EQ(send(100, 1000, 100).first, 0u) << "points with all bounds of their series";
  EXPECT_EQ(send(160, 1000, 20).first, 0u) << "as exponential histograms have them";
}

// Each has a thousand buckets of one byte.
TEST(OtlpPages, ExponentialHistogramsMakeNoMoreSamplesThanTheirRequestMay) {
  Server server;
  OtlpReceiver receiver(server.ingest, {.max_samples = 10'000});
  std::string counts(1000, '\0');
  counts.front() = counts.back() = 1;
  formats::Message points = formats::Message().Varint(2, 2);
  for (int i = 0; i < 100; ++i) {
    points.Add(1, formats::Message()
                      .Bits(3, static_cast<uint64_t>(kNow - 1000 + i) * 1'000'000)
                      .Bits(4, 2)
                      .Add(8, formats::Message().Bytes(2, counts)));
  }
  const formats::Message metric = formats::Message().Bytes(1, "h").Add(10, points);
  const auto received =
      receiver.Take(formats::OtlpEncoding::kProtobuf,
                    formats::Message()
                        .Add(1, formats::Message().Add(2, formats::Message().Add(2, metric)))
                        .bytes(),
                    kNow);
  ASSERT_TRUE(received.ok()) << received.status();
  EXPECT_EQ(received->taken, 10u);
  EXPECT_EQ(received->rejected, 90u);
  EXPECT_THAT(received->reason, HasSubstr("more than 10000 samples: send fewer points at once"));
}

TEST(OtlpPages, NoRecordedValueEndsTheSeries) {
  Server server;
  EXPECT_EQ(server.Send(Metrics(Gauge("a", PointJson(-1000, 1)))), "200 {}");
  EXPECT_EQ(server.Send(Metrics(
                Gauge("a", absl::StrCat(R"({"flags":1,"timeUnixNano":")", kNow, R"(000000"})")))),
            "200 {}");
  EXPECT_THAT(server.Stored(), ElementsAre("a 1@-1000 stale@0"));
}

TEST(OtlpPages, AFullStoreAsksToBeTriedAgain) {
  Server server({.max_series = 1});
  EXPECT_EQ(server.Send(Metrics(Gauge("a", PointJson(0, 1)))), "200 {}");
  EXPECT_THAT(server.Send(Metrics(Gauge("b", PointJson(0, 1)))), HasSubstr(R"(503 {"code":14)"));
  EXPECT_EQ(http::FindHeader(server.last.headers, "Retry-After"), "5");
  // Not if it has taken a part: the sender would hold back the series that there are.
  EXPECT_THAT(server.Send(Metrics(Gauge("a", PointJson(1, 2)) + "," + Gauge("b", PointJson(1, 1)))),
              testing::AllOf(HasSubstr("200 "), HasSubstr(R"("rejectedDataPoints":"1")"),
                             HasSubstr("over the limit of 1 series")));
  EXPECT_THAT(server.Stored(), ElementsAre("a 1@0 2@1"));
}

TEST(OtlpPages, WhatIsNoRequestIsRefused) {
  Server server({}, {.max_uncompressed_bytes = 100});
  EXPECT_THAT(server.Send("{"), HasSubstr(R"(400 {"code":3)"));
  EXPECT_THAT(server.Send("{}", "text/plain"), HasSubstr("415 content type"));
  EXPECT_THAT(server.Send("{}", "application/json", "deflate"), HasSubstr("415 content encoding"));
  EXPECT_THAT(server.Send("{}", "application/json", std::string(100'000, 'x')),
              testing::SizeIs(testing::Lt(1000)));
  EXPECT_THAT(server.Send("no", "application/json", "gzip"), HasSubstr("400 "));
  EXPECT_THAT(server.Send(Gzip("{}").substr(0, 15), "application/json", "gzip"), HasSubstr("400 "));
  EXPECT_THAT(server.Send(std::string(101, ' ')), HasSubstr("413 "));
  EXPECT_THAT(server.Send(Gzip(std::string(1'000'000, ' ')), "application/json", "gzip"),
              HasSubstr("413 "));
  http::HttpRequest get;
  get.method = "GET";
  EXPECT_EQ(server.pages.Answer(get).status, 405);
  EXPECT_TRUE(server.pages.Has("/api/v1/otlp/v1/metrics"));
  EXPECT_FALSE(server.pages.Has("/v1/traces"));
}

TEST(OtlpPages, TooManyAtOnceAreToldToWait) {
  Server server({}, {.max_at_once = 0});
  EXPECT_THAT(server.Send("{}"), HasSubstr("429"));
}

// JSON takes many times its length to read.
TEST(OtlpPages, RequestsShareARoom) {
  Server server;
  PushRoom::Share other(server.room);
  ASSERT_TRUE(other.GrowTo(900));
  EXPECT_THAT(server.Send("{}"), HasSubstr("200"));
  EXPECT_THAT(server.Send("{" + std::string(10, ' ') + "}"), HasSubstr("429"));
}

TEST(OtlpPages, JsonHasALimitOfItsOwn) {
  Server server({}, {.max_uncompressed_bytes = 1000, .max_json_bytes = 100});
  EXPECT_THAT(server.Send("{" + std::string(98, ' ') + "}"), HasSubstr("200"));
  EXPECT_THAT(server.Send("{" + std::string(99, ' ') + "}"), HasSubstr("413"));
}

}  // namespace
}  // namespace flyball::live
