// The server over real TLS within the process: the wire conformance rows that need no cluster.
#include "apiservice/api_server.h"

#include <httplib.h>

#include <nlohmann/json.hpp>
#include <set>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "absl/strings/str_cat.h"
#include "adapter/queries/failure_notes.h"
#include "apiservice/test_server.h"

namespace flyball::apiservice {
namespace {

using testing::HasSubstr;

struct ApiServerRow {
  std::string name;
  std::string target;
  int code;
  std::string body;  // a part of it
  std::string accept = "";
  std::string method = "GET";
};

class ConformanceTest : public ApiServerFixture,
                        public testing::WithParamInterface<ApiServerRow> {};

TEST_P(ConformanceTest, Row) {
  const ApiServerRow& row = GetParam();
  StartServer();
  httplib::Request request;
  request.method = row.method;
  request.path = row.target;
  if (!row.accept.empty()) request.set_header("Accept", row.accept);
  const httplib::Result result = NewClient()->send(request);
  ASSERT_TRUE(result) << httplib::to_string(result.error());
  EXPECT_EQ(result->status, row.code) << result->body;
  EXPECT_NE(result->body.find(row.body), std::string::npos) << result->body;
  EXPECT_FALSE(result->get_header_value("Audit-Id").empty());
}

const std::string kV2Accept =
    "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList,"
    "application/json;g=apidiscovery.k8s.io;v=v2beta1;as=APIGroupDiscoveryList";

const std::string kTableAccept = "application/json;as=Table;v=v1;g=meta.k8s.io";

INSTANTIATE_TEST_SUITE_P(
    Discovery, ConformanceTest,
    testing::Values(
        ApiServerRow{"GroupList", "/apis", 200, R"("name":"external.metrics.k8s.io")"},
        ApiServerRow{"Aggregated", "/apis", 200, R"("kind":"APIGroupDiscoveryList")", kV2Accept},
        ApiServerRow{"AggregatedBeforePlain", "/apis", 200, R"("kind":"APIGroupDiscoveryList")",
                     kV2Accept + ",application/json"},
        ApiServerRow{"Group", "/apis/custom.metrics.k8s.io", 200, R"("version":"v1beta1")"},
        ApiServerRow{"Version", C2, 200, R"("name":"pods/m")"},
        ApiServerRow{"VersionWithSlash", C2 "/", 200, R"("name":"deployments.apps/d")"},
        ApiServerRow{"External", E1, 200, R"("kind":"ExternalMetricValueList","verbs":["get"])"},
        ApiServerRow{"Resource", M1, 200, R"("name":"nodes","singularName":"","namespaced":false)"},
        ApiServerRow{"GroupWithSlashes", "/apis/custom.metrics.k8s.io//", 200,
                     R"("kind":"APIGroup")"},
        ApiServerRow{"VersionWithSlashes", C2 "///", 200, R"("name":"deployments.apps/d")"},
        ApiServerRow{"GroupListWithTwoSlashes", "/apis//", 404, "\"paths\": ["},
        ApiServerRow{"UnknownVersion", "/apis/custom.metrics.k8s.io/v9", 404,
                     R"("reason":"NotFound")"},
        ApiServerRow{"UnknownGroup", "/apis/nope", 404, "\"paths\": ["},
        ApiServerRow{"AggregatedForAVersion", C1, 406, "NotAcceptable", kV2Accept},
        ApiServerRow{"OpenApiV2", "/openapi/v2", 200, R"("swagger":"2.0")"},
        ApiServerRow{"OpenApiV3", "/openapi/v3", 200, R"("serverRelativeURL":"/openapi/v3/apis/)"},
        ApiServerRow{"OpenApiV3ListForAnyType", "/openapi/v3", 200, "serverRelativeURL",
                     "text/html"},
        ApiServerRow{"OpenApiV2ForNoOtherType", "/openapi/v2", 406, "", "text/html"},
        ApiServerRow{"OpenApiByOneStar", "/openapi/v2", 200, R"("swagger":"2.0")", "*;="},
        ApiServerRow{"OpenApiV3ByOneStar", "/openapi/v3/apis/metrics.k8s.io/v1", 200, "openapi",
                     "*;="},
        ApiServerRow{"OpenApiForAnyMethod", "/openapi/v2", 200, R"("swagger":"2.0")", "", "POST"},
        ApiServerRow{"IndexByItsFileName", "/index.html", 200, "\"paths\": ["},
        ApiServerRow{"VersionIsJsonOnly", "/version", 406, "406: Not Acceptable",
                     "application/yaml"},
        ApiServerRow{"OpenApiUnknown", "/openapi/v3/x", 404, "NotFound"},
        ApiServerRow{"Version_", "/version", 200, "\"major\": \"1\""},
        ApiServerRow{"VersionDocumentWithSlashes", "/version//", 200, "\"major\": \"1\""},
        ApiServerRow{"PostVersion", "/version", 405, "MethodNotAllowed", "", "POST"}),
    [](const auto& info) { return info.param.name; });

INSTANTIATE_TEST_SUITE_P(
    Metrics, ConformanceTest,
    testing::Values(
        ApiServerRow{"AllPods", C2 IN_DEFAULT "/pods/*/m", 200,
                     R"("metric":{"name":"m","selector":null})"},
        ApiServerRow{"EncodedStar", C2 IN_DEFAULT "/pods/%2A/m", 200, R"("name":"web-2")"},
        ApiServerRow{"VersionOne", C1 IN_DEFAULT "/pods/*/m", 200, R"("metricName":"m")"},
        ApiServerRow{"BySelector", C2 IN_DEFAULT "/pods/*/m?labelSelector=app%3Dweb", 200,
                     R"("name":"web-2")"},
        ApiServerRow{"NothingSelected", C2 IN_DEFAULT "/pods/*/m?labelSelector=app%3Dnone", 200,
                     R"("items":[]})"},
        ApiServerRow{"Named", C2 IN_DEFAULT "/pods/web-1/m", 200,
                     R"("kind":"Pod","namespace":"default")"},
        ApiServerRow{"Absent", C2 IN_DEFAULT "/pods/nope/m", 404,
                     "the server could not find the metric m for pods nope"},
        ApiServerRow{"NamedWithSlashes", C2 IN_DEFAULT "/pods/web-1/m//", 200, R"("kind":"Pod")"},
        ApiServerRow{"Singular", C2 IN_DEFAULT "/pod/web-1/m", 200, R"("value":"1500m")"},
        ApiServerRow{"Node", C2 "/nodes/n1/load", 200,
                     R"("describedObject":{"kind":"Node","name":"n1")"},
        ApiServerRow{"Namespace", C2 IN_DEFAULT "/metrics/nsm", 200,
                     R"("kind":"Namespace","name":"default")"},
        ApiServerRow{"MetricSelector", C2 IN_DEFAULT "/pods/*/m?metricLabelSelector=verb%3DGET",
                     200, R"("selector":{"matchLabels":{"verb":"GET"}})"},
        ApiServerRow{"BadMetricSelector", C2 IN_DEFAULT "/pods/*/m?metricLabelSelector=a+in+b", 500,
                     R"("code":500)"},
        ApiServerRow{"CustomWatchIsAList", C2 IN_DEFAULT "/pods/*/m?watch=true", 200,
                     R"("name":"web-2")"},
        ApiServerRow{"ExternalAll", E1 IN_DEFAULT "/q", 200, R"("metricLabels":{"queue":"b"})"},
        ApiServerRow{"ExternalOne", E1 IN_DEFAULT "/q?labelSelector=queue%3Da", 200,
                     R"({"queue":"a"})"},
        ApiServerRow{"WatchAlone", E1 "/watch/?a=1&b", 500,
                     "Internal Server Error: \"" E1
                     "/watch/?a=1&amp;b\": failed to create RequestInfo: "
                     "unable to determine kind and namespace from url, " E1 "/watch/?a=1&amp;b\n",
                     "text/html", "POST"},
        ApiServerRow{
            "ExternalWatch", E1 IN_DEFAULT "/q?watch=true", 405,
            R"(watch is not supported on resources of kind \"*.external.metrics.k8s.io\")"},
        ApiServerRow{"Yaml", E1 IN_DEFAULT "/q", 200, "kind: ExternalMetricValueList",
                     "application/yaml"},
        ApiServerRow{"Protobuf", E1 IN_DEFAULT "/q", 200, "ExternalMetricValueList",
                     "application/vnd.kubernetes.protobuf, */*"},
        ApiServerRow{"TextIsNotAcceptable", E1 IN_DEFAULT "/q", 406, "NotAcceptable", "text/plain"},
        ApiServerRow{"AnyApplicationTypeIsNone", E1 IN_DEFAULT "/q", 406, "406: Not Acceptable",
                     "application/*"},
        ApiServerRow{"TableAlone", E1 IN_DEFAULT "/q", 406, "", kTableAccept},
        ApiServerRow{"TableAloneOfCustom", C2 IN_DEFAULT "/pods/web-1/m", 406, "only the following",
                     kTableAccept},
        ApiServerRow{"CustomErrorIsToldWhateverIsAccepted", C2 IN_DEFAULT "/pods/nope/m", 404,
                     "{\n  \"kind\": \"Status\"", kTableAccept},
        ApiServerRow{"CustomPathThatIsNoneIsTold", C2 IN_DEFAULT "/pods", 400,
                     "invalid request path", kTableAccept},
        ApiServerRow{"TypeComesBeforeThePath", C2 IN_DEFAULT "/pods", 406, "NotAcceptable",
                     "text/html"},
        ApiServerRow{"MethodComesBeforeTheType", E1 IN_DEFAULT "/q", 405, "{\n  \"kind\"",
                     "text/html", "POST"},
        ApiServerRow{"TypeComesBeforeWatch", E1 IN_DEFAULT "/q?watch=true", 406,
                     "only the following", kTableAccept},
        ApiServerRow{"YamlTable", M1 IN_DEFAULT "/pods", 200, "kind: Table",
                     "application/yaml;as=Table;v=v1;g=meta.k8s.io"},
        ApiServerRow{"Post", E1 IN_DEFAULT "/q", 405, "does not allow this method", "", "POST"},
        ApiServerRow{"Delete", E1 IN_DEFAULT "/q", 405, "does not allow this method", "", "DELETE"},
        ApiServerRow{"Head", E1 IN_DEFAULT "/q", 405, "", "", "HEAD"},
        ApiServerRow{"PodList", M1 IN_DEFAULT "/pods", 200, R"("window":"1m0s")"},
        ApiServerRow{"PodFieldSelector", M1 "/pods?fieldSelector=metadata.name%3Dother", 200,
                     R"("items":[]})"},
        ApiServerRow{"PodTable", M1 IN_DEFAULT "/pods", 200,
                     R"("cells":["web-1","12m","100Mi","1m0s"])",
                     "application/json;as=Table;v=v1;g=meta.k8s.io"},
        ApiServerRow{"PodTableOfObjects", M1 IN_DEFAULT "/pods?includeObject=Object", 200,
                     R"("object":{"kind":"PodMetrics","apiVersion":"metrics.k8s.io/v1beta1")",
                     kTableAccept},
        ApiServerRow{"PodTableOfCells", M1 IN_DEFAULT "/pods?includeObject=None", 200,
                     R"("object":null)", kTableAccept},
        ApiServerRow{
            "PodTableOfNothingKnown", M1 IN_DEFAULT "/pods?includeObject=All", 400,
            R"(includeObject: Invalid value: \"All\": must be 'Metadata', 'Object', 'None', or empty)",
            kTableAccept},
        ApiServerRow{"IncludeObjectIsOfTables", M1 IN_DEFAULT "/pods?includeObject=All", 200,
                     "PodMetricsList"},
        ApiServerRow{"Pod", M1 IN_DEFAULT "/pods/web-1", 200, R"("kind":"PodMetrics")"},
        ApiServerRow{"PodOfV1", "/apis/metrics.k8s.io/v1" IN_DEFAULT "/pods/web-1", 200,
                     R"({"kind":"PodMetrics","apiVersion":"metrics.k8s.io/v1","metadata":)"},
        ApiServerRow{"PodsOfV1", "/apis/metrics.k8s.io/v1" IN_DEFAULT "/pods", 200,
                     R"({"kind":"PodMetricsList","apiVersion":"metrics.k8s.io/v1","metadata":)"},
        ApiServerRow{"NodesOfV1", "/apis/metrics.k8s.io/v1/nodes", 200,
                     R"({"kind":"NodeMetricsList","apiVersion":"metrics.k8s.io/v1","metadata":)"},
        ApiServerRow{
            "PodTableOfV1", "/apis/metrics.k8s.io/v1" IN_DEFAULT "/pods?includeObject=Object", 200,
            R"("object":{"kind":"PodMetrics","apiVersion":"metrics.k8s.io/v1")", kTableAccept},
        ApiServerRow{"V1IsListed", "/apis/metrics.k8s.io/v1", 200,
                     R"("groupVersion":"metrics.k8s.io/v1",)"},
        ApiServerRow{"V1IsPreferred", "/apis/metrics.k8s.io", 200,
                     R"("preferredVersion":{"groupVersion":"metrics.k8s.io/v1",)"},
        ApiServerRow{"V1IsOfResourceMetricsAlone", "/apis/external.metrics.k8s.io/v1", 404, ""},
        ApiServerRow{"NoPod", M1 IN_DEFAULT "/pods/nope", 404, R"(pods \"nope\" not found)"},
        ApiServerRow{"AnErrorIsNoTable", M1 IN_DEFAULT "/pods/nope", 404,
                     "{\n  \"kind\": \"Status\"", kTableAccept},
        ApiServerRow{"AnErrorInTheNextForm", M1 IN_DEFAULT "/pods/nope", 404, R"({"kind":"Status")",
                     kTableAccept + ",application/json"},
        ApiServerRow{"NoSampleForPod", M1 "/namespaces/other/pods/web-1", 404,
                     R"(podmetrics.metrics.k8s.io \"other/web-1\" not found)"},
        ApiServerRow{"ExportComesBeforeTheLookup", M1 "/nodes/nope?export=true", 400,
                     "the export parameter, deprecated since v1.14, is no longer supported"},
        ApiServerRow{"TypeComesBeforeExport", M1 "/nodes/n1?export", 406, "406: Not Acceptable",
                     "text/html"},
        ApiServerRow{"FormComesBeforeExport", M1 IN_DEFAULT "/pods/web-1?export", 406,
                     "only the following", "application/json;as=Other"},
        ApiServerRow{"NoNode", M1 "/nodes/nope", 404, R"(node \"nope\" not found)"}),
    [](const auto& info) { return info.param.name; });

INSTANTIATE_TEST_SUITE_P(
    Health, ConformanceTest,
    testing::Values(
        ApiServerRow{"Livez", "/livez", 200, "ok"},
        ApiServerRow{"OneCheck", "/livez/ping", 200, "ok"},
        ApiServerRow{"HookIsOver", "/livez/poststarthook/max-in-flight-filter", 200, "ok"},
        ApiServerRow{"ObjectsAreKnown", "/readyz/informer-sync", 200, "ok"},
        ApiServerRow{"ObjectsAreOfReadiness", "/livez/informer-sync", 404, "\"paths\": ["},
        ApiServerRow{"HealthHasNoSlash", "/healthz/", 404, "\"paths\": ["},
        ApiServerRow{"Verbose", "/readyz?verbose", 200, "[+]shutdown ok\nreadyz check passed\n"},
        ApiServerRow{"Excluded", "/readyz?verbose&exclude=ping", 200, "[+]ping excluded: ok\n"},
        ApiServerRow{"UnknownExclude", "/healthz?verbose&exclude=x", 200,
                     "no matches for \"x\"\n"}),
    [](const auto& info) { return info.param.name; });

TEST_F(ApiServerFixture, TheListOfGroupsHasThePortOfTheServer) {
  StartServer();
  EXPECT_THAT(Get("/apis")->body,
              HasSubstr(absl::StrCat(R"("serverAddress":":)", server_->port(), R"("}])")));
  EXPECT_EQ(Get("/apis/metrics.k8s.io")->body.find("serverAddress"), std::string::npos);
}

// As the routes of the original, of which only those of metrics take any type.
TEST_F(ApiServerFixture, DocumentsTakeNoContentOfOtherTypes) {
  StartServer();
  const auto client = NewClient();
  const auto ask = [&](const std::string& target, const std::string& type,
                       const std::string& content, const std::string& accept = "") {
    httplib::Request request;
    request.method = "GET";
    request.path = target;
    request.body = content;
    request.set_header("Content-Type", type);
    if (!accept.empty()) request.set_header("Accept", accept);
    return client->send(request);
  };
  for (const char* target : {"/apis", "/apis/metrics.k8s.io", C2, E1 "/", "/version"}) {
    const auto with_content = ask(target, "text/html", "{}", "image/png");
    EXPECT_EQ(with_content->status, 415) << target;
    EXPECT_EQ(with_content->reason, "Unsupported Media Type");
    EXPECT_THAT(with_content->body, HasSubstr(R"("message": "415: Unsupported Media Type")"));
    EXPECT_THAT(with_content->body, HasSubstr(R"("reason": "UnsupportedMediaType")"));
    const auto without = ask(target, "*/*", "");
    EXPECT_EQ(without->status, 406) << target;
    EXPECT_THAT(
        without->body,
        HasSubstr(R"("message":"406: Not Acceptable\n\nAvailable representations: ","reason")"));
    EXPECT_EQ(ask(target, "text/html, application/json;charset=utf-8", "{}")->status, 200);
    EXPECT_EQ(ask(target, "", "")->status, 200) << target;
  }
  EXPECT_EQ(ask(C2, "application/yaml", "{}")->status, 200);
  EXPECT_EQ(ask("/version", "application/yaml", "{}")->status, 415);
  EXPECT_EQ(ask("/apis/nope", "text/html", "{}")->status, 404);
  EXPECT_EQ(ask("/apis/metrics.k8s.io/v9", "text/html", "{}")->status, 404);
  EXPECT_EQ(client->Post("/version", "{}", "text/html")->status, 405);
  for (const char* target :
       {E1 IN_DEFAULT "/q", M1 "/nodes", "/openapi/v2", "/livez", "/metrics"}) {
    EXPECT_EQ(ask(target, "text/html", "{}")->status, 200) << target;
  }
}

TEST_F(ApiServerFixture, AggregatedDiscoveryIsRevalidatedByItsEtag) {
  StartServer();
  const auto first = Get("/apis", {{"Accept", kV2Accept}});
  ASSERT_TRUE(first);
  EXPECT_EQ(first->get_header_value("Content-Type"),
            "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList");
  const std::string etag = first->get_header_value("ETag");
  ASSERT_GT(etag.size(), 2u);
  EXPECT_EQ(etag.find_first_not_of("0123456789ABCDEF", 1), etag.size() - 1) << etag;
  EXPECT_TRUE(etag.front() == '"' && etag.back() == '"') << etag;
  // A 304 has no length; this client would wait for the end of the connection.
  const auto second =
      Get("/apis", {{"Accept", kV2Accept}, {"If-None-Match", etag}, {"Connection", "close"}});
  ASSERT_TRUE(second);
  EXPECT_EQ(second->status, 304);
  EXPECT_EQ(second->body, "");
  const auto document = nlohmann::json::parse(first->body, nullptr, false);
  ASSERT_EQ(document["items"].size(), 3u);
  for (const auto& group : document["items"]) {
    for (const auto& version : group["versions"]) EXPECT_FALSE(version["resources"].empty());
  }
}

// The documents of OpenAPI are served for every method.
TEST_F(ApiServerFixture, WhatTheClientHasIsAConditionThatOtherMethodsFail) {
  StartServer();
  const auto got = NewClient()->Delete("/openapi/v2", {{"If-None-Match", "*"}});
  ASSERT_TRUE(got);
  EXPECT_EQ(got->status, 412);
  EXPECT_EQ(got->reason, "Precondition Failed");
  EXPECT_EQ(got->body, "");
}

// As in the original, which knows nothing of the request then.
TEST_F(ApiServerFixture, ASpecialVerbAloneIsAnErrorBeforeAllElse) {
  options_.authorization.mode = AuthorizationMode::kAuthenticated;
  StartServer();
  const auto got = Get(C2 "/watch?timeout=x", {{"Impersonate-User", "jane"}});
  EXPECT_EQ(got->status, 500);
  EXPECT_EQ(got->get_header_value("Content-Type"), "text/plain; charset=utf-8");
  EXPECT_EQ(got->get_header_value("X-Content-Type-Options"), "nosniff");
  EXPECT_FALSE(got->has_header("Cache-Control"));
}

// As in the original, whose handler of a single check writes two letters and no headers.
TEST_F(ApiServerFixture, OnlyASingleCheckThatPassesMayBeSniffed) {
  StartServer();
  EXPECT_EQ(Get("/healthz")->get_header_value("X-Content-Type-Options"), "nosniff");
  const auto one = Get("/healthz/ping");
  EXPECT_EQ(one->body, "ok");
  EXPECT_EQ(one->get_header_value("Content-Type"), "text/plain; charset=utf-8");
  EXPECT_FALSE(one->has_header("X-Content-Type-Options"));
}

TEST_F(ApiServerFixture, OpenApiHashIsRedirectedAndPinned) {
  StartServer();
  const auto wrong = Get("/openapi/v3/apis/metrics.k8s.io/v1beta1?hash=0");
  ASSERT_TRUE(wrong);
  ASSERT_EQ(wrong->status, 301);
  const auto right = Get(wrong->get_header_value("Location"));
  ASSERT_TRUE(right);
  EXPECT_EQ(right->status, 200);
  EXPECT_EQ(right->get_header_value("Cache-Control"), "public, immutable");
  EXPECT_TRUE(nlohmann::json::accept(right->body));
}

// prometheus-adapter 0.12.0's list, asked for while it ran, and what is only here.
TEST_F(ApiServerFixture, TheIndexListsThePathsOfTheOriginal) {
  StartServer();
  std::set<std::string> wanted = {"/apis",
                                  "/apis/custom.metrics.k8s.io",
                                  "/apis/custom.metrics.k8s.io/v1beta1",
                                  "/apis/custom.metrics.k8s.io/v1beta2",
                                  "/apis/external.metrics.k8s.io",
                                  "/apis/external.metrics.k8s.io/v1beta1",
                                  "/apis/metrics.k8s.io",
                                  "/apis/metrics.k8s.io/v1",
                                  "/apis/metrics.k8s.io/v1beta1",
                                  "/healthz",
                                  "/livez",
                                  "/metrics",
                                  "/openapi/v2",
                                  "/openapi/v3",
                                  "/openapi/v3/",
                                  "/readyz",
                                  "/readyz/informer-sync",
                                  "/readyz/shutdown",
                                  "/version"};
  for (const char* endpoint : {"/healthz", "/livez", "/readyz"}) {
    for (const char* check : {"/log", "/ping", "/poststarthook/generic-apiserver-start-informers",
                              "/poststarthook/max-in-flight-filter",
                              "/poststarthook/storage-object-count-tracker-hook"}) {
      wanted.insert(std::string(endpoint) + check);
    }
  }
  wanted.insert("/readyz/authentication-configmap");  // ours
  const auto index = nlohmann::json::parse(Get("/nope")->body, nullptr, false);
  EXPECT_EQ(index["paths"].get<std::set<std::string>>(), wanted);
}

TEST_F(ApiServerFixture, TheIndexListsTheDebugPagesThatThereAre) {
  debug_decisions_ = [](const auto&) { return std::string("{}"); };
  StartServer();
  const std::string index = Get("/")->body;
  EXPECT_NE(index.find("\"/debug/decisions\""), std::string::npos);
  EXPECT_EQ(index.find("\"/debug/rules\""), std::string::npos);
}

TEST_F(ApiServerFixture, GroupsThatAreOffAnswerWithTheIndex) {
  custom_ = nullptr;
  StartServer();
  for (const char* target : {"/apis/custom.metrics.k8s.io", C2, C2 IN_DEFAULT "/pods/*/m"}) {
    const auto result = Get(target);
    ASSERT_TRUE(result);
    EXPECT_EQ(result->status, 404);
    EXPECT_NE(result->body.find("\"/apis/external.metrics.k8s.io/v1beta1\""), std::string::npos);
  }
}

TEST_F(ApiServerFixture, SourceFailuresKeepTheirMeaning) {
  StartServer();
  external_->error = absl::InternalError("unable to fetch metrics");
  adapter::SetNote(external_->error, adapter::kWarningNote, "rules[0] (c.yaml:\"2\") fails");
  const auto internal = Get(E1 IN_DEFAULT "/q");
  ASSERT_TRUE(internal);
  EXPECT_EQ(internal->status, 500);
  EXPECT_EQ(internal->get_header_value("Warning"), R"(299 - "rules[0] (c.yaml: 2 ) fails")");
  EXPECT_EQ(internal->get_header_value("Retry-After"), "");
  EXPECT_NE(internal->body.find("Internal error occurred: unable to fetch metrics"),
            std::string::npos);
  adapter::SetNote(external_->error, adapter::kTooLongNote, "the answer is larger than 9 bytes");
  const auto too_long = Get(E1 IN_DEFAULT "/q");
  ASSERT_TRUE(too_long);
  EXPECT_EQ(too_long->status, 413);
  EXPECT_NE(too_long->body.find("the answer is larger than 9 bytes"), std::string::npos);
  external_->error = absl::DeadlineExceededError("slow");
  const auto timeout = Get(E1 IN_DEFAULT "/q");
  ASSERT_TRUE(timeout);
  EXPECT_EQ(timeout->status, 504);
  EXPECT_EQ(timeout->body,
            R"({"metadata":{},"status":"Failure","message":"Timeout: request did not complete )"
            R"(within the allotted timeout","reason":"Timeout","details":{},"code":504})"
            "\n");
  EXPECT_EQ(Get(E1)->status, 200);  // the availability probe does not depend on it
}

