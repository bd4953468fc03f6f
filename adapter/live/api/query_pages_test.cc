#include "adapter/live/api/query_pages.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "adapter/live/store/store.h"
#include "http/server/test_workers.h"

namespace flyball::live {
namespace {

using testing::HasSubstr;

constexpr int64_t kNow = 1'700'000'000'000;

struct Server {
  explicit Server(QueryPagesOptions options = {})
      : pages(store, metadata, clock, std::move(options)) {
    const auto add = [&](promql::LabelSet labels, int64_t ms, double value) {
      EXPECT_TRUE(store.Append(labels, {kNow + ms, value}, kNow).ok());
    };
    for (int64_t second = -60; second <= 0; second += 15) {
      add({{"__name__", "up"}, {"job", "a"}}, second * 1000, 1);
      add({{"__name__", "up"}, {"job", "b\"\n"}}, second * 1000, 0);
    }
    add({{"__name__", "old"}, {"le", "1"}}, -300'000, 2);
  }

  // Status and body.
  std::string Get(const std::string& target) { return Send("GET", target, ""); }
  std::string Post(const std::string& path, const std::string& form) {
    return Send("POST", path, form);
  }
  std::string Send(const std::string& method, const std::string& target, const std::string& body) {
    http::HttpRequest request;
    request.method = method;
    request.target = "/api/v1/" + target;
    request.headers = {{"Content-Type", "application/x-www-form-urlencoded"}};
    request.body = body;
    EXPECT_TRUE(pages.Has(request.target.substr(0, request.target.find('?')))) << target;
    last = pages.Answer(request);
    return absl::StrCat(last.status, " ", *last.body);
  }

  SimulatedClock clock{absl::FromUnixMillis(kNow)};
  Store store;
  MetadataTable metadata;
  QueryPages pages;
  http::HttpResponse last;
};

std::string Data(const std::string& data) {
  return absl::StrCat(R"(200 {"status":"success","data":)", data, "}");
}
std::string Error(int status, const std::string& type, const std::string& text) {
  return absl::StrCat(status, R"( {"status":"error","errorType":")", type, R"(","error":")", text,
                      R"("})");
}

TEST(QueryPages, InstantQueriesNowAndThen) {
  Server server;
  EXPECT_EQ(server.Get("query?query=1%2B1"),
            Data(R"({"resultType":"scalar","result":[1700000000,"2"]})"));
  EXPECT_EQ(server.last.content_type, "application/json");
  const std::string up = R"({"resultType":"vector","result":[{"metric":{"__name__":"up",)"
                         R"("job":"a"},"value":[1699999999.500,"1"]}]})";
  EXPECT_EQ(server.Get("query?query=up%7Bjob%3D%22a%22%7D&time=1699999999.5"), Data(up));
  EXPECT_EQ(server.Post("query", "query=up{job=%22a%22}&time=1699999999.5"), Data(up));
  EXPECT_EQ(server.Post("query?query=2", "query=1"),
            Data(R"({"resultType":"scalar","result":[1700000000,"1"]})"));
  EXPECT_EQ(server.Get("query?query=none"), Data(R"({"resultType":"vector","result":[]})"));
  EXPECT_EQ(server.Get("query?query=old&lookback_delta=6m"),
            Data(R"({"resultType":"vector","result":[{"metric":{"__name__":"old","le":"1"},)"
                 R"("value":[1700000000,"2"]}]})"));
  const std::string now = server.Get("query?query=up");
  EXPECT_THAT(now, HasSubstr(R"("value")"));
  EXPECT_EQ(server.Get("query?query=up&lookback_delta=0"), now);
  EXPECT_EQ(server.Get("query?query=up&lookback_delta=-5"), now);
}

TEST(QueryPages, ProbesHaveAWorkerMeanwhile) {
  Server server;
  EXPECT_EQ(http::WorkersAfter([&] { server.Get("query?query=up"); }), 2);
}

TEST(QueryPages, RangeQueries) {
  Server server;
  EXPECT_EQ(server.Get("query_range?query=sum(up)&start=1699999985&end=1700000000&step=15"),
            Data(R"({"resultType":"matrix","result":[{"metric":{},"values":)"
                 R"([[1699999985,"1"],[1700000000,"1"]]}]})"));
  EXPECT_THAT(server.Get("query_range?query=up&start=1&end=0&step=1"),
              HasSubstr(R"(400 {"status":"error","errorType":"bad_data","error":"invalid )"
                        R"(parameter \"end\": end timestamp)"));
  EXPECT_THAT(server.Get("query_range?query=up&start=0&end=1&step=0"),
              HasSubstr(R"(invalid parameter \"step\": zero or negative)"));
  EXPECT_THAT(server.Get("query_range?query=up&start=0&end=11001&step=1"),
              HasSubstr("400 {\"status\":\"error\",\"errorType\":\"bad_data\",\"error\":\"exceeded "
                        "maximum resolution of 11,000 points"));
  EXPECT_THAT(server.Get("query_range?query=up&end=1&step=1"),
              HasSubstr(R"(invalid parameter \"start\": cannot parse \"\" to a valid timestamp)"));
}

