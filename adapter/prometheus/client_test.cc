#include "adapter/prometheus/client.h"

#include <functional>
#include <thread>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "adapter/queries/failure_notes.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace flyball::adapter::prometheus {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;

constexpr char kOne[] = R"({"status":"success","data":{"resultType":"scalar","result":[1,"1"]}})";
constexpr char kNoSeries[] = R"({"status":"success","data":[]})";

// Answers as `script` says and remembers the calls.
class ScriptedTransport : public http::HttpTransport {
 public:
  using Script = std::function<absl::StatusOr<http::HttpAnswer>(const http::HttpCall&)>;
  explicit ScriptedTransport(Script script) : script_(std::move(script)) {}

  absl::StatusOr<http::HttpAnswer> Do(const http::HttpCall& call) override {
    calls.push_back(call);
    return script_(call);
  }
  absl::Status Stream(const http::HttpCall&,
                      const std::function<bool(absl::string_view)>&) override {
    return absl::UnimplementedError("not used here");
  }
  void Shutdown() override { ended = true; }

  std::vector<http::HttpCall> calls;
  bool ended = false;
  void SetScript(Script script) { script_ = std::move(script); }

 private:
  Script script_;
};

ScriptedTransport::Script Answer(int status, std::string body) {
  return [=](const http::HttpCall&) -> absl::StatusOr<http::HttpAnswer> {
    return http::HttpAnswer{.status = status, .headers = {}, .body = body};
  };
}

ScriptedTransport::Script Fail(absl::Status status) {
  return [=](const http::HttpCall&) -> absl::StatusOr<http::HttpAnswer> { return status; };
}

class RecordingObserver : public RequestObserver {
 public:
  void OnRequest(absl::string_view path, absl::string_view server, absl::Duration) override {
    requests.push_back(absl::StrCat(path, " ", server));
  }
  void OnOutcome(absl::string_view server, const absl::Status& outcome) override {
    outcomes.push_back(absl::StrCat(server, " ", outcome.ok() ? "ok" : outcome.message()));
  }
  void OnServerChange(absl::string_view server) override { changes.emplace_back(server); }
  std::vector<std::string> requests, outcomes, changes;
};

class ClientTest : public testing::Test {
 protected:
  // A client of one scripted server for each URL.
  std::unique_ptr<Client> Make(const std::vector<std::string>& urls, ClientOptions options = {}) {
    std::vector<Server> servers;
    for (const std::string& url : urls) {
      auto transport = std::make_unique<ScriptedTransport>(Answer(200, kOne));
      transports_.push_back(transport.get());
      servers.push_back({SplitServerUrl(url), std::move(transport)});
    }
    return std::make_unique<Client>(std::move(servers), std::move(options), clock_, &observer_);
  }

  absl::Status Ask(Client& client) {
    return client.Query("up", absl::FromUnixSeconds(1), absl::Seconds(60)).status();
  }

  SimulatedClock clock_{absl::FromUnixSeconds(1700000000)};
  RecordingObserver observer_;
  std::vector<ScriptedTransport*> transports_;
};

TEST_F(ClientTest, GetReplacesTheQueryStringOfTheUrl) {
  auto client = Make({"http://u:secret@prom:9090/base/?x=y"});
  const auto got = client->Query("sum by (po) (m{ns=\"web\",po=~\"a|b\"}) + 1~2",
                                 absl::FromUnixMillis(1700000000500), absl::Seconds(7));
  ASSERT_TRUE(got.ok()) << got.status();
  EXPECT_EQ((*got)->samples[0].value, 1);
  ASSERT_EQ(transports_[0]->calls.size(), 1u);
  const http::HttpCall& call = transports_[0]->calls[0];
  EXPECT_EQ(call.method, "GET");
  EXPECT_EQ(call.target,
            "/api/v1/query?query=sum+by+%28po%29+%28m%7Bns%3D%22web%22%2Cpo%3D~%22a%7Cb%22%7D%29+"
            "%2B+1~2&time=1700000000.5");
  EXPECT_EQ(call.body, "");
  EXPECT_THAT(call.headers, testing::IsEmpty());
  EXPECT_EQ(call.timeout, absl::Seconds(7));
  EXPECT_THAT(observer_.requests, ElementsAre("/api/v1/query http://prom:9090/base/"));
}