TEST_F(ApiServerFixture, LargeBodiesAreCompressedForWhoAsks) {
  custom_->pods_count = 2000;
  StartServer();
  const auto plain = Get(C2 IN_DEFAULT "/pods/*/m", {{"Accept-Encoding", "identity"}});
  const auto packed = Get(C2 IN_DEFAULT "/pods/*/m", {{"Accept-Encoding", "gzip"}});
  ASSERT_TRUE(plain);
  ASSERT_TRUE(packed);
  EXPECT_GT(plain->body.size(), 128u * 1024);
  EXPECT_EQ(packed->get_header_value("Content-Encoding"), "gzip");
  EXPECT_EQ(packed->body, plain->body);  // the client undid it
  for (const char* other : {"gzip;q=0", "*", "identity, gzip;q=0.5", "xgzip"}) {
    const auto not_asked = Get(C2 IN_DEFAULT "/pods/*/m", {{"Accept-Encoding", other}});
    EXPECT_EQ(not_asked->get_header_value("Content-Encoding"), "") << other;
  }
}

TEST_F(ApiServerFixture, CurlGetsIndentedJson) {
  StartServer();
  EXPECT_NE(Get(E1 IN_DEFAULT "/q", {{"User-Agent", "curl/8"}})->body.find("\n  \"kind\""),
            std::string::npos);
  EXPECT_EQ(Get(E1 IN_DEFAULT "/q?pretty=false", {{"User-Agent", "curl/8"}})->body.find("\n  "),
            std::string::npos);
  EXPECT_NE(Get(E1 IN_DEFAULT "/q?pretty=1")->body.find("\n  \"kind\""), std::string::npos);
}

