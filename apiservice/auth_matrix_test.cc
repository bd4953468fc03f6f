// Who is let in, and as whom: every way of authentication against a scripted Kubernetes API.
#include <atomic>
#include <nlohmann/json.hpp>
#include <stdexcept>
#include <string>
#include <utility>

#include <gtest/gtest.h>

#include "absl/strings/match.h"
#include "apiservice/auth/configmap_watcher.h"
#include "apiservice/test_server.h"

namespace flyball::apiservice {
namespace {

using nlohmann::json;

// The front proxy's CA, the clients' CA, and one that nobody knows.
class AuthFixture : public ApiServerFixture {
 protected:
  AuthFixture() {
    Issue("proxy", {.common_name = "front-proxy-client"}, proxy_ca_);
    Issue("stranger-proxy", {.common_name = "somebody"}, proxy_ca_);
    Issue("jane", {.common_name = "jane", .organization = "devs"}, client_ca_);
    Issue("unknown", {.common_name = "admin"}, unknown_ca_);
    Issue("expired", {.common_name = "jane", .valid_from = -7200, .valid_to = -3600}, client_ca_);
    Issue("server-only", {.common_name = "jane", .usage = "serverAuth"}, client_ca_);
    options_.authorization.mode = AuthorizationMode::kReview;
    options_.authentication.lookup = true;
    SetConfigMap(proxy_ca_, R"(["front-proxy-client"])");
  }

  void Issue(const std::string& name, const http::TestCertificateSpec& spec,
             const http::TestPair& ca) {
    http::WriteTestPair(folder_ + "/" + name, http::MakeTestPair(spec, &ca));
  }

  json ConfigMapObject(const http::TestPair& proxy_ca, const std::string& allowed_names) const {
    return {{"metadata", {{"resourceVersion", "7"}}},
            {"data",
             {{"client-ca-file", http::PemOf(client_ca_.certificate.get())},
              {"requestheader-client-ca-file", http::PemOf(proxy_ca.certificate.get())},
              {"requestheader-allowed-names", allowed_names},
              {"requestheader-username-headers", R"(["X-Remote-User"])"},
              {"requestheader-group-headers", R"(["X-Remote-Group"])"},
              {"requestheader-extra-headers-prefix", R"(["X-Remote-Extra-"])"}}}};
  }

  void SetConfigMap(const http::TestPair& proxy_ca, const std::string& allowed_names) {
    kube_->config_map = FakeKubeApi::Json(200, ConfigMapObject(proxy_ca, allowed_names).dump());
  }

  httplib::Result GetAs(const std::string& pair, const httplib::Headers& headers,
                        const std::string& target = E1 IN_DEFAULT "/q") {
    return NewClient(pair.empty() ? "" : folder_ + "/" + pair)->Get(target, headers);
  }

  // The spec of the last review asked.
  json LastReview() {
    absl::MutexLock lock(&kube_->mutex());
    if (kube_->access_reviews.empty()) return {};
    return json::parse(kube_->access_reviews.back(), nullptr, false)["spec"];
  }
  size_t Reviews() {
    absl::MutexLock lock(&kube_->mutex());
    return kube_->access_reviews.size();
  }