TEST_F(ClientTest, AStandingQueryGetsNoResultWhileNothingButTimesChanged) {
  auto client = Make({"http://prom"});
  StandingQuery query("up");
  const auto ask = [&](const std::string& samples) {
    transports_[0]->SetScript(
        Answer(200, absl::StrCat(R"({"status":"success","data":{"resultType":"vector","result":[)",
                                 samples, "]}}")));
    auto got = client->Ask(query, absl::FromUnixSeconds(1), absl::Seconds(60));
    EXPECT_TRUE(got.ok()) << got.status();
    return *std::move(got);
  };
  constexpr char kFive[] = R"({"metric":{"a":"b"},"value":[2,"5"]})";
  const StandingResult first = ask(R"({"metric":{"a":"b"},"value":[1,"5"]})");
  ASSERT_NE(first.result, nullptr);
  EXPECT_EQ(first.result->samples.size(), 1u);
  EXPECT_EQ(first.time, absl::FromUnixSeconds(1));
  const StandingResult second = ask(kFive);
  EXPECT_EQ(second.result, nullptr);
  EXPECT_EQ(second.time, absl::FromUnixSeconds(2));
  const StandingResult third = ask(R"({"metric":{"a":"b"},"value":[3,"6"]})");
  ASSERT_NE(third.result, nullptr);
  EXPECT_EQ(third.result->samples[0].value, 6);
  query.Forget();
  EXPECT_NE(ask(R"({"metric":{"a":"b"},"value":[4,"6"]})").result, nullptr);
  // What can't be told from others is told each time.
  for (const char* samples :
       {"", R"({"metric":{},"value":[1,"5"]},{"metric":{},"histogram":[1,{}]})",
        R"({"metric":{},"value":[1,"5"],"value":[1,"5"]},{"metric":{},"histogram":[2,{}]})"}) {
    EXPECT_NE(ask(samples).result, nullptr) << samples;
    EXPECT_NE(ask(samples).result, nullptr) << samples;
  }
  // What can't be read is no answer to compare with.
  ask(kFive);
  transports_[0]->SetScript(Answer(200, "{"));
  EXPECT_FALSE(client->Ask(query, absl::FromUnixSeconds(1), absl::Seconds(60)).ok());
  EXPECT_NE(ask(kFive).result, nullptr);
}

TEST_F(ClientTest, PostKeepsTheQueryStringOfTheUrl) {
  auto client = Make({"http://prom/?x=y"}, {.verb = ClientOptions::Verb::kPost});
  transports_[0]->SetScript(Answer(200, kNoSeries));
  ASSERT_TRUE(client->Series("{a=\"b\"}", absl::FromUnixSeconds(5), absl::Seconds(7)).ok());
  const http::HttpCall& call = transports_[0]->calls[0];
  EXPECT_EQ(call.method, "POST");
  EXPECT_EQ(call.target, "/api/v1/series?x=y");
  EXPECT_EQ(call.body, "match%5B%5D=%7Ba%3D%22b%22%7D&start=5");
  EXPECT_EQ(call.content_type, "application/x-www-form-urlencoded");
}

TEST_F(ClientTest, EachByteOfALongQueryIsEncoded) {
  auto client = Make({"http://prom"}, {.verb = ClientOptions::Verb::kPost});
  std::string query, want;
  for (int i = 0; i < 1000; ++i) {
    const char byte = static_cast<char>(i);
    const bool stays = absl::ascii_isalnum(static_cast<unsigned char>(byte)) ||
                       (byte != '\0' && absl::StrContains("-_.~", byte));
    query.push_back(byte);
    if (byte == ' ') {
      want += "+";
    } else if (stays) {
      want.push_back(byte);
    } else {
      absl::StrAppendFormat(&want, "%%%02X", i % 256);
    }
  }
  ASSERT_TRUE(client->Query(query, absl::FromUnixSeconds(5), absl::Seconds(7)).ok());
  EXPECT_EQ(transports_[0]->calls[0].body, absl::StrCat("query=", want, "&time=5"));
}