TEST_F(ApiServerFixture, AuditIdIsEchoed) {
  StartServer();
  const auto echo = [this](const std::string& id) {
    return Get("/version", {{"Audit-ID", id}})->get_header_value("Audit-Id");
  };
  EXPECT_EQ(echo("abc"), "abc");
  const std::string longest(4096, 'a');
  EXPECT_EQ(echo(longest), longest);
  EXPECT_EQ(echo(longest + "b"), longest);
}

TEST_F(ApiServerFixture, DegradedResourceMetricsCarryAWarning) {
  resource_->degraded = "query of \"cpu\" failed";
  StartServer();
  constexpr char kWarning[] = "299 - \"query of  cpu  failed\"";
  EXPECT_EQ(Get(M1 IN_DEFAULT "/pods")->get_header_value("Warning"), kWarning);
  // A pod that the source failed to tell of is 404, as of the original.
  const auto left_out = Get(M1 "/namespaces/other/pods/web-1");
  EXPECT_EQ(left_out->status, 404);
  EXPECT_EQ(left_out->get_header_value("Warning"), kWarning);
}

TEST_F(ApiServerFixture, APodWithoutMetricsIsNotFoundWithoutAWarning) {
  StartServer();
  const auto missing = Get(M1 "/namespaces/other/pods/web-1");
  EXPECT_EQ(missing->status, 404);
  EXPECT_FALSE(missing->has_header("Warning"));
}