  const http::TestPair proxy_ca_ = http::MakeTestCa("proxy-ca");
  const http::TestPair client_ca_ = http::MakeTestCa("client-ca");
  const http::TestPair unknown_ca_ = http::MakeTestCa("unknown-ca");
};

struct AuthMatrixRow {
  std::string name;
  std::string pair;  // client certificate; "" = none
  httplib::Headers headers;
  int code;
  std::string user;  // whom the review is about; "" = no review
};

class AuthMatrixTest : public AuthFixture, public testing::WithParamInterface<AuthMatrixRow> {};

TEST_P(AuthMatrixTest, Row) {
  StartServer();
  const auto result = GetAs(GetParam().pair, GetParam().headers);
  ASSERT_TRUE(result) << httplib::to_string(result.error());
  EXPECT_EQ(result->status, GetParam().code) << result->body;
  EXPECT_EQ(Reviews(), GetParam().user.empty() ? 0u : 1u);
  if (!GetParam().user.empty()) {
    EXPECT_EQ(LastReview().value("user", ""), GetParam().user);
  }
}

INSTANTIATE_TEST_SUITE_P(
    Credentials, AuthMatrixTest,
    testing::Values(
        AuthMatrixRow{"Proxy", "proxy", {{"X-Remote-User", "ann"}}, 200, "ann"},
        AuthMatrixRow{"ProxyHeaderNamesInAnyCase", "proxy", {{"x-remote-user", "ann"}}, 200, "ann"},
        AuthMatrixRow{"MastersNeedNoReview",
                      "proxy",
                      {{"X-Remote-User", "admin"}, {"X-Remote-Group", "system:masters"}},
                      200,
                      ""},
        // Header values are not percent-decoded: this is another group.
        AuthMatrixRow{"EncodedMastersAreNotMasters",
                      "proxy",
                      {{"X-Remote-User", "x"}, {"X-Remote-Group", "system%3Amasters"}},
                      200,
                      "x"},
        AuthMatrixRow{"ProxyWithoutUser", "proxy", {}, 401, ""},
        AuthMatrixRow{"ProxyNameNotAllowed", "stranger-proxy", {{"X-Remote-User", "ann"}}, 401, ""},
        AuthMatrixRow{"ClientCertificate", "jane", {}, 200, "jane"},
        AuthMatrixRow{"ForgedHeadersAreIgnored",
                      "jane",
                      {{"X-Remote-User", "admin"}, {"X-Remote-Group", "system:masters"}},
                      200,
                      "jane"},
        AuthMatrixRow{
            "HeadersWithoutCertificate", "", {{"X-Remote-User", "admin"}}, 200, "system:anonymous"},
        AuthMatrixRow{"UnknownIssuer", "unknown", {}, 401, ""},
        AuthMatrixRow{
            "UnknownIssuerWithToken", "unknown", {{"Authorization", "Bearer good"}}, 200, "sa"},
        AuthMatrixRow{"Expired", "expired", {}, 401, ""},
        AuthMatrixRow{"NotForClients", "server-only", {}, 401, ""},
        AuthMatrixRow{"Token", "", {{"Authorization", "Bearer good"}}, 200, "sa"},
        AuthMatrixRow{"SchemeInAnyCase", "", {{"authorization", "bearer good"}}, 200, "sa"},
        AuthMatrixRow{"TokenThroughAProxy", "", {{"X-Flyball-Token", "good"}}, 200, "sa"},
        AuthMatrixRow{"BadTokenThroughAProxy", "", {{"X-Flyball-Token", "bad"}}, 401, ""},
        AuthMatrixRow{"AuthorizationComesFirst",
                      "",
                      {{"Authorization", "Bearer bad"}, {"X-Flyball-Token", "good"}},
                      401,
                      ""},
        AuthMatrixRow{"BadToken", "", {{"Authorization", "Bearer bad"}}, 401, ""},
        AuthMatrixRow{"SchemeAlone", "", {{"Authorization", "Bearer"}}, 200, "system:anonymous"},
        AuthMatrixRow{"Basic", "", {{"Authorization", "Basic YTpi"}}, 200, "system:anonymous"},
        AuthMatrixRow{"Nothing", "", {}, 200, "system:anonymous"}),
    [](const auto& info) { return info.param.name; });

TEST_F(AuthFixture, BadTokenIsRefusedOnProbesToo) {
  StartServer();
  EXPECT_EQ(GetAs("", {{"Authorization", "Bearer bad"}}, "/healthz")->status, 401);
  EXPECT_EQ(GetAs("", {}, "/healthz")->body, "ok");
}

// A path that RequestInfo would take for a resource of the core group.
class EchoPages : public http::Pages {
 public:
  bool Has(absl::string_view path) const override { return path == "/api/v1/write"; }
  http::HttpResponse Answer(const http::HttpRequest& request) override {
    http::HttpResponse response;
    response.body = std::make_shared<const std::string>(request.method + " " + request.body);
    return response;
  }
};

TEST_F(AuthFixture, FurtherPagesAreReviewedAsPathsAndGetTheBody) {
  EchoPages echo;
  pages_ = {&echo};
  options_.listen.request.keep_bodies = true;
  StartServer();
  const auto answer =
      NewClient(folder_ + "/jane")->Post("/api/v1/write?a=b", "some samples", "text/plain");
  ASSERT_TRUE(answer);
  EXPECT_EQ(answer->status, 200);
  EXPECT_EQ(answer->body, "POST some samples");
  EXPECT_EQ(LastReview()["nonResourceAttributes"],
            json({{"path", "/api/v1/write"}, {"verb", "post"}}));
  EXPECT_EQ(LastReview()["user"], "jane");
  kube_->on_access_review = [](const std::string&) { return FakeKubeApi::Deny(); };
  EXPECT_EQ(NewClient()->Post("/api/v1/write", "", "text/plain")->status, 403);
  EXPECT_EQ(NewClient()->Post("/api/v1/other", "", "text/plain")->status, 403);
  kube_->on_access_review = [](const std::string&) { return FakeKubeApi::Allow(); };
  EXPECT_EQ(NewClient(folder_ + "/jane")->Get("/api/v1/other")->status, 404);
}

// Prometheus's API takes seconds and days.
TEST_F(AuthFixture, FurtherPagesReadTheirTimeoutThemselves) {
  EchoPages echo;
  pages_ = {&echo};
  StartServer();
  const auto client = NewClient(folder_ + "/jane");
  for (const std::string timeout : {"30", "1d", "1s"}) {
    EXPECT_EQ(client->Get("/api/v1/write?timeout=" + timeout)->status, 200) << timeout;
  }
  std::string many = "/api/v1/write?timeout=30";
  for (int i = 0; i < 1'001; ++i) many += "&a";
  EXPECT_EQ(client->Get(many)->status, 400);
}

TEST_F(AuthFixture, AnonymousIsRefusedByTheReviewNotByName) {
  kube_->on_access_review = [](const std::string&) { return FakeKubeApi::Deny(); };
  StartServer();
  const auto metric = GetAs("", {});
  ASSERT_TRUE(metric);
  EXPECT_EQ(metric->status, 403);
  EXPECT_EQ(metric->get_header_value("X-Content-Type-Options"), "nosniff");
  EXPECT_EQ(
      json::parse(metric->body)["message"],
      R"(q.external.metrics.k8s.io is forbidden: User "system:anonymous" cannot list resource )"
      R"("q" in API group "external.metrics.k8s.io" in the namespace "default": no rule)");
  EXPECT_EQ(json::parse(GetAs("", {}, "/metrics")->body)["message"],
            R"(forbidden: User "system:anonymous" cannot get path "/metrics": no rule)");
  EXPECT_EQ(json::parse(GetAs("", {}, "/%22%3C%0A")->body)["message"],
            R"(forbidden: User "system:anonymous" cannot get path "/\"&lt;\n": no rule)");
  EXPECT_EQ(json::parse(GetAs("", {}, E1 "/namespaces/n%5C/q%22")->body)["message"],
            R"(q".external.metrics.k8s.io is forbidden: User "system:anonymous" cannot list )"
            R"(resource "q\"" in API group "external.metrics.k8s.io" in the namespace "n\\": )"
            "no rule");
  EXPECT_EQ(GetAs("", {}, "/livez/ping")->status, 403);
  EXPECT_EQ(GetAs("", {}, "/livez")->status, 200);
}

TEST_F(AuthFixture, APathIsOpenWithOrWithoutTheSlashInFrontOfItsRule) {
  kube_->on_access_review = [](const std::string&) { return FakeKubeApi::Deny(); };
  options_.authorization.always_allow_paths = {"metrics", "livez*"};
  StartServer();
  EXPECT_EQ(GetAs("", {}, "/metrics")->status, 200);
  EXPECT_EQ(GetAs("", {}, "/livez")->status, 200);
  EXPECT_EQ(GetAs("", {}, "/livez/ping")->status, 200);
  EXPECT_EQ(GetAs("", {}, "/metricsx")->status, 403);
  EXPECT_EQ(GetAs("", {}, "/")->status, 403);
}

TEST_F(AuthFixture, ReviewsCarryTheExactAttributes) {
  StartServer();
  const auto resource = [&](const std::string& target) {
    EXPECT_EQ(GetAs("jane", {}, target)->status, 200) << target;
    return LastReview()["resourceAttributes"];
  };
  EXPECT_EQ(resource(C2 IN_DEFAULT "/pods/*/m"), json::parse(R"({"namespace":"default","verb":"get",
      "group":"custom.metrics.k8s.io","version":"v1beta2","resource":"pods","subresource":"m",
      "name":"*"})"));
  EXPECT_EQ(resource(C2 IN_DEFAULT "/metrics/nsm"),
            json::parse(R"({"namespace":"default","verb":"get",
      "group":"custom.metrics.k8s.io","version":"v1beta2","resource":"metrics","name":"nsm"})"));
  EXPECT_EQ(resource(C2 "/nodes/n1/load"), json::parse(R"({"verb":"get",
      "group":"custom.metrics.k8s.io","version":"v1beta2","resource":"nodes","subresource":"load",
      "name":"n1"})"));
  EXPECT_EQ(resource(E1 IN_DEFAULT "/q?labelSelector=queue%3Da"),
            json::parse(R"({"namespace":"default",
      "verb":"list","group":"external.metrics.k8s.io","version":"v1beta1","resource":"q",
      "labelSelector":{"requirements":[{"key":"queue","operator":"In","values":["a"]}]}})"));
  EXPECT_EQ(GetAs("jane", {}, "/metrics")->status, 200);
  const json spec = LastReview();
  EXPECT_EQ(spec["nonResourceAttributes"], json::parse(R"({"path":"/metrics","verb":"get"})"));
  EXPECT_EQ(spec["groups"], json::parse(R"(["devs","system:authenticated"])"));
  EXPECT_TRUE(spec["extra"].contains("authentication.kubernetes.io/credential-id"));
}

// What is reviewed is what is served: by such a path whoever may read the resource gets no more than
// by one of a group that is not here, and nobody else gets even that.
TEST_F(AuthFixture, APathBehindTwoSlashesIsReviewedAsAResourceAndIsNotFound) {
  EchoPages echo;
  pages_ = {&echo};
  options_.authorization.always_allow_paths = {"/*"};
  StartServer();
  const std::string index = GetAs("jane", {}, "/apis/other.k8s.io")->body;
  EXPECT_TRUE(absl::StrContains(index, "\"paths\": ["));
  const std::pair<const char*, const char*> kRows[] = {
      {"/" C2 IN_DEFAULT "/pods/*/m", R"({"namespace":"default","verb":"get","version":"v1beta2",
          "group":"custom.metrics.k8s.io","resource":"pods","subresource":"m","name":"*"})"},
      {"//" E1 IN_DEFAULT "/q", R"({"namespace":"default","verb":"list","version":"v1beta1",
          "group":"external.metrics.k8s.io","resource":"q"})"},
      {"/" M1 "/nodes/n1//", R"({"verb":"get","version":"v1beta1","group":"metrics.k8s.io",
          "resource":"nodes","name":"n1"})"}};
  for (const auto& [target, attributes] : kRows) {
    const size_t before = Reviews();
    const auto got = GetAs("jane", {}, target);
    EXPECT_EQ(got->status, 404) << target;
    EXPECT_EQ(got->body, index) << target;
    EXPECT_EQ(Reviews(), before + 1) << target;
    EXPECT_EQ(LastReview()["resourceAttributes"], json::parse(attributes)) << target;
  }
  EXPECT_EQ(custom_->calls, 0);
  // A further page is none behind two slashes, although its own path looks like a resource.
  EXPECT_EQ(GetAs("jane", {}, "//api/v1/write")->body, index);
  EXPECT_EQ(LastReview()["resourceAttributes"]["resource"], "write");
  kube_->on_access_review = [](const std::string&) { return FakeKubeApi::Deny(); };
  EXPECT_EQ(GetAs("", {}, "/" C2 IN_DEFAULT "/pods/*/m")->status, 403);
}