struct TimeRow {
  std::string name;
  int64_t millis;
  std::string want;
};

class ClientTimeTest : public ClientTest, public testing::WithParamInterface<TimeRow> {};

TEST_P(ClientTimeTest, Row) {
  auto client = Make({"http://prom"});
  ASSERT_TRUE(client->Query("q", absl::FromUnixMillis(GetParam().millis), absl::Seconds(1)).ok());
  EXPECT_EQ(transports_[0]->calls[0].target,
            absl::StrCat("/api/v1/query?query=q&time=", GetParam().want));
}

INSTANTIATE_TEST_SUITE_P(Forms, ClientTimeTest,
                         testing::Values(TimeRow{"WholeSeconds", 1700000000000, "1700000000"},
                                         TimeRow{"Half", 1700000000500, "1700000000.5"},
                                         TimeRow{"Millis", 1700000000007, "1700000000.007"},
                                         TimeRow{"TwoDecimals", 1700000000120, "1700000000.12"},
                                         TimeRow{"Zero", 0, "0"}),
                         [](const auto& info) { return info.param.name; });

struct CodeRow {
  std::string name;
  int status;
  std::string body;
  absl::StatusCode code;
  std::string says;
};

class ClientAnswerTest : public ClientTest, public testing::WithParamInterface<CodeRow> {};

TEST_P(ClientAnswerTest, Row) {
  auto client = Make({"http://user:secret@prom?token=hidden"});
  transports_[0]->SetScript(Answer(GetParam().status, GetParam().body));
  const absl::Status got = Ask(*client);
  EXPECT_EQ(got.code(), GetParam().code) << got;
  EXPECT_THAT(std::string(got.message()), HasSubstr(GetParam().says));
  EXPECT_THAT(std::string(got.message()), Not(HasSubstr("secret")));
  EXPECT_THAT(std::string(got.message()), Not(HasSubstr("hidden")));
}

constexpr char kBadData[] = R"({"status":"error","errorType":"bad_data","error":"parse error"})";
constexpr char kVictoriaMetrics[] =
    R"({"status":"error","errorType":"422","error":"too long query"})";
constexpr char kTimeout[] = R"({"status":"error","errorType":"timeout","error":"too slow"})";

INSTANTIATE_TEST_SUITE_P(
    Codes, ClientAnswerTest,
    testing::Values(
        CodeRow{"OtherSuccess", 203, kOne, absl::StatusCode::kOk, ""},
        CodeRow{"BadRequestIsRead", 400, kBadData, absl::StatusCode::kInvalidArgument,
                "prometheus http://prom: bad_data: parse error"},
        CodeRow{"UnprocessableIsRead", 422, kBadData, absl::StatusCode::kInvalidArgument, "parse"},
        CodeRow{"VictoriaMetrics", 422, kVictoriaMetrics, absl::StatusCode::kInvalidArgument,
                "too long query"},
        CodeRow{"NoType", 400, R"({"status":"error","error":"unknown function"})",
                absl::StatusCode::kInvalidArgument, "unknown function"},
        CodeRow{"OtherTypeOfAServerThatFails", 503,
                R"({"status":"error","errorType":"503","error":"no storage nodes"})",
                absl::StatusCode::kUnavailable, "no storage nodes"},
        CodeRow{"TimeoutWhateverTheCode", 422, kTimeout, absl::StatusCode::kUnavailable,
                "too slow"},
        CodeRow{"UnavailableIsRead", 503, kTimeout, absl::StatusCode::kUnavailable, "too slow"},
        CodeRow{"OthersAreNot", 500, kBadData, absl::StatusCode::kUnavailable,
                "unknown response code 500"},
        CodeRow{"NotFound", 404, "nothing", absl::StatusCode::kUnavailable,
                "unknown response code 404"},
        CodeRow{"TooLong", 414, "<html>", absl::StatusCode::kInvalidArgument, "response code 414"},
        CodeRow{"BadRequestOfAProxy", 400, "<html>", absl::StatusCode::kInvalidArgument,
                "response code 400"},
        CodeRow{"Redirect", 302, "", absl::StatusCode::kUnavailable, "unknown response code 302"},
        CodeRow{"Html", 200, "<html>", absl::StatusCode::kUnavailable, "<html>"}),
    [](const auto& info) { return info.param.name; });