TEST_F(ApiServerFixture, ExternalMetricsThatAreNotOfNowCarryAWarning) {
  external_->replaced = "the source has not answered for 1m0s";
  StartServer();
  EXPECT_EQ(Get(E1 IN_DEFAULT "/q")->get_header_value("Warning"),
            "299 - \"the source has not answered for 1m0s\"");
}

TEST_F(ApiServerFixture, AnswersAreRepeatedWhileFresh) {
  clock_ = &simulated_;
  simulated_.JumpWall(kTestTime);
  custom_->freshness = {simulated_.MonotonicNow() + absl::Minutes(1), 1};
  StartServer();
  auto client = NewClient();
  const auto calls_after = [&](const std::string& target) {
    EXPECT_EQ(client->Get(target)->status, 200);
    return custom_->calls.load();
  };
  EXPECT_EQ(calls_after(C2 IN_DEFAULT "/pods/*/m"), 1);
  EXPECT_EQ(calls_after(C2 IN_DEFAULT "/pods/*/m"), 1);
  EXPECT_EQ(calls_after(C1 IN_DEFAULT "/pods/*/m"), 2);  // another question
  custom_->epoch = 2;
  EXPECT_EQ(calls_after(C2 IN_DEFAULT "/pods/*/m"), 3);
  custom_->freshness.epoch = 2;
  EXPECT_EQ(calls_after(C2 IN_DEFAULT "/pods/*/m"), 4);
  EXPECT_EQ(calls_after(C2 IN_DEFAULT "/pods/*/m"), 4);
  simulated_.JumpWall(kTestTime + absl::Seconds(1));  // "now" is another second
  EXPECT_EQ(calls_after(C2 IN_DEFAULT "/pods/*/m"), 5);
  simulated_.JumpWall(kTestTime);
  simulated_.Advance(absl::Minutes(2));
  simulated_.JumpWall(kTestTime);
  EXPECT_EQ(calls_after(C2 IN_DEFAULT "/pods/*/m"), 6);  // no longer fresh
}