TEST(QueryPages, ErrorsByTheirTypes) {
  Server server;
  EXPECT_THAT(
      server.Get("query?query=up%7B"),
      HasSubstr(R"("errorType":"bad_data","error":"invalid parameter \"query\": 1:4: parse )"
                R"(error)"));
  EXPECT_THAT(server.Get("query_range?query=up%7B&start=0&end=1&step=1"),
              HasSubstr(R"(invalid parameter \"query\": 1:4)"));
  EXPECT_THAT(server.Get("query?query=up%2Bon()up"), HasSubstr(R"(422 {"status":"error",)"
                                                               R"("errorType":"execution")"));
  EXPECT_THAT(server.Get("query?query=1&time=x"), HasSubstr(R"(invalid parameter \"time\")"));
  EXPECT_THAT(server.Get("query?query=1&limit=-1"), HasSubstr(R"(invalid parameter \"limit\")"));
  EXPECT_THAT(server.Get("query?query=%zz"), HasSubstr("400 "));
  EXPECT_EQ(server.Send("PUT", "query", "").substr(0, 3), "405");
  EXPECT_EQ(http::FindHeader(server.last.headers, "Allow"), "GET, POST");
  EXPECT_EQ(server.Post("metadata", "").substr(0, 3), "405");
  EXPECT_FALSE(server.pages.Has("/api/v1/label//values"));
  EXPECT_FALSE(server.pages.Has("/api/v1/targets"));
  EXPECT_FALSE(server.pages.Has("/api/v1/"));
}

TEST(QueryPages, Prometheus2DoesNotNameTheQueryOfARange) {
  Server server({.dialect = promql::Dialect::k2});
  EXPECT_THAT(server.Get("query_range?query=up%7B&start=0&end=1&step=1"),
              HasSubstr(R"("error":"1:4: parse error)"));
  EXPECT_THAT(server.Get("status/buildinfo"), HasSubstr(R"("version":"2.42.0")"));
}

TEST(QueryPages, SeriesLabelsAndValues) {
  Server server;
  const std::string a = R"({"__name__":"up","job":"a"})";
  const std::string b = R"({"__name__":"up","job":"b\"\u000a"})";
  EXPECT_EQ(server.Get("series?match[]=up&match[]=up{job=%22a%22}"),
            Data(absl::StrCat("[", a, ",", b, "]")));
  EXPECT_EQ(server.Get("series?match[]=none"), Data("[]"));
  EXPECT_EQ(server.Get("series"), Error(400, "bad_data", "no match[] parameter provided"));
  EXPECT_THAT(server.Get("series?match[]={a=%22%22}"), HasSubstr("400 "));
  EXPECT_EQ(server.Post("labels", ""), Data(R"(["__name__","job","le"])"));
  EXPECT_EQ(server.Get("labels?start=1699999990&end=1700000000"), Data(R"(["__name__","job"])"));
  EXPECT_EQ(server.Get("labels?match[]=old"), Data(R"(["__name__","le"])"));
  EXPECT_EQ(server.Get("label/__name__/values"), Data(R"(["old","up"])"));
  EXPECT_EQ(
      server.Get("label/__name__/values?limit=1"),
      R"(200 {"status":"success","data":["old"],"warnings":["results truncated due to limit"]})");
  EXPECT_EQ(server.Get("label/jo%62/values?match[]=up{job!=%22a%22}"), Data(R"(["b\"\u000a"])"));
  EXPECT_THAT(server.Get("query?query=up&limit=1"), HasSubstr("results truncated due to limit"));
}