TEST_F(AuthFixture, AnonymousFromTheFrontProxyIsNotAuthenticated) {
  StartServer();
  EXPECT_EQ(GetAs("proxy", {{"X-Remote-User", "system:anonymous"}})->status, 200);
  EXPECT_FALSE(LastReview().contains("groups"));
}

TEST_F(AuthFixture, ExtraKeysAreLowerCasedThenDecoded) {
  StartServer();
  EXPECT_EQ(GetAs("proxy", {{"X-Remote-User", "jane"},
                            {"X-Remote-Group", "devs"},
                            {"X-Remote-Uid", "17"},
                            {"X-Remote-Extra-Acme.com%2Fp", "x"}})
                ->status,
            200);
  const json spec = LastReview();
  EXPECT_EQ(spec["extra"], json::parse(R"({"acme.com/p":["x"]})"));
  EXPECT_EQ(spec["groups"], json::parse(R"(["devs","system:authenticated"])"));
  EXPECT_FALSE(spec.contains("uid"));  // no uid header is configured
}

TEST_F(AuthFixture, ImpersonationIsRefused) {
  StartServer();
  const std::pair<const char*, const char*> kAsking[] = {{"Impersonate-User", "admin"},
                                                         {"impersonate-user", "admin"},
                                                         {"Impersonate-Group", "devs"},
                                                         {"Impersonate-Group", ""},
                                                         {"Impersonate-Extra-Scopes", "all"},
                                                         {"IMPERSONATE-EXTRA-", ""},
                                                         {"Impersonate-Uid", "1"}};
  for (const auto& [name, value] : kAsking) {
    const auto refused = GetAs("jane", {{name, value}});
    EXPECT_EQ(refused->status, 403) << name;
    EXPECT_TRUE(absl::StrContains(refused->body, "impersonation is not supported here")) << name;
  }
  // The original reads only the first of several, which has nothing in it.
  EXPECT_EQ(GetAs("jane", {{"Impersonate-User", ""}, {"Impersonate-User", "admin"}})->status, 403);
  EXPECT_EQ(Reviews(), 0u);
}