TEST_F(ApiServerFixture, AnAgingAnswerIsAskedForAnewByOneWhileOthersAreStillGivenIt) {
  clock_ = &simulated_;
  simulated_.JumpWall(kTestTime);
  const MonotonicTime start = simulated_.MonotonicNow();
  custom_->freshness = {start + absl::Minutes(1), 1, start + absl::Seconds(30)};
  StartServer();
  EXPECT_EQ(Get(C2 IN_DEFAULT "/pods/*/m")->status, 200);
  simulated_.Advance(absl::Seconds(40));
  simulated_.JumpWall(kTestTime);
  custom_->freshness = {start + absl::Minutes(2), 1, start + absl::Seconds(90)};
  custom_->on_get = [&](const adapter::CustomMetricRequest&) {
    EXPECT_EQ(Get(C2 IN_DEFAULT "/pods/*/m")->status, 200);
  };
  EXPECT_EQ(Get(C2 IN_DEFAULT "/pods/*/m")->status, 200);
  EXPECT_EQ(custom_->calls, 2);
  EXPECT_EQ(Get(C2 IN_DEFAULT "/pods/*/m")->status, 200);
  EXPECT_EQ(custom_->calls, 2);
}

TEST_F(ApiServerFixture, OneConnectionServesManyRequests) {
  StartServer();
  auto client = NewClient();
  for (int i = 0; i < 100; ++i) ASSERT_EQ(client->Get(E1 IN_DEFAULT "/q")->status, 200);
  EXPECT_NE(Get("/metrics")->body.find("flyball_connections_accepted_total 2"), std::string::npos);
  const std::string metrics = Get("/metrics")->body;
  EXPECT_THAT(metrics, HasSubstr("process_resident_memory_bytes "));
  EXPECT_THAT(metrics, HasSubstr("\napiserver_response_sizes_count{component=\"external-metrics\","
                                 "group=\"external.metrics.k8s.io\",resource=\"*\","
                                 "scope=\"cluster\",subresource=\"*\",verb=\"LIST\","
                                 "version=\"v1beta1\"} 100\n"));
}

}  // namespace
}  // namespace flyball::apiservice
