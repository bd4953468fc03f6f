#include "apiservice/self_metrics.h"

#include <atomic>
#include <string>
#include <thread>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "absl/strings/str_cat.h"
#include "absl/synchronization/notification.h"
#include "apiservice/test_server.h"

namespace flyball::apiservice {
namespace {

using testing::HasSubstr;
using testing::Not;

// A sample of apiserver_request_total.
std::string Requests(const std::string& code, const std::string& component,
                     const std::string& group, const std::string& version,
                     const std::string& resource, const std::string& subresource,
                     const std::string& scope, const std::string& verb, int count) {
  return absl::StrCat("\napiserver_request_total{code=\"", code, "\",component=\"", component,
                      "\",dry_run=\"\",group=\"", group, "\",resource=\"", resource, "\",scope=\"",
                      scope, "\",subresource=\"", subresource, "\",verb=\"", verb, "\",version=\"",
                      version, "\"} ", count, "\n");
}

// With the labels that prometheus-adapter 0.12.0 gives its routes.
TEST_F(ApiServerFixture, RequestsAreCountedWithTheLabelsOfTheOriginal) {
  StartServer();
  for (const char* target :
       {C1 "/nodes/n1/load", C2 IN_DEFAULT "/pods/web-1/m", C2 IN_DEFAULT "/pods/nope/m",
        C2 IN_DEFAULT "/metrics/nsm", C2 IN_DEFAULT "/pods/*/m?watch=true", E1 IN_DEFAULT "/q",
        E1 IN_DEFAULT "/q?watch=1", M1 "/pods", M1 IN_DEFAULT "/pods", M1 IN_DEFAULT "/pods/web-1",
        M1 "/nodes", M1 "/nodes/nope", "/healthz", "/livez", "/readyz"}) {
    ASSERT_TRUE(Get(target)) << target;
  }
  Get("/apis",
      {{"Accept", "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList"}});
  const std::string text = Get("/metrics")->body;
  const std::string custom = "custom.metrics.k8s.io";
  const std::string external = "external.metrics.k8s.io";
  for (const std::string& sample : {
           Requests("200", "custom-metrics", custom, "v1beta1", "*", "*", "cluster", "LIST", 1),
           Requests("200", "custom-metrics", custom, "v1beta2", "*", "*", "resource", "GET", 2),
           Requests("404", "custom-metrics", custom, "v1beta2", "*", "*", "resource", "GET", 1),
           Requests("200", "custom-metrics", custom, "v1beta2", "*", "*", "resource", "WATCH", 1),
           Requests("200", "external-metrics", external, "v1beta1", "*", "*", "cluster", "LIST", 1),
           Requests("405", "external-metrics", external, "v1beta1", "*", "*", "cluster", "WATCH",
                    1),
           Requests("200", "apiserver", "metrics.k8s.io", "v1beta1", "pods", "", "cluster", "LIST",
                    1),
           Requests("200", "apiserver", "metrics.k8s.io", "v1beta1", "pods", "", "namespace",
                    "LIST", 1),
           Requests("200", "apiserver", "metrics.k8s.io", "v1beta1", "pods", "", "resource", "GET",
                    1),
           Requests("200", "apiserver", "metrics.k8s.io", "v1beta1", "nodes", "", "cluster", "LIST",
                    1),
           Requests("404", "apiserver", "metrics.k8s.io", "v1beta1", "nodes", "", "resource", "GET",
                    1),
           Requests("200", "", "", "", "", "/healthz", "", "GET", 1),
           Requests("200", "", "", "", "", "/livez", "", "GET", 1),
           Requests("200", "", "", "", "", "/readyz", "", "GET", 1),
           Requests("200", "apiserver", "", "", "", "/apis", "", "GET", 1),
       }) {
    EXPECT_THAT(text, HasSubstr(sample));
  }
}

// The original counts in the handlers of its routes, so not what is refused before one is reached;
// and not the documents of discovery.
TEST_F(ApiServerFixture, WhatReachesNoHandlerOfMetricsIsNotCounted) {
  StartServer();
  EXPECT_EQ(Get(E1 IN_DEFAULT "/q", {{"Authorization", "Bearer unknown"}})->status, 401);
  EXPECT_EQ(Get(E1 IN_DEFAULT "/q", {{"Impersonate-User", "jane"}})->status, 403);
  EXPECT_EQ(Get(E1 IN_DEFAULT "/q", {{"Accept", "text/html"}})->status, 406);
  EXPECT_EQ(NewClient()->Post(E1 IN_DEFAULT "/q", "", "text/plain")->status, 405);
  for (const char* target :
       {E1 IN_DEFAULT "/q/too/long", E1, "/apis", "/livez/ping", "/version", "/nope"}) {
    ASSERT_TRUE(Get(target)) << target;
  }
  const std::string text = Get("/metrics")->body;
  EXPECT_THAT(text, Not(HasSubstr("apiserver_request_")));
  EXPECT_THAT(text, Not(HasSubstr("apiserver_response_sizes")));
}

// The results are named as in the original, where a user without credentials is a success, and
// where RBAC, which only ever allows, has no opinion when it refuses.
TEST_F(ApiServerFixture, AuthenticationAndAuthorizationAreCountedByTheResultsOfTheOriginal) {
  options_.authorization.mode = AuthorizationMode::kReview;
  std::atomic<const char*> status = R"({"status":{"allowed":true}})";
  kube_->on_access_review = [&](const std::string&) {
    return FakeKubeApi::Json(201, status.load());
  };
  StartServer();
  EXPECT_EQ(Get(E1 IN_DEFAULT "/a")->status, 200);
  EXPECT_EQ(Get(E1 IN_DEFAULT "/b", {{"Authorization", "Bearer unknown"}})->status, 401);
  status = R"({"status":{"allowed":false}})";
  EXPECT_EQ(Get(E1 IN_DEFAULT "/c")->status, 403);
  status = R"({"status":{"allowed":false,"denied":true}})";
  EXPECT_EQ(Get(E1 IN_DEFAULT "/d")->status, 403);
  status = "{";
  EXPECT_EQ(Get(E1 IN_DEFAULT "/e")->status, 500);
  status = R"({"status":{"allowed":true}})";
  const std::string text = Get("/metrics")->body;
  for (const char* sample : {"authentication_attempts{result=\"success\"} 5\n",
                             "authentication_attempts{result=\"error\"} 1\n",
                             "authenticated_user_requests{username=\"other\"} 5\n",
                             "authorization_attempts_total{result=\"allowed\"} 2\n",
                             "authorization_attempts_total{result=\"denied\"} 1\n",
                             "authorization_attempts_total{result=\"no-opinion\"} 1\n",
                             "authorization_attempts_total{result=\"error\"} 1\n"}) {
    EXPECT_THAT(text, HasSubstr(sample));
  }
}

// As in the original, which counts it under the name of the server and in no histogram.
TEST_F(ApiServerFixture, ARefusedRequestIsCountedAloneAndByItsAttributes) {
  options_.limits.max_in_flight = 1;
  absl::Notification asked, release;
  custom_->on_get = [&](const adapter::CustomMetricRequest&) {
    asked.Notify();
    release.WaitForNotification();
  };
  StartServer();
  std::thread first([&] { EXPECT_EQ(Get(C2 IN_DEFAULT "/pods/*/m")->status, 200); });
  asked.WaitForNotification();
  EXPECT_EQ(Get(E1 IN_DEFAULT "/q")->status, 429);
  EXPECT_EQ(Get("/version")->status, 429);
  release.Notify();
  first.join();
  const std::string text = Get("/metrics")->body;
  EXPECT_THAT(text, HasSubstr(Requests("429", "apiserver", "external.metrics.k8s.io", "v1beta1",
                                       "*", "*", "namespace", "LIST", 1)));
  EXPECT_THAT(text, HasSubstr(Requests("429", "apiserver", "", "", "", "", "", "GET", 1)));
  EXPECT_THAT(text,
              Not(HasSubstr("apiserver_request_duration_seconds_count{component=\"external")));
}

}  // namespace
}  // namespace flyball::apiservice