// As in the original, which serves such a request for the user who sent it.
TEST_F(AuthFixture, HeadersThatImpersonateNobodyAreIgnored) {
  StartServer();
  for (const char* name : {"Impersonate-User", "Impersonate-Uid"}) {
    EXPECT_EQ(GetAs("jane", {{name, ""}})->status, 200) << name;
  }
  for (const char* name : {"Impersonate-Foo", "Impersonate-Extra", "Impersonate-Groups"}) {
    EXPECT_EQ(GetAs("jane", {{name, "system:masters"}})->status, 200) << name;
  }
  EXPECT_EQ(LastReview()["user"], "jane");
  EXPECT_EQ(LastReview()["groups"], json::parse(R"(["devs","system:authenticated"])"));
}

TEST_F(AuthFixture, DecisionsAndTokensAreRememberedForTenSeconds) {
  clock_ = &simulated_;
  StartServer();
  const httplib::Headers token = {{"Authorization", "Bearer good"}};
  for (int i = 0; i < 3; ++i) EXPECT_EQ(GetAs("", token)->status, 200);
  EXPECT_EQ(Reviews(), 1u);
  EXPECT_EQ(kube_->token_reviews, 1);
  simulated_.Advance(absl::Seconds(11));
  kube_->on_access_review = [](const std::string&) { return FakeKubeApi::Deny(); };
  EXPECT_EQ(GetAs("", token)->status, 403);
  EXPECT_EQ(Reviews(), 2u);
  EXPECT_EQ(kube_->token_reviews, 2);
  kube_->on_access_review = [](const std::string&) { return FakeKubeApi::Allow(); };
  EXPECT_EQ(GetAs("", token)->status, 403);  // a refusal is remembered too
  simulated_.Advance(absl::Seconds(11));
  EXPECT_EQ(GetAs("", token)->status, 200);
}