TEST_F(ClientTest, WhatAProxyRefusesAnotherServerIsAsked) {
  auto client = Make({"http://first", "http://second"});
  transports_[0]->SetScript(Answer(400, "Client sent an HTTP request to an HTTPS server."));
  EXPECT_TRUE(Ask(*client).ok());
  EXPECT_EQ(client->ServerInUse(), "http://second");
}

TEST_F(ClientTest, ASeriesCallHasItsOwnTimeoutAlone) {
  auto client = Make({"http://prom"}, {.timeout = absl::Seconds(10)});
  transports_[0]->SetScript(Answer(200, R"({"status":"success","data":[]})"));
  ASSERT_TRUE(client->Series("m", absl::UnixEpoch(), absl::Minutes(10)).ok());
  EXPECT_EQ(transports_[0]->calls[0].timeout, absl::Minutes(10));
}

TEST_F(ClientTest, TheVersionIsAskedOfTheServerInUse) {
  auto client = Make({"http://first", "http://second"});
  transports_[0]->SetScript(Fail(absl::UnavailableError("down")));
  ASSERT_TRUE(Ask(*client).ok());
  EXPECT_EQ(client->ServerInUse(), "http://second");
  observer_.outcomes.clear();
  transports_[1]->SetScript(
      Answer(200, R"({"status":"success","data":{"version":"2.42.0","revision":"x"}})"));
  EXPECT_EQ(*client->Version(absl::Seconds(2)), "2.42.0");
  EXPECT_EQ(transports_[1]->calls.back().target, "/api/v1/status/buildinfo");

  for (const auto& [code, body] : {std::pair(404, "nothing"), std::pair(200, "<html>"),
                                   std::pair(200, R"({"status":"success","data":{}})")}) {
    transports_[1]->SetScript(Answer(code, body));
    EXPECT_FALSE(client->Version(absl::Seconds(2)).ok()) << body;
  }
  EXPECT_THAT(observer_.outcomes, testing::IsEmpty()) << "it says nothing about queries";
}

TEST_F(ClientTest, TooLargeAnAnswerIsUnavailable) {
  auto client = Make({"http://prom"}, {.max_query_bytes = 100});
  transports_[0]->SetScript(Fail(absl::ResourceExhaustedError("big")));
  const absl::Status got = Ask(*client);
  EXPECT_EQ(got.code(), absl::StatusCode::kUnavailable);
  EXPECT_THAT(std::string(got.message()), HasSubstr("larger than 100 bytes"));
  EXPECT_THAT(NoteOf(got, kTooLongNote), HasSubstr("larger than 100 bytes"));
  EXPECT_EQ(transports_[0]->calls[0].max_body_bytes, 100u);
}

