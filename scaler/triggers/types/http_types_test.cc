// The triggers that ask an HTTP server, against one on loopback.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <httplib.h>

#include <optional>
#include <set>
#include <thread>

#include "absl/strings/str_cat.h"
#include "absl/synchronization/mutex.h"
#include "http/testing/fake_dns_server.h"
#include "http/testing/test_pki.h"
#include "scaler/triggers/parts/clients.h"
#include "scaler/triggers/parts/test_clients.h"
#include "scaler/triggers/types/trigger_types.h"

namespace flyball::scaler {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;
using Fields = std::map<std::string, std::string>;

const absl::Time kNow = absl::FromUnixMillis(1'772'366'400'250);  // 2026-03-01T12:00:00.250Z

class Server {
 public:
  Server() : port_(server_.bind_to_any_port("127.0.0.1")) {
    server_.Get(".*", [this](const httplib::Request& request, httplib::Response& response) {
      absl::MutexLock lock(&mutex_);
      seen_ = request;
      ports_.insert(request.remote_port);
      response.status = status_;
      if (!location_.empty()) response.set_header("Location", location_);
      response.set_content(body_, type_);
    });
    thread_ = std::thread([this] { server_.listen_after_bind(); });
    while (!server_.is_running()) std::this_thread::yield();
  }
  ~Server() {
    server_.stop();
    thread_.join();
  }

  void Answer(int status, std::string body, std::string type = "text/plain") {
    absl::MutexLock lock(&mutex_);
    status_ = status;
    body_ = std::move(body);
    type_ = std::move(type);
  }
  void Redirect(std::string location) {
    absl::MutexLock lock(&mutex_);
    status_ = 302;
    location_ = std::move(location);
  }
  size_t connections() {
    absl::MutexLock lock(&mutex_);
    return ports_.size();
  }
  httplib::Request seen() {
    absl::MutexLock lock(&mutex_);
    return seen_;
  }
  std::string url() const { return absl::StrCat("http://127.0.0.1:", port_); }

 private:
  httplib::Server server_;
  const int port_;
  absl::Mutex mutex_;
  int status_ = 200;
  std::string body_, type_, location_;
  httplib::Request seen_;
  std::set<int> ports_;  // the ports of the clients
  std::thread thread_;
};

class HttpTriggerTest : public testing::Test {
 protected:
  absl::StatusOr<std::unique_ptr<Trigger>> Make(std::string type, Fields metadata) {
    TriggerSpec spec;
    spec.type = std::move(type);
    spec.metadata = std::move(metadata);
    for (const auto& [parameter, value] : secrets_) spec.secrets[parameter] = {"s", parameter};
    TriggerContext context;
    context.ns = "shop";
    context.clients = clients_;
    context.read_secret = [this](absl::string_view ns,
                                 const TriggerSpec::SecretKey& key) -> absl::StatusOr<SecretValue> {
      EXPECT_EQ(ns, "shop");
      if (secrets_[key.key] == "absent") return absl::NotFoundError("there is no such Secret");
      return SecretValue{.text = secrets_[key.key], .allowed_hosts = allowed_hosts_};
    };
    return MakeTrigger(spec, context);
  }

  TriggerReading Read(std::string type, Fields metadata) {
    auto trigger = Make(std::move(type), std::move(metadata));
    if (!trigger.ok()) {
      ADD_FAILURE() << trigger.status();
      return {};
    }
    return (*trigger)->Read(kNow, absl::Seconds(10)).at(0);
  }

  Fields Prometheus(Fields more = {}) {
    more.insert({{"serverAddress", server_.url() + "/prom/"},
                 {"query", "sum(rate(x[1m]))"},
                 {"threshold", "10"}});
    return more;
  }
  Fields MetricsApi(Fields more = {}) {
    more.insert({{"url", server_.url() + "/v1/depth?a=b%20c"},
                 {"valueLocation", "queue.depth"},
                 {"targetValue", "5"}});
    return more;
  }