TEST_F(AuthFixture, FailingReviewsCloseTheDoor) {
  kube_->on_access_review = [](const std::string&) -> FakeKubeApi::Answer {
    return absl::UnavailableError("connection refused");
  };
  kube_->on_token_review = [](const std::string&) -> FakeKubeApi::Answer {
    return FakeKubeApi::Json(403, "{}");
  };
  StartServer();
  const auto result = GetAs("jane", {});
  ASSERT_TRUE(result);
  EXPECT_EQ(result->status, 500);
  EXPECT_TRUE(absl::StartsWith(result->body, "Internal Server Error: \"" E1 IN_DEFAULT "/q\": "));
  EXPECT_EQ(Reviews(), 1u);  // no second try
  EXPECT_EQ(GetAs("", {{"Authorization", "Bearer good"}})->status, 401);
  EXPECT_EQ(GetAs("proxy", {{"X-Remote-User", "a"}, {"X-Remote-Group", "system:masters"}})->status,
            200);
}

TEST_F(AuthFixture, AReviewThatSaysNothingIsARefusal) {
  std::string answer;
  kube_->on_access_review = [&](const std::string&) { return FakeKubeApi::Json(201, answer); };
  StartServer();
  const auto status = [&](const std::string& text, const std::string& target) {
    answer = text;
    return GetAs("jane", {}, target)->status;
  };
  // A path each, so that no answer is given from memory.
  EXPECT_EQ(status("{}", "/a"), 403);
  EXPECT_EQ(status(R"({"kind":"SubjectAccessReview","status":null})", "/b"), 403);
  EXPECT_EQ(status(R"({"status":{}})", "/c"), 403);
  EXPECT_EQ(status(R"({"status":{"allowed":"true"}})", "/d"), 500);
  EXPECT_EQ(status(R"({"status":[]})", "/e"), 500);
  EXPECT_EQ(status("[]", "/f"), 500);
  EXPECT_EQ(status("", "/g"), 500);
}