TEST_F(ClientTest, AnAnswerCountsUntilItIsParsed) {
  auto client = Make({"http://prom"}, {.max_bytes_at_once = 1 << 20});
  absl::Status second, third;
  // While the first, which is beyond the limit, is read, a short one is answered and a long one
  // waits.
  const auto meanwhile = [&] {
    second = Ask(*client);
    std::thread asks([&] { third = Ask(*client); });
    clock_.AwaitWaits(1);
    clock_.Advance(absl::Seconds(61));
    asks.join();
  };
  transports_[0]->SetScript([&](const http::HttpCall& call) -> absl::StatusOr<http::HttpAnswer> {
    const size_t number = transports_[0]->calls.size();
    if (!call.admit(number == 2 ? AnswerBudget::kFreeBytes : 4 << 20)) {
      return absl::ResourceExhaustedError("big");
    }
    if (number == 1) meanwhile();
    return http::HttpAnswer{.status = 200, .headers = {}, .body = kOne};
  });
  EXPECT_TRUE(Ask(*client).ok());
  EXPECT_TRUE(second.ok()) << second;
  EXPECT_EQ(third.code(), absl::StatusCode::kResourceExhausted);
  EXPECT_THAT(std::string(third.message()), HasSubstr("other answers were being read"));
  EXPECT_THAT(observer_.outcomes, ElementsAre("http://prom ok", "http://prom ok"))
      << "the server has not failed";
  EXPECT_TRUE(Ask(*client).ok()) << "the room is free again";
}

TEST_F(ClientTest, AQuerysAnswerCountsUntilItsResultIsUsed) {
  auto client = Make({"http://prom"}, {.max_bytes_at_once = 1 << 20});
  transports_[0]->SetScript([](const http::HttpCall& call) -> absl::StatusOr<http::HttpAnswer> {
    if (!call.admit(4 << 20)) return absl::ResourceExhaustedError("big");
    return http::HttpAnswer{.status = 200, .headers = {}, .body = kOne};
  });
  const auto first = client->Query("q", absl::UnixEpoch(), absl::Seconds(10));
  ASSERT_TRUE(first.ok()) << first.status();
  absl::Status second;
  std::thread asks([&] { second = Ask(*client); });
  clock_.AwaitWaits(1);
  (*first)->counted = nullptr;
  asks.join();
  EXPECT_TRUE(second.ok()) << second;
}

TEST_F(ClientTest, TheShorterTimeoutHolds) {
  auto client = Make({"http://prom"}, {.timeout = absl::Seconds(10)});
  ASSERT_TRUE(client->Query("q", absl::UnixEpoch(), absl::Seconds(60)).ok());
  ASSERT_TRUE(client->Query("q", absl::UnixEpoch(), absl::Seconds(3)).ok());
  EXPECT_EQ(transports_[0]->calls[0].timeout, absl::Seconds(10));
  EXPECT_EQ(transports_[0]->calls[1].timeout, absl::Seconds(3));
}

// ---- several servers ----

TEST_F(ClientTest, TheObserverIsToldWhoAnswers) {
  auto client = Make({"http://a", "http://b"});
  transports_[0]->SetScript(Fail(absl::UnavailableError("refused")));
  transports_[1]->SetScript(Answer(400, kBadData));
  EXPECT_FALSE(Ask(*client).ok());
  EXPECT_THAT(observer_.outcomes, ElementsAre("http://a refused", "http://b ok"));
  EXPECT_THAT(observer_.requests, ElementsAre("/api/v1/query http://b"));
}

TEST_F(ClientTest, AServerThatFailsIsReplacedByTheNextAndStaysSo) {
  auto client = Make({"http://a", "http://b"});
  transports_[0]->SetScript(Fail(absl::UnavailableError("refused")));
  EXPECT_TRUE(Ask(*client).ok());
  EXPECT_TRUE(Ask(*client).ok());
  EXPECT_EQ(transports_[0]->calls.size(), 1u);
  EXPECT_EQ(transports_[1]->calls.size(), 2u);
  EXPECT_THAT(observer_.changes, ElementsAre("http://b"));
  // While there is another to ask, the first one does not get all the time.
  EXPECT_EQ(transports_[0]->calls[0].timeout, absl::Seconds(10));
  EXPECT_EQ(transports_[1]->calls[0].timeout, absl::Seconds(60));
}