  Server server_;
  std::map<std::string, std::string> secrets_;
  std::optional<std::string> allowed_hosts_;
  std::shared_ptr<TriggerClients> clients_ = LoopbackClients();
};

std::string Vector(absl::string_view results) {
  return absl::StrCat(R"({"status":"success","data":{"resultType":"vector","result":[)", results,
                      "]}}");
}
std::string Series(absl::string_view value, absl::string_view pod = "a") {
  return absl::StrCat(R"({"metric":{"pod":")", pod, R"("},"value":[1772366400,")", value, R"("]})");
}

// ---- prometheus ----

TEST_F(HttpTriggerTest, PrometheusIsAskedAsKedaAsks) {
  server_.Answer(200, Vector(Series("25.0009")));
  const TriggerReading got = Read("prometheus", Prometheus({{"namespace", "n"},
                                                            {"queryParameters", "dedup=true"},
                                                            {"customHeaders", "X-Scope-OrgID=t"}}));
  EXPECT_EQ(got.error, "");
  EXPECT_EQ(got.value_milli, 25'001);
  EXPECT_TRUE(got.active);
  EXPECT_EQ(got.time, kNow);
  const httplib::Request seen = server_.seen();
  EXPECT_EQ(seen.path, "/prom/api/v1/query");
  EXPECT_EQ(seen.get_param_value("query"), "sum(rate(x[1m]))");
  EXPECT_EQ(seen.get_param_value("time"), "2026-03-01T12:00:00.250Z");
  EXPECT_EQ(seen.get_param_value("namespace"), "n");
  EXPECT_EQ(seen.get_param_value("dedup"), "true");
  EXPECT_EQ(seen.get_header_value("X-Scope-OrgID"), "t");
}

// An answer of many series would take many times its size.
TEST_F(HttpTriggerTest, AnAnswerOfPrometheusHasALimit) {
  std::string series = Series("1");
  for (int i = 0; i < 200; ++i) absl::StrAppend(&series, ",", Series("1", absl::StrCat("pod-", i)));
  server_.Answer(200, Vector(series));
  EXPECT_THAT(Read("prometheus", Prometheus()).error,
              HasSubstr("the query gives 201 series; aggregate them to one"));
  const std::string labels = absl::StrCat(R"({"metric":{"a":")", std::string(65'536, 'a'));
  server_.Answer(200, Vector(absl::StrCat(labels, R"("},"value":[1,"1"]})")));
  EXPECT_THAT(Read("prometheus", Prometheus()).error,
              HasSubstr("the answer is larger than 65536 bytes; if the query gives many series, "
                        "aggregate them to one"));
}

struct ValueRow {
  std::string name;
  std::string body;
  std::string error = {};
  int64_t value_milli = 0;
  bool active = false;
  Fields metadata = {};
  int status = 200;
};

class PrometheusValueTest : public HttpTriggerTest, public testing::WithParamInterface<ValueRow> {};

TEST_P(PrometheusValueTest, Row) {
  const ValueRow& row = GetParam();
  server_.Answer(row.status, row.body);
  const TriggerReading got = Read("prometheus", Prometheus(row.metadata));
  if (row.error.empty()) {
    EXPECT_EQ(got.error, "");
  } else {
    EXPECT_THAT(got.error, AllOf(HasSubstr("prometheus http://127.0.0.1:"), HasSubstr(row.error)));
  }
  EXPECT_EQ(got.value_milli, row.value_milli);
  EXPECT_EQ(got.active, row.active);
}

const Fields kStrict = {{"ignoreNullValues", "false"}};

INSTANTIATE_TEST_SUITE_P(
    Rows, PrometheusValueTest,
    testing::Values(
        ValueRow{
            .name = "CutToThousandthsButActive", .body = Vector(Series("0.0004")), .active = true},
        ValueRow{.name = "NegativeIsZero", .body = Vector(Series("-5"))},
        ValueRow{.name = "AtTheActivationThresholdIsInactive",
                 .body = Vector(Series("50")),
                 .value_milli = 50'000,
                 .metadata = {{"activationThreshold", "50"}}},
        ValueRow{.name = "NothingIsZero", .body = Vector("")},
        ValueRow{.name = "NothingIsUnknownWhenAsked",
                 .body = Vector(""),
                 .error = "gives no series",
                 .metadata = kStrict},
        ValueRow{.name = "NullIsZero", .body = Vector(R"({"metric":{},"value":[1,null]})")},
        ValueRow{.name = "NullIsUnknownWhenAsked",
                 .body = Vector(R"({"metric":{},"value":[1,null]})"),
                 .error = "gives no value",
                 .metadata = kStrict},
        ValueRow{.name = "NullIsInactiveBelowAnyThreshold",
                 .body = Vector(R"({"metric":{},"value":[1,null]})"),
                 .metadata = {{"activationThreshold", "0"}}},
        ValueRow{.name = "AnEmptyPointIsZero", .body = Vector(R"({"metric":{},"value":[]})")},
        ValueRow{.name = "AnEmptyPointIsUnknownWhenAsked",
                 .body = Vector(R"({"metric":{},"value":[]})"),
                 .error = "gives no value",
                 .metadata = kStrict},
        ValueRow{.name = "NoPointIsUnknownWhenAsked",
                 .body = Vector(R"({"metric":{}})"),
                 .error = "gives no value",
                 .metadata = kStrict},
        ValueRow{.name = "ANativeHistogramIsUnknown",
                 .body = Vector(R"({"metric":{},"histogram":[1,{"count":"5","sum":"9"}]})"),
                 .error = "the query gives a histogram; use histogram_count or"},
        ValueRow{.name = "HalfAPointIsUnknown",
                 .body = Vector(R"({"metric":{},"value":[1]})"),
                 .error = "prometheus"},
        ValueRow{.name = "ANullOfTwoSeriesIsUnknown",
                 .body = Vector(R"({"metric":{},"value":[1,null]},)" + Series("1")),
                 .error = "prometheus"},
        ValueRow{.name = "NoResultIsZero",
                 .body = R"({"status":"success","data":{"resultType":"vector","result":null}})"},
        ValueRow{.name = "NanIsZero", .body = Vector(Series("NaN"))},
        ValueRow{.name = "NanIsUnknownWhenAsked",
                 .body = Vector(Series("NaN")),
                 .error = "no finite value",
                 .metadata = kStrict},
        ValueRow{.name = "InfinityIsZero", .body = Vector(Series("+Inf"))},
        ValueRow{.name = "TwoSeriesAreUnknown",
                 .body = Vector(Series("1") + "," + Series("2", "b")),
                 .error = "the query gives 2 series"},
        ValueRow{.name = "AScalarIsTaken",
                 .body = R"({"status":"success","data":{"resultType":"scalar","result":[1,"7"]}})",
                 .value_milli = 7000,
                 .active = true},
        ValueRow{.name = "AMatrixIsNot",
                 .body = R"({"status":"success","data":{"resultType":"matrix","result":[]}})",
                 .error = "neither a vector nor a scalar"},
        ValueRow{.name = "TooLarge", .body = Vector(Series("1e300")), .error = "too large"},
        ValueRow{.name = "ARefusedQuery",
                 .body = R"({"status":"error","errorType":"bad_data","error":"parse error: x"})",
                 .error = "status 400 (text/plain)",
                 .status = 400},
        ValueRow{.name = "StatusOfAProxy", .body = "<html>", .error = "status 503", .status = 503},
        ValueRow{.name = "HtmlIsNoAnswer",
                 .body = "<html>",
                 .error = "the answer is not that of a query: status 200 (text/plain)"}),
    [](const auto& info) { return info.param.name; });

TEST_F(HttpTriggerTest, PrometheusOptionsThatAreLeftOutSaySo) {
  const auto got = Make("prometheus", Prometheus({{"awsRegion", "eu"}, {"authModes", "oauth"}}));
  EXPECT_THAT(std::string(got.status().message()),
              AllOf(HasSubstr("triggers[0].metadata.awsRegion: "),
                    HasSubstr("triggers[0].metadata.authModes: oauth")));
}

// ---- credentials ----

TEST_F(HttpTriggerTest, BearerTokensComeFromTheSecretAtEachCall) {
  secrets_["bearerToken"] = "first\n";
  server_.Answer(200, Vector(Series("1")));
  const auto trigger = Make("prometheus", Prometheus({{"authModes", "bearer"}}));
  ASSERT_TRUE(trigger.ok()) << trigger.status();
  (*trigger)->Read(kNow, absl::Seconds(10));
  EXPECT_EQ(server_.seen().get_header_value("Authorization"), "Bearer first");
  secrets_["bearerToken"] = "second";
  (*trigger)->Read(kNow, absl::Seconds(10));
  EXPECT_EQ(server_.seen().get_header_value("Authorization"), "Bearer second");
}

TEST_F(HttpTriggerTest, BasicAndApiKeyTogether) {
  secrets_ = {{"username", "u"}, {"password", "p:w "}, {"apiKey", "k&y"}};
  server_.Answer(200, R"({"queue":{"depth":1}})");
  Read("metrics-api", MetricsApi({{"authMode", "basic,apiKey"}, {"method", "query"}}));
  EXPECT_EQ(server_.seen().get_header_value("Authorization"), "Basic dTpwOnc=");
  EXPECT_EQ(server_.seen().get_param_value("api_key"), "k&y");
  EXPECT_EQ(server_.seen().get_param_value("a"), "b c");
}

TEST_F(HttpTriggerTest, ApiKeyInPlaceOfTheUrlsOwn) {
  secrets_ = {{"apiKey", "k"}};
  server_.Answer(200, R"({"queue":{"depth":1}})");
  Read("metrics-api", MetricsApi({{"url", server_.url() + "/?a=1&my+key=old&b=2&my%20key"},
                                  {"authMode", "apiKey"},
                                  {"method", "query"},
                                  {"keyParamName", "my key"}}));
  EXPECT_EQ(server_.seen().target, "/?a=1&b=2&my%20key=k");
}

TEST_F(HttpTriggerTest, ASecretCountsMoreThanAHeaderOfTheSameName) {
  secrets_ = {{"token", "t"}, {"customAuthHeader", "X-Auth"}, {"customAuthValue", "v"}};
  server_.Answer(200, Vector(Series("1")));
  const Fields headers = {{"customHeaders", "authorization=plain,x-auth=plain,x-other=plain"}};
  const auto read = [&](const std::string& modes) {
    Fields metadata = headers;
    metadata["authModes"] = modes;
    EXPECT_EQ(Read("prometheus", Prometheus(metadata)).error, "");
    return server_.seen();
  };
  const httplib::Request with_secrets = read("bearer,custom");
  EXPECT_EQ(with_secrets.get_header_value("Authorization"), "Bearer t");
  EXPECT_EQ(with_secrets.get_header_value_count("Authorization"), 1u);
  EXPECT_EQ(with_secrets.get_header_value("X-Auth"), "v");
  EXPECT_EQ(with_secrets.get_header_value_count("X-Auth"), 1u);
  EXPECT_EQ(with_secrets.get_header_value("X-Other"), "plain");
  secrets_ = {{"username", "u"}};
  EXPECT_EQ(read("basic").get_header_value("Authorization"), "Basic dTo=");
}

TEST_F(HttpTriggerTest, ApiKeyInAHeader) {
  secrets_ = {{"apiKey", "k"}};
  server_.Answer(200, R"({"queue":{"depth":1}})");
  Read("metrics-api", MetricsApi({{"authMode", "apiKey"}}));
  EXPECT_EQ(server_.seen().get_header_value("X-API-KEY"), "k");
  Read("metrics-api", MetricsApi({{"authMode", "apiKey"}, {"keyParamName", "X-Other"}}));
  EXPECT_EQ(server_.seen().get_header_value("X-Other"), "k");
}

TEST_F(HttpTriggerTest, CustomHeader) {
  secrets_ = {{"customAuthHeader", "X-Auth"}, {"customAuthValue", "v"}};
  server_.Answer(200, Vector(Series("1")));
  Read("prometheus", Prometheus({{"authModes", "custom"}}));
  EXPECT_EQ(server_.seen().get_header_value("X-Auth"), "v");
}

// A server whose certificate nobody has signed. Its value is the port of the client's connection.
class TlsServer {
 public:
  TlsServer() {
    server_.Get(".*", [](const httplib::Request& request, httplib::Response& response) {
      response.set_content(absl::StrCat(R"({"queue":{"depth":)", request.remote_port, "}}"),
                           "application/json");
    });
    thread_ = std::thread([this] { server_.listen_after_bind(); });
    while (!server_.is_running()) std::this_thread::yield();
  }
  ~TlsServer() {
    server_.stop();
    thread_.join();
  }
  std::string url() const { return absl::StrCat("https://127.0.0.1:", port_); }

 private:
  const http::TestPair pair_ = http::MakeTestPair({.common_name = "a", .usage = "serverAuth"});
  httplib::SSLServer server_{pair_.certificate.get(), pair_.key.get()};
  const int port_ = server_.bind_to_any_port("127.0.0.1");
  std::thread thread_;
};

TEST_F(HttpTriggerTest, UnsafeSslCountsWithACaInMetricsApiAlone) {
  const TlsServer server;
  secrets_ = {{"ca", http::PemOf(http::MakeTestCa("other").certificate.get())}};
  const auto metrics_api = [&](const char* unsafe) {
    return Read("metrics-api", MetricsApi({{"url", server.url()}, {"unsafeSsl", unsafe}})).error;
  };
  EXPECT_EQ(metrics_api("true"), "");
  EXPECT_THAT(metrics_api("false"), HasSubstr("certificate"));
  EXPECT_THAT(
      Read("prometheus", Prometheus({{"serverAddress", server.url()}, {"unsafeSsl", "true"}}))
          .error,
      HasSubstr("certificate"));
}

// With what servers show, a connection may take 250 KiB while it is kept.
TEST_F(HttpTriggerTest, IdleConnectionsTakeNoMoreMemoryThanThereIsForThem) {
  const TlsServer first, second;
  clients_ = std::make_shared<TriggerClients>(
      Clock::System(),
      TriggerClientOptions{.addresses = *http::AddressRules::Parse({"127.0.0.0/8"}),
                           .dns = {},
                           .idle_bytes = 64 << 10});
  const auto connection = [&](const TlsServer& server) {
    const TriggerReading got =
        Read("metrics-api", MetricsApi({{"url", server.url()}, {"unsafeSsl", "true"}}));
    EXPECT_EQ(got.error, "");
    return got.value_milli;
  };
  const int64_t kept = connection(first);
  EXPECT_EQ(connection(first), kept);
  const int64_t closed = connection(second);
  EXPECT_NE(connection(second), closed);
  EXPECT_EQ(connection(first), kept);
}

// Else the server would be asked without an identity, or its certificate would not be verified.
TEST_F(HttpTriggerTest, ABlankCertificateOrKeyIsUnknown) {
  const TlsServer server;
  const Fields at = {{"url", server.url()}, {"serverAddress", server.url()}, {"unsafeSsl", "true"}};
  const auto error = [&](const std::string& type, const std::string& mode) {
    Fields more = at;
    if (!mode.empty()) more["authModes"] = mode;
    return Read(type, type == "prometheus" ? Prometheus(more) : MetricsApi(more)).error;
  };
  for (const char* type : {"prometheus", "metrics-api"}) {
    secrets_ = {{"ca", "\n"}};
    EXPECT_THAT(error(type, ""), HasSubstr("parameter ca: the Secret's value is empty"));
    secrets_ = {{"cert", ""}, {"key", "\n"}};
    EXPECT_THAT(error(type, "tls"), HasSubstr("parameter cert: the Secret's value is empty"));
    secrets_["cert"] = http::PemOf(http::MakeTestCa("client").certificate.get());
    EXPECT_THAT(error(type, "tls"), HasSubstr("parameter key: the Secret's value is empty"));
  }
}

// Where a request ends is said by the client alone: else what follows could be taken for another
// request.
TEST_F(HttpTriggerTest, NoHeaderOfAKeyOrSecretFramesTheRequest) {
  secrets_ = {{"apiKey", "k"}};
  server_.Answer(200, R"({"queue":{"depth":1}})");
  for (const char* name : {"Host", "transfer-encoding", "Content-Length", "Host: x", "Host "}) {
    const auto got =
        Make("metrics-api", MetricsApi({{"authMode", "apiKey"}, {"keyParamName", name}}));
    EXPECT_THAT(std::string(got.status().message()), HasSubstr("metadata.keyParamName: ")) << name;
    const auto custom =
        Make("prometheus", Prometheus({{"customHeaders", absl::StrCat(name, "=1")}}));
    EXPECT_THAT(std::string(custom.status().message()), HasSubstr("metadata.customHeaders: "))
        << name;
  }
  for (const char* name : {"Host", "Transfer-Encoding: chunked\tX"}) {
    secrets_ = {{"customAuthHeader", name}, {"customAuthValue", "v"}};
    EXPECT_THAT(Read("prometheus", Prometheus({{"authModes", "custom"}})).error,
                AllOf(HasSubstr("parameter customAuthHeader: "), Not(HasSubstr(name))));
  }
}

TEST_F(HttpTriggerTest, WhatAModeNeedsIsNamed) {
  const auto got = Make("prometheus", Prometheus({{"authModes", "bearer, tls, digest"}}));
  EXPECT_EQ(
      got.status().message(),
      "triggers[0].metadata.authModes: expected apiKey, basic, bearer, custom or tls, got "
      "\"digest\"; triggers[0].metadata.authModes: bearer needs the parameter bearerToken in "
      "authenticationSecretRefs; triggers[0].metadata.authModes: tls needs the parameter cert "
      "in authenticationSecretRefs; triggers[0].metadata.authModes: tls needs the parameter "
      "key in authenticationSecretRefs");
}

// In KEDA these may come from a Secret. Here such a request would go without credentials.
TEST_F(HttpTriggerTest, HowToAuthenticateDoesNotComeFromASecret) {
  for (const char* parameter : {"authMode", "authModes", "method", "keyParamName", "passwrod"}) {
    secrets_ = {{"username", "u"}, {"password", "p"}, {parameter, "basic"}};
    const auto got = Make("metrics-api", MetricsApi());
    EXPECT_THAT(std::string(got.status().message()),
                HasSubstr(absl::StrCat("triggers[0].authenticationSecretRefs: \"", parameter)));
  }
}

TEST_F(HttpTriggerTest, AMissingSecretIsUnknownAndNamed) {
  secrets_ = {{"token", "absent"}};
  const TriggerReading got = Read("prometheus", Prometheus({{"authModes", "bearer"}}));
  EXPECT_THAT(got.error,
              HasSubstr("parameter token from Secret s, key token: there is no such Secret"));
  EXPECT_FALSE(got.active);
}

TEST_F(HttpTriggerTest, SecretsNeverStandInErrors) {
  secrets_ = {{"token", "hunter2\nX-Evil: 1"}, {"ca", "hunter2"}, {"apiKey", "hunter2"}};
  EXPECT_THAT(Read("prometheus", Prometheus({{"authModes", "bearer"}})).error,
              AllOf(HasSubstr("parameter bearerToken"), Not(HasSubstr("hunter2"))));
  secrets_["token"] = "hunter2";
  for (const char* mode : {"bearer", "apiKey"}) {
    const TriggerReading got = Read("metrics-api", {{"url", "https://127.0.0.1:1/x"},
                                                    {"valueLocation", "a"},
                                                    {"targetValue", "1"},
                                                    {"authMode", mode},
                                                    {"method", "query"}});
    EXPECT_THAT(got.error,
                AllOf(HasSubstr("metrics-api https://127.0.0.1:1: "), Not(HasSubstr("hunter2"))));
  }
  const auto bad_url = Make("prometheus", {{"serverAddress", "ftp://u:hunter2@h"}});
  EXPECT_THAT(std::string(bad_url.status().message()),
              AllOf(HasSubstr("serverAddress"), Not(HasSubstr("hunter2"))));
}

TEST_F(HttpTriggerTest, ASecretGoesOnlyWhereItsAnnotationAllows) {
  secrets_ = {{"token", "hunter2"}};
  server_.Answer(200, Vector(Series("1")));
  const std::string port(server_.url().substr(server_.url().rfind(':')));
  for (const std::string& allowed : {std::string("127.0.0.1"), "prom.example, 127.0.0.1" + port}) {
    allowed_hosts_ = allowed;
    EXPECT_EQ(Read("prometheus", Prometheus({{"authModes", "bearer"}})).error, "") << allowed;
  }
  const size_t before = server_.connections();
  for (const std::string& allowed : {std::string(""), std::string("prom.example"),
                                     std::string("127.0.0.1:1"), "127.0.0.1.example" + port}) {
    allowed_hosts_ = allowed;
    EXPECT_THAT(
        Read("prometheus", Prometheus({{"authModes", "bearer"}, {"unsafeSsl", "true"}})).error,
        AllOf(HasSubstr("parameter token from Secret s, key token: its annotation "
                        "flyball.dev/allowed-hosts does not name 127.0.0.1:"),
              Not(HasSubstr("hunter2"))))
        << allowed;
  }
  EXPECT_EQ(server_.connections(), before);
}

TEST_F(HttpTriggerTest, AConnectionIsKeptBetweenReadings) {
  server_.Answer(200, R"({"queue":{"depth":1}})");
  for (int i = 0; i < 3; ++i) EXPECT_EQ(Read("metrics-api", MetricsApi()).error, "");
  EXPECT_EQ(server_.connections(), 1u);
}

// ---- what a hostile server can do ----

TEST_F(HttpTriggerTest, ARedirectElsewhereIsNotFollowed) {
  Server inner;
  inner.Answer(200, "hunter2");
  server_.Redirect(inner.url() + "/latest/meta-data/");
  const std::string prometheus =
      Read("prometheus", Prometheus({{"customHeaders", "Metadata-Flavor=Google"}})).error;
  const std::string metrics_api = Read("metrics-api", MetricsApi()).error;
  for (const std::string& error : {prometheus, metrics_api}) {
    EXPECT_THAT(error, AllOf(HasSubstr("status 302 redirects to another scheme, host or port"),
                             Not(HasSubstr("hunter2")), Not(HasSubstr("meta-data"))));
  }
  EXPECT_EQ(inner.connections(), 0u);
}

TEST_F(HttpTriggerTest, WhereARequestEndsIsNotForItsHeadersToSay) {
  for (const char* header : {"Content-Length=300", "transfer-encoding=chunked", "Host=other"}) {
    const auto got = Make("prometheus", Prometheus({{"customHeaders", header}}));
    EXPECT_THAT(std::string(got.status().message()), HasSubstr("is set by the client itself"))
        << header;
  }
}

TEST_F(HttpTriggerTest, ASpecialAddressIsNotConnectedTo) {
  http::FakeDnsServer dns;
  dns.Set("inside.example", {"127.0.0.1"});
  clients_ = std::make_shared<TriggerClients>(
      Clock::System(), TriggerClientOptions{.addresses = {}, .dns = dns.Settings()});
  const std::string port(server_.url().substr(server_.url().rfind(':')));
  for (const char* host : {"127.0.0.1", "[::ffff:127.0.0.1]", "localhost", "inside.example"}) {
    EXPECT_THAT(Read("metrics-api", {{"url", absl::StrCat("http://", host, port)},
                                     {"valueLocation", "a"},
                                     {"targetValue", "1"}})
                    .error,
                HasSubstr("is a loopback address, which triggers may not ask "
                          "(--scaler-trigger-allow-addresses)"));
  }
  EXPECT_EQ(server_.connections(), 0u);
}

TEST_F(HttpTriggerTest, NothingOfAnAnswersBodyIsShown) {
  const std::string bodies[] = {
      "hunter2",
      "<html>hunter2</html>",
      R"({"status":"error","errorType":"bad_data","error":"hunter2"})",
      R"({"status":"error","errorType":"hunter2","error":"hunter2"})",
      R"({"status":"success","data":{"resultType":"hunter2","result":"hunter2"}})",
      R"({"status":"success","data":{"resultType":"vector","result":[{"metric":{},"value":[1,"hunter2"]}]}})",
      R"({"queue":{"depth":"hunter2"}})",
      R"({"hunter2)",
      "queue: *hunter2",
      "queue: {hunter2: [",
      "hunter2: &hunter2 !!hunter2",
      "depth{hunter2",
      "depth hunter2",
      "depth{a=\"hunter2\"} hunter2"};
  for (const int status : {200, 204, 400, 403, 422, 500}) {
    for (const std::string& body : bodies) {
      server_.Answer(status, body, "text/html; charset=hunter2");
      std::vector<std::string> errors = {Read("prometheus", Prometheus()).error};
      for (const char* format : {"json", "yaml", "prometheus"}) {
        const char* location = format == std::string("prometheus") ? "depth" : "queue.depth";
        errors.push_back(
            Read("metrics-api", MetricsApi({{"format", format}, {"valueLocation", location}}))
                .error);
      }
      for (const std::string& error : errors) {
        EXPECT_THAT(error, AllOf(Not(testing::IsEmpty()), Not(HasSubstr("hunter2")))) << body;
      }
    }
  }
  server_.Answer(500, "", "hunter2 hunter2");
  EXPECT_THAT(Read("metrics-api", MetricsApi()).error, testing::EndsWith(": status 500"));
}

TEST_F(HttpTriggerTest, NobodyThere) {
  const TriggerReading got = Read(
      "prometheus", {{"serverAddress", "http://127.0.0.1:1"}, {"query", "x"}, {"threshold", "1"}});
  EXPECT_THAT(got.error, HasSubstr("prometheus http://127.0.0.1:1: "));
}

// ---- metrics-api ----

class MetricsApiValueTest : public HttpTriggerTest, public testing::WithParamInterface<ValueRow> {};

TEST_P(MetricsApiValueTest, Row) {
  const ValueRow& row = GetParam();
  server_.Answer(row.status, row.body);
  const TriggerReading got = Read("metrics-api", MetricsApi(row.metadata));
  if (row.error.empty()) {
    EXPECT_EQ(got.error, "");
  } else {
    EXPECT_THAT(got.error, AllOf(HasSubstr("metrics-api http://127.0.0.1:"), HasSubstr(row.error)));
  }
  EXPECT_EQ(got.value_milli, row.value_milli);
  EXPECT_EQ(got.active, row.active);
}

Fields ValueAt(std::string location, std::string format = "json") {
  return {{"valueLocation", std::move(location)}, {"format", std::move(format)}};
}

INSTANTIATE_TEST_SUITE_P(
    Rows, MetricsApiValueTest,
    testing::Values(
        ValueRow{.name = "ANumber",
                 .body = R"({"queue":{"depth":12.5}})",
                 .value_milli = 12'500,
                 .active = true},
        ValueRow{.name = "AQuantity",
                 .body = R"({"v":"1500m"})",
                 .value_milli = 1500,
                 .active = true,
                 .metadata = ValueAt("v")},
        ValueRow{.name = "AtTheActivationTargetIsInactive",
                 .body = R"({"queue":{"depth":3}})",
                 .value_milli = 3000,
                 .metadata = {{"activationTargetValue", "3"}}},
        ValueRow{.name = "InAList",
                 .body = R"({"a":{"b":[{"c":7}]}})",
                 .value_milli = 7000,
                 .active = true,
                 .metadata = ValueAt("a.b.0.c")},
        ValueRow{.name = "TheLengthOfAList",
                 .body = R"({"jobs":[{},{},{}]})",
                 .value_milli = 3000,
                 .active = true,
                 .metadata = ValueAt("jobs.#")},
        ValueRow{.name = "AQuantityBeyondInt64IsUnknown",
                 .body = R"({"v":"1e19"})",
                 .error = "the value 1e+19 is too large",
                 .metadata = ValueAt("v")},
        ValueRow{.name = "ABinaryQuantityBeyondInt64IsUnknown",
                 .body = R"({"v":"9Ei"})",
                 .error = "is too large",
                 .metadata = ValueAt("v")},
        ValueRow{.name = "AQuantityBeyondDoublesIsUnknown",
                 .body = R"({"v":"1e400"})",
                 .error = "the value is infinite",
                 .metadata = ValueAt("v")},
        ValueRow{.name = "AQuantityIsCutToThousandthsButActive",
                 .body = R"({"v":"400u"})",
                 .active = true,
                 .metadata = ValueAt("v")},
        ValueRow{.name = "ASuffixWithoutANumberIsUnknown",
                 .body = R"({"v":"E"})",
                 .error = "found another string",
                 .metadata = ValueAt("v")},
        ValueRow{.name = "OtherText",
                 .body = R"({"queue":{"depth":"many"}})",
                 .error = "expected a number or a quantity at queue.depth, found another string"},
        ValueRow{.name = "Null", .body = R"({"queue":{"depth":null}})", .error = "found null"},
        ValueRow{.name = "Absent", .body = R"({"queue":{}})", .error = "nothing at queue.depth"},
        ValueRow{.name = "NoJson", .body = "{", .error = "not JSON"},
        ValueRow{.name = "OnlyStatus200IsGood",
                 .body = R"({"queue":{"depth":1}})",
                 .error = "status 201",
                 .status = 201},
        ValueRow{.name = "Yaml",
                 .body = "queue:\n- {depth: 2k}\n",
                 .value_milli = 2'000'000,
                 .active = true,
                 .metadata = ValueAt("queue.0.depth", "yaml")},
        ValueRow{.name = "TextFormat",
                 .body = "# TYPE depth gauge\ndepth{q=\"a\"} 1\ndepth{q=\"b\",z=\"1\"} 4 1234\n",
                 .value_milli = 4000,
                 .active = true,
                 .metadata = ValueAt("depth{q=\"b\"}", "prometheus")},
        ValueRow{.name = "TextFormatNanIsUnknown",
                 .body = "depth NaN\n",
                 .error = "NaN",
                 .metadata = ValueAt("depth", "prometheus")},
        ValueRow{.name = "TextFormatWithoutIt",
                 .body = "other 1\n",
                 .error = "no sample fits depth",
                 .metadata = ValueAt("depth", "prometheus")}),
    [](const auto& info) { return info.param.name; });

TEST_F(HttpTriggerTest, AnAnswerBeyondAMebibyteIsUnknown) {
  server_.Answer(200, std::string(1 << 20, ' ') + R"({"queue":{"depth":1}})");
  EXPECT_THAT(Read("metrics-api", MetricsApi()).error, HasSubstr("metrics-api"));
}

TEST_F(HttpTriggerTest, MetricsApiIsNamedAsInKeda) {
  const auto got = Make("metrics-api", MetricsApi(ValueAt("a.b.0")));
  ASSERT_TRUE(got.ok()) << got.status();
  EXPECT_EQ((*got)->Metrics({})->front().name, "s0-metric-api-a-b-0");
}

TEST_F(HttpTriggerTest, WhatIsLeftOutOfMetricsApiSaysSo) {
  const auto got = Make("metrics-api", MetricsApi({{"format", "xml"},
                                                   {"valueLocation", "a.*"},
                                                   {"aggregateFromKubeServiceEndpoints", "true"}}));
  EXPECT_THAT(std::string(got.status().message()),
              AllOf(HasSubstr("format: xml is not supported"), HasSubstr("valueLocation: `*`"),
                    HasSubstr("aggregateFromKubeServiceEndpoints: ")));
}

}  // namespace
}  // namespace flyball::scaler