TEST_F(AuthFixture, ATokenReviewThatThrowsIsARefusalAndAskedAgain) {
  int calls = 0;
  kube_->on_token_review = [&](const std::string&) -> FakeKubeApi::Answer {
    if (++calls == 1) throw std::runtime_error("no thread left");
    return FakeKubeApi::Json(
        201, R"({"status":{"authenticated":true,"user":{"username":"sa","groups":["g"]}}})");
  };
  StartServer();
  auto client = NewClient();
  client->set_read_timeout(30);
  const httplib::Headers token = {{"Authorization", "Bearer good"}};
  EXPECT_NE(client->Get(E1 IN_DEFAULT "/q", token)->status, 200);
  const auto second = client->Get(E1 IN_DEFAULT "/q", token);
  ASSERT_TRUE(second) << "the second caller still waits for the first one's answer";
  EXPECT_EQ(second->status, 200);
}

TEST_F(AuthFixture, BothAllowedAndDeniedIsAnError) {
  kube_->on_access_review = [](const std::string&) -> FakeKubeApi::Answer {
    return FakeKubeApi::Json(201, R"({"status":{"allowed":true,"denied":true}})");
  };
  StartServer();
  EXPECT_EQ(GetAs("jane", {})->status, 500);
}

// Waits for what a watch brings about; ends with the test's own time limit if it never comes.
template <typename Condition>
void Eventually(Condition condition) {
  while (!condition()) std::this_thread::yield();
}