TEST(QueryPages, WhatIsNoNameOfALabelHasNoValues) {
  const auto wrong = [](const std::string& name) {
    return Error(400, "bad_data", absl::StrCat(R"(invalid label name: \")", name, R"(\")"));
  };
  Server older({.dialect = promql::Dialect::k2});
  EXPECT_EQ(older.Get("label/a.b/values"), wrong("a.b"));
  EXPECT_EQ(older.Get("label/U__job/values"), Data("[]"));
  Server newer;
  EXPECT_EQ(newer.Get("label/a.b/values"), Data("[]"));
  EXPECT_EQ(newer.Get("label/a%FF/values").substr(0, 3), "400");
}

TEST(QueryPages, ALabelMayBeWrittenInLettersAlone) {
  Server server;
  const auto add = [&server](const std::string& label) {
    const promql::LabelSet labels = {{"__name__", "m"}, {label, "v"}};
    ASSERT_TRUE(server.store.Append(labels, {kNow, 1}, kNow).ok());
  };
  add("a.b_c");
  add("日");
  add("U__x_y");
  EXPECT_EQ(server.Get("label/U__a_2e_b__c/values"), Data(R"(["v"])"));
  EXPECT_EQ(server.Get("label/U___65e5_/values"), Data(R"(["v"])"));
  // None of these is written in that way, so that each is the name itself.
  for (const char* label : {"U__x_y", "U__x_y_", "U__x_0x2e_", "U___110000_", "U___d800_"}) {
    EXPECT_EQ(server.Get(absl::StrCat("label/", label, "/values")),
              Data(absl::string_view(label) == "U__x_y" ? R"(["v"])" : "[]"))
        << label;
  }
}

TEST(QueryPages, MetadataOfFamilies) {
  Server server;
  server.metadata.Note("b_total", "counter", std::nullopt, std::nullopt);
  server.metadata.Note("b_total", std::nullopt, "of \"b\"", "b");
  server.metadata.Note("a", "gauge", "", "");
  const std::string a = R"("a":[{"type":"gauge","help":"","unit":""}])";
  const std::string b = R"("b_total":[{"type":"counter","help":"of \"b\"","unit":"b"}])";
  EXPECT_EQ(server.Get("metadata"), Data(absl::StrCat("{", a, ",", b, "}")));
  EXPECT_EQ(server.Get("metadata?limit=1"), Data(absl::StrCat("{", a, "}")));
  EXPECT_EQ(server.Get("metadata?metric=b_total"), Data(absl::StrCat("{", b, "}")));
  EXPECT_EQ(server.Get("metadata?metric=c"), Data("{}"));
}