TEST_F(ClientTest, TheFirstIsTriedAgainAfterTheInterval) {
  auto client = Make({"http://a", "http://b"});
  transports_[0]->SetScript(Fail(absl::UnavailableError("refused")));
  EXPECT_TRUE(Ask(*client).ok());
  clock_.Advance(absl::Seconds(5));
  EXPECT_TRUE(Ask(*client).ok());  // tried, still down
  EXPECT_TRUE(Ask(*client).ok());  // not tried so soon
  EXPECT_EQ(transports_[0]->calls.size(), 2u);
  EXPECT_EQ(transports_[0]->calls[1].timeout, absl::Seconds(2));

  transports_[0]->SetScript(Answer(200, kOne));
  clock_.Advance(absl::Seconds(5));
  EXPECT_TRUE(Ask(*client).ok());
  EXPECT_TRUE(Ask(*client).ok());
  EXPECT_EQ(transports_[0]->calls.size(), 4u);
  EXPECT_EQ(transports_[1]->calls.size(), 3u);
  EXPECT_THAT(observer_.changes, ElementsAre("http://b", "http://a"));
}

TEST_F(ClientTest, ARefusedQueryIsNoReasonToAskAnother) {
  auto client = Make({"http://a", "http://b"});
  transports_[0]->SetScript(Answer(400, kBadData));
  EXPECT_EQ(Ask(*client).code(), absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(transports_[1]->calls.size(), 0u);
}

TEST_F(ClientTest, GarbageAndOddCodesAreReasonsToAskAnother) {
  auto client = Make({"http://a", "http://b", "http://c"});
  transports_[0]->SetScript(Answer(200, "<html>"));
  transports_[1]->SetScript(Answer(502, ""));
  EXPECT_TRUE(Ask(*client).ok());
  EXPECT_THAT(observer_.changes, ElementsAre("http://c"));
}

TEST_F(ClientTest, AllDownGivesTheLastError) {
  auto client = Make({"http://a", "http://b"});
  transports_[0]->SetScript(Fail(absl::UnavailableError("refused")));
  transports_[1]->SetScript(Fail(absl::DeadlineExceededError("slow")));
  const absl::Status got = Ask(*client);
  EXPECT_EQ(got, absl::DeadlineExceededError("prometheus http://b: slow"));
  EXPECT_THAT(observer_.changes, ElementsAre());
}

TEST_F(ClientTest, AnErrorNamesTheServerOnce) {
  const auto error = [this](const std::string& url, const std::string& said) {
    auto client = Make({url});
    transports_.back()->SetScript(Fail(absl::UnavailableError(said)));
    return std::string(Ask(*client).message());
  };
  EXPECT_EQ(error("http://a:9090", "http://a:9090: no"), "prometheus http://a:9090: no");
  EXPECT_EQ(error("http://a", "http://a:80: no"), "prometheus http://a: no");
  EXPECT_EQ(error("https://Prom.example/p", "https://prom.example:443: no"),
            "prometheus https://Prom.example/p: no");
  EXPECT_EQ(error("http://a", "http://b:80: no"), "prometheus http://a: http://b:80: no")
      << "a redirect leads to another";
}

TEST_F(ClientTest, WhatTheFirstServerUsedUpIsGone) {
  auto client = Make({"http://a", "http://b"});
  transports_[0]->SetScript([this](const http::HttpCall& call) -> absl::StatusOr<http::HttpAnswer> {
    clock_.Advance(call.timeout);
    return absl::DeadlineExceededError("hangs");
  });
  EXPECT_TRUE(client->Query("q", absl::UnixEpoch(), absl::Seconds(30)).ok());
  EXPECT_EQ(transports_[1]->calls[0].timeout, absl::Seconds(20));
  // A request with less time than that never reaches the second server.
  auto hurried = Make({"http://a", "http://b"});
  transports_[2]->SetScript([this](const http::HttpCall& call) -> absl::StatusOr<http::HttpAnswer> {
    clock_.Advance(call.timeout);
    return absl::DeadlineExceededError("hangs");
  });
  EXPECT_EQ(hurried->Query("q", absl::UnixEpoch(), absl::Seconds(5)).status(),
            absl::DeadlineExceededError("prometheus http://a: hangs"));
  EXPECT_EQ(transports_[3]->calls.size(), 0u);
}

TEST_F(ClientTest, ShutdownEndsTheCallsOfAllServers) {
  auto client = Make({"http://a", "http://b"});
  client->Shutdown();
  EXPECT_TRUE(transports_[0]->ended);
  EXPECT_TRUE(transports_[1]->ended);
}

TEST_F(ClientTest, AnAnswerFromThisMachineIsNotCompressed) {
  auto near = Make({"http://127.0.0.1:9090"}), far = Make({"http://prom:9090"});
  ASSERT_TRUE(Ask(*near).ok());
  ASSERT_TRUE(Ask(*far).ok());
  EXPECT_THAT(transports_[0]->calls[0].headers,
              ElementsAre(testing::Pair("Accept-Encoding", "identity")));
  EXPECT_THAT(transports_[1]->calls[0].headers, testing::IsEmpty());
}

// ---- URLs ----

struct UrlRow {
  std::string name;
  std::string url, base, query, shown;
};

class SplitServerUrlTest : public testing::TestWithParam<UrlRow> {};

TEST_P(SplitServerUrlTest, Row) {
  const ServerUrl got = SplitServerUrl(GetParam().url);
  EXPECT_EQ(got.base, GetParam().base);
  EXPECT_EQ(got.query, GetParam().query);
  EXPECT_EQ(got.shown, GetParam().shown);
}

struct LoopbackRow {
  std::string name, url;
  bool loopback;
};

class SplitServerUrlLoopbackTest : public testing::TestWithParam<LoopbackRow> {};

TEST_P(SplitServerUrlLoopbackTest, Row) {
  EXPECT_EQ(SplitServerUrl(GetParam().url).loopback, GetParam().loopback);
}

INSTANTIATE_TEST_SUITE_P(
    Hosts, SplitServerUrlLoopbackTest,
    testing::Values(LoopbackRow{"Name", "http://localhost:9090", true},
                    LoopbackRow{"NameWithoutPort", "https://u:p@localhost/x?y", true},
                    LoopbackRow{"Address", "http://127.0.0.1:9090", true},
                    LoopbackRow{"AddressV6", "http://[::1]:9090", true},
                    LoopbackRow{"OtherAddressV6", "http://[::2]:9090", false},
                    LoopbackRow{"Host", "http://prometheus.monitoring:9090", false},
                    LoopbackRow{"NameInThePath", "http://prom/localhost", false}),
    [](const auto& info) { return info.param.name; });

INSTANTIATE_TEST_SUITE_P(
    Forms, SplitServerUrlTest,
    testing::Values(
        UrlRow{"Plain", "http://prom:9090", "http://prom:9090", "", "http://prom:9090"},
        UrlRow{"PathAndQuery", "https://prom/a/b/?k=v&w", "https://prom/a/b", "k=v&w",
               "https://prom/a/b/"},
        UrlRow{"LettersOfTheScheme", "HTTP://Prom/A", "http://Prom/A", "", "HTTP://Prom/A"},
        UrlRow{"User", "http://u:p@prom/x", "http://u:p@prom/x", "", "http://prom/x"},
        UrlRow{"AtInThePassword", "http://u:p@q@prom", "http://u:p@q@prom", "", "http://prom"},
        UrlRow{"AtInThePath", "http://prom/a@b", "http://prom/a@b", "", "http://prom/a@b"},
        UrlRow{"Slashes", "http://prom//p//x/", "http://prom/p/x", "", "http://prom//p//x/"},
        UrlRow{"Dots", "http://prom/a/../../b/./c", "http://prom/b/c", "",
               "http://prom/a/../../b/./c"},
        UrlRow{"EscapedSlash", "http://prom/a%2Fb%20c%3F", "http://prom/a/b%20c%3F", "",
               "http://prom/a%2Fb%20c%3F"},
        UrlRow{"Fragment", "http://prom/#top", "http://prom", "", "http://prom/"}),
    [](const auto& info) { return info.param.name; });

}  // namespace
}  // namespace flyball::adapter::prometheus