TEST_F(AuthFixture, ChangedNamesActWithoutARestart) {
  StartServer();
  const httplib::Headers headers = {{"X-Remote-User", "ann"}};
  EXPECT_EQ(GetAs("stranger-proxy", headers)->status, 401);
  kube_->Push(json{{"type", "MODIFIED"},
                   {"object", ConfigMapObject(proxy_ca_, R"(["front-proxy-client","somebody"])")}}
                  .dump() +
              "\n");
  Eventually([&] { return GetAs("stranger-proxy", headers)->status == 200; });
}

TEST_F(AuthFixture, AnEventWhoseTypeIsNoTextIsPassedOver) {
  clock_ = &simulated_;
  StartServer();
  const httplib::Headers headers = {{"X-Remote-User", "ann"}};
  for (const json& type : {json(5), json(nullptr), json::array()}) {
    kube_->Push(json{{"type", type}, {"object", json::object()}}.dump() + "\n");
  }
  kube_->Push(json{{"type", "MODIFIED"},
                   {"object", ConfigMapObject(proxy_ca_, R"(["front-proxy-client","somebody"])")}}
                  .dump() +
              "\n");
  Eventually([&] {
    simulated_.Advance(absl::Seconds(1));
    return GetAs("stranger-proxy", headers)->status == 200;
  });
}

// As kube-apiserver answers a version that lies before what it keeps: 200, and then an error.
TEST_F(AuthFixture, WatchesThatEndWithAnErrorAreTriedMoreAndMoreRarely) {
  clock_ = &simulated_;
  kube_->end_of_each_watch =
      R"({"type":"ERROR","object":{"kind":"Status","code":410,"message":"too old"}})"
      "\n";
  StartServer();
  const auto watches = [&] {
    absl::MutexLock lock(&kube_->mutex());
    return kube_->watches;
  };
  const auto client = NewClient();
  const MonotonicTime start = simulated_.MonotonicNow();
  while (watches() < 5) {
    simulated_.Advance(absl::Milliseconds(100));
    EXPECT_EQ(client->Get("/livez")->status, 200);  // which gives a hasty watch time for the next
  }
  EXPECT_GE(simulated_.MonotonicNow() - start, absl::Seconds(10));
}

TEST_F(AuthFixture, TheSameConfigMapAgainKeepsWhatWasVerified) {
  std::atomic<int> told = 0;
  std::atomic<bool> changed = false;
  ConfigMapWatcher watcher(kube_, simulated_, [&](const ConfigMapWatcher::Data& data) {
    ++told;
    if (data.at("requestheader-allowed-names") == R"(["somebody"])") changed = true;
  });
  ASSERT_TRUE(watcher.Read().ok());
  for (const std::string names : {R"(["front-proxy-client"])", R"(["somebody"])"}) {
    kube_->Push(json{{"type", "MODIFIED"}, {"object", ConfigMapObject(proxy_ca_, names)}}.dump() +
                "\n");
  }
  watcher.Start();  // it lists first
  Eventually([&] { return changed.load(); });
  watcher.Stop();
  EXPECT_EQ(told, 1);
}