TEST(QueryPages, MetadataTakeOfTheMemoryOfQueries) {
  Server server({.limits = {.max_bytes = 600'000}});  // two at once
  for (int i = 0; i < 400; ++i) server.metadata.Note(absl::StrCat("m", i), "gauge", "x", "");
  EXPECT_THAT(server.Get("metadata"), HasSubstr("200 "));
  for (int i = 0; i < 400; ++i) {
    server.metadata.Note(absl::StrCat("m", i), "gauge", std::string(500, 'x'), "");
  }
  EXPECT_THAT(server.Get("metadata"), HasSubstr("422 "));
}

TEST(QueryPages, AQueryThatTakesTooLongOrTooMuchEnds) {
  Server server({.limits = {.max_points = 3}});
  EXPECT_THAT(server.Get("query?query=up[1m]"), HasSubstr(R"("errorType":"execution")"));
  Server slow({.limits = {.timeout = absl::ZeroDuration()}});
  EXPECT_EQ(slow.Get("query_range?query=sum_over_time(up[1m])%2Bup&start=1699999960&end=1700000000&"
                     "step=0.004"),
            Error(503, "timeout", "query timed out in expression evaluation"));
}

std::string Repeated(int count, const std::string& text) {
  std::string repeated;
  for (int i = 0; i < count; ++i) repeated += text;
  return repeated;
}

TEST(QueryPages, LongTextsAndManySelectorsAreRefused) {
  Server server;
  const std::string spaces(64 << 10, ' ');
  EXPECT_EQ(server.Post("query", "query=" + spaces + "1"),
            Error(400, "bad_data",
                  R"(invalid parameter \"query\": the query is longer than 65536 bytes)"));
  EXPECT_EQ(server.Post("query_range", "start=0&end=1&step=1&query=" + spaces + "1").substr(0, 3),
            "400");
  EXPECT_EQ(server.Post("query", "query=" + spaces.substr(1) + "1").substr(0, 3), "200");
  EXPECT_EQ(server.Post("series", "match[]=up" + spaces),
            Error(400, "bad_data", R"(invalid parameter \"match[]\": longer than 65536 bytes)"));
  EXPECT_EQ(server.Post("labels", Repeated(16, "match[]={__name__!=\"\"}&")),
            Data(R"(["__name__","job","le"])"));
  for (const char* list : {"series", "labels", "label/job/values"}) {
    EXPECT_EQ(server.Get(absl::StrCat(list, "?", Repeated(17, "match[]={__name__!=\"\"}&"))),
              Error(400, "bad_data", R"(invalid parameter \"match[]\": more than 16 of them)"));
  }
  // Of all selectors together.
  const std::string five = "match[]=up{" + Repeated(5, R"(a=~"b.*",)") + "}&";
  EXPECT_EQ(server.Get("series?" + Repeated(12, five)), Data("[]"));
  EXPECT_THAT(server.Get("series?" + Repeated(13, five)),
              HasSubstr("the regular expressions of the query take more than 64 MiB"));
}

// A timeout is read before a query has its place.
TEST(QueryPages, OnlyTheBeginningOfALongTextIsRepeated) {
  Server server;
  EXPECT_THAT(server.Get("query?query=1&timeout=" + std::string(64, 'x')),
              HasSubstr(absl::StrCat(R"(parse \")", std::string(64, 'x'), R"(\" to a valid)")));
  EXPECT_EQ(server.Get("query?query=1&timeout=" + std::string(65, '1')),
            Error(400, "bad_data", R"(invalid parameter \"timeout\": longer than 64 bytes)"));
  const std::string longer(10'000, '\x01');
  for (const char* name : {"time", "limit", "lookback_delta"}) {
    EXPECT_THAT(server.Get(absl::StrCat("query?query=1&", name, "=", longer)),
                testing::AllOf(HasSubstr("400 "), testing::SizeIs(testing::Lt(5000))))
        << name;
  }
  EXPECT_THAT(server.Get("query?query=up{a=~%22(" + std::string(10'000, 'a') + "%22}"),
              testing::AllOf(HasSubstr("400 "), testing::SizeIs(testing::Lt(5000))));
}

TEST(QueryPages, ListsEndAtTheirDeadline) {
  Server late({.limits = {.timeout = absl::ZeroDuration()}});
  for (const char* list : {"series?match[]=up", "labels", "label/job/values", "query?query=up"}) {
    EXPECT_EQ(late.Get(list), Error(503, "timeout", "query timed out in expression evaluation"));
  }
}

TEST(QueryPages, AnswersHaveABound) {
  Server server({.limits = {.max_answer_bytes = 70}});
  const std::string error = Error(422, "execution", "the answer would be longer than 70 bytes");
  EXPECT_EQ(server.Get("query?query=up"), error);
  EXPECT_EQ(server.Get("query_range?query=up&start=1699999940&end=1700000000&step=15"), error);
  EXPECT_EQ(server.Get("series?match[]={__name__!=\"\"}"), error);
  EXPECT_EQ(server.Get("labels"), Data(R"(["__name__","job","le"])"));
  // What is not wanted is not made.
  EXPECT_THAT(server.Get("series?match[]={__name__!=\"\"}&limit=1"), HasSubstr("truncated"));
}

// The limit is of all queries together, so each may take half of it.
TEST(QueryPages, MemoryHasABound) {
  constexpr int kSeries = 1000;
  Server server({.limits = {.max_bytes = 500'000}});
  for (int i = 0; i < kSeries; ++i) {
    const promql::LabelSet labels = {{"__name__", "m"}, {"i", absl::StrCat(i)}};
    for (int64_t ms = -50; ms <= 0; ++ms) {
      ASSERT_TRUE(server.store.Append(labels, {kNow + ms, 1}, kNow).ok());
    }
  }
  const auto refused = [&](const std::string& target) {
    EXPECT_THAT(server.Get(target), HasSubstr("the query takes more than 250000 bytes of memory"))
        << target;
  };
  EXPECT_EQ(server.Get("query?query=count(m)").substr(0, 3), "200");
  EXPECT_EQ(server.Get("query?query=count(sum_over_time(m[1m]))").substr(0, 3), "200");
  refused("query?query=m[1m]");
  refused("query_range?query=m&start=1699999999.95&end=1700000000&step=0.001");
  refused("query?query=count_over_time((sum(m)by(i))[50ms:1ms])");
  // Values of several expressions at the same time.
  refused("query?query=" + Repeated(8, "-m%20or%20(") + "-m" + Repeated(8, ")"));
  refused("query?query=count(m)by(i)%2Bon(i)count(m)by(i)");
  refused("query?query=label_replace(m,%22x%22,%22" + std::string(400, 'y') + "%22,%22%22,%22%22)");
  refused("query?query=m*on()group_left(x)label_replace(vector(1),%22x%22,%22" +
          std::string(400, 'y') + "%22,%22%22,%22%22)");
  // The answer is written beside its result.
  for (int i = 0; i < 200; ++i) {
    const promql::LabelSet labels = {
        {"__name__", "long"}, {"i", absl::StrCat(i)}, {"text", std::string(2000, 'x')}};
    ASSERT_TRUE(server.store.Append(labels, {kNow, 1}, kNow).ok());
  }
  EXPECT_EQ(server.Get("query?query=count(long)").substr(0, 3), "200");
  EXPECT_THAT(server.Get("query?query=long"), HasSubstr("the answer would be longer than"));
}

TEST(QueryPages, MemoryOfListsHasABound) {
  Server server({.limits = {.max_bytes = 2000}});
  for (const char* list : {"series?match[]=m", "labels?match[]=m", "label/i/values?match[]=m"}) {
    EXPECT_THAT(server.Get(list), HasSubstr(R"("data":[])")) << list;
  }
  for (int i = 0; i < 100; ++i) {
    const promql::LabelSet labels = {{"__name__", "m"}, {"i", absl::StrCat(i)}};
    ASSERT_TRUE(server.store.Append(labels, {kNow, 1}, kNow).ok());
  }
  for (const char* list : {"series?match[]=m", "labels?match[]=m", "label/i/values?match[]=m"}) {
    EXPECT_THAT(server.Get(list), HasSubstr("takes more than 1000 bytes of memory")) << list;
  }
}

TEST(QueryPages, APlaceIsFreeOnceTheAnswerIsSent) {
  Server server({.limits = {.max_at_once = 1}});
  const absl::string_view timed_out = "query timed out in query queue";
  EXPECT_EQ(server.Get("query?query=up").substr(0, 3), "200");
  http::HttpResponse unsent = std::move(server.last);
  EXPECT_THAT(server.Get("query?query=up&timeout=0"), HasSubstr(timed_out));
  EXPECT_THAT(server.Get("metadata?timeout=0"), HasSubstr(timed_out));
  unsent.held = nullptr;
  EXPECT_THAT(server.Get("labels?timeout=1ms"), HasSubstr("200 "));
}

TEST(QueryPages, SayWhenTooManyWait) {
  Server server({.limits = {.max_at_once = 1, .max_waiting = 0}});
  EXPECT_EQ(server.Get("query?query=up").substr(0, 3), "200");
  const http::HttpResponse unsent = std::move(server.last);
  EXPECT_THAT(server.Get("query?query=up"),
              HasSubstr("too many queries wait, query timed out in query queue"));
}

TEST(QueryPages, MetadataHaveABound) {
  Server server({.limits = {.max_answer_bytes = 70}});
  server.metadata.Note("a", "gauge", std::string(70, '\x01'), "");
  EXPECT_THAT(server.Get("metadata"), HasSubstr("the answer would be longer than 70 bytes"));
}

}  // namespace
}  // namespace flyball::live