TEST_F(AuthFixture, BrokenNamesLetNoFrontProxyInUntilTheyAreGood) {
  SetConfigMap(proxy_ca_, R"(["front-proxy-client")");
  StartServer();
  const httplib::Headers headers = {{"X-Remote-User", "ann"}};
  EXPECT_EQ(GetAs("stranger-proxy", headers)->status, 401);
  EXPECT_EQ(GetAs("proxy", headers)->status, 401);
  kube_->Push(json{{"type", "MODIFIED"},
                   {"object", ConfigMapObject(proxy_ca_, R"(["front-proxy-client"])")}}
                  .dump() +
              "\n");
  Eventually([&] { return GetAs("proxy", headers)->status == 200; });
  EXPECT_EQ(GetAs("stranger-proxy", headers)->status, 401);
}

TEST_F(AuthFixture, DeletedConfigMapStaysInUse) {
  StartServer();
  kube_->Push(json{{"type", "DELETED"}, {"object", ConfigMapObject(proxy_ca_, "[]")}}.dump() +
              "\n");
  // An event after it shows that the deletion was seen.
  kube_->Push(
      json{{"type", "MODIFIED"},
           {"object",
            {{"metadata", {{"resourceVersion", "9"}}},
             {"data", {{"requestheader-allowed-names", R"(["front-proxy-client","somebody"])"}}}}}}
          .dump() +
      "\n");
  const httplib::Headers headers = {{"X-Remote-User", "ann"}};
  Eventually([&] { return GetAs("stranger-proxy", headers)->status == 200; });
  EXPECT_EQ(GetAs("proxy", headers)->status, 200);
}

TEST_F(AuthFixture, ReplacedCaActsOnOpenConnections) {
  StartServer();
  auto client = NewClient(folder_ + "/proxy");
  const httplib::Headers headers = {{"X-Remote-User", "ann"}};
  EXPECT_EQ(client->Get(E1 IN_DEFAULT "/q", headers)->status, 200);
  const http::TestPair new_ca = http::MakeTestCa("new-proxy-ca");
  kube_->Push(json{{"type", "MODIFIED"}, {"object", ConfigMapObject(new_ca, "[]")}}.dump() + "\n");
  Eventually([&] { return client->Get(E1 IN_DEFAULT "/q", headers)->status == 401; });
  EXPECT_EQ(Get("/metrics")->body.find("flyball_connections_accepted_total 3"), std::string::npos);
}

TEST_F(AuthFixture, UnreadableConfigMapEndsTheStart) {
  kube_->config_map = FakeKubeApi::Json(403, "{}");
  ServerDependencies dependencies(*clock_);
  dependencies.providers = [] { return adapter::Providers(); };
  dependencies.authentication = kube_;
  dependencies.authorization = kube_.get();
  EXPECT_EQ(ApiServer::Create(options_, dependencies).status().code(),
            absl::StatusCode::kFailedPrecondition);
  options_.authentication.tolerate_lookup_failure = true;
  EXPECT_TRUE(ApiServer::Create(options_, dependencies).ok());
}

TEST_F(AuthFixture, UnreachableApiServerIsWaitedFor) {
  kube_->config_map = absl::UnavailableError("connection refused");
  StartServer();
  EXPECT_EQ(Get("/readyz")->status, 500);
  EXPECT_EQ(Get("/livez")->status, 200);
}

TEST_F(ApiServerFixture, StaticTokensNeedNoCluster) {
  http::WriteTestFile(folder_ + "/tokens", "s3cret,ann,1,\"devs,ops\"\n");
  options_.authentication.token_file = folder_ + "/tokens";
  options_.authorization.mode = AuthorizationMode::kAuthenticated;
  kube_.reset();
  StartServer();
  EXPECT_EQ(Get(E1 IN_DEFAULT "/q", {{"Authorization", "Bearer s3cret"}})->status, 200);
  EXPECT_EQ(Get(E1 IN_DEFAULT "/q", {{"Authorization", "Bearer other"}})->status, 401);
  EXPECT_EQ(Get(E1 IN_DEFAULT "/q")->status, 403);
  EXPECT_EQ(Get("/readyz")->status, 200);
}

}  // namespace
}  // namespace flyball::apiservice
