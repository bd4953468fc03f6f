#include "serve/front/front_slices.h"

#include <gtest/gtest.h>

#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "base/clock.h"
#include "kube/testing/fake_api_server.h"

namespace flyball::serve {
namespace {

constexpr char kFour[] = "/apis/discovery.k8s.io/v1/namespaces/shop/endpointslices/web-flyball-4";
constexpr char kSix[] = "/apis/discovery.k8s.io/v1/namespaces/shop/endpointslices/web-flyball-6";

class FrontSlicesTest : public testing::Test {
 protected:
  void PutService(const std::string& spec) {
    api_.Put(absl::StrCat(R"({"apiVersion":"v1","kind":"Service","metadata":{"namespace":"shop",)",
                          R"("name":"web","uid":"s1"},"spec":)", spec, "}"));
  }
  void PutSlice(const std::string& name, const std::string& labels, const std::string& endpoints) {
    api_.Put(absl::StrCat(R"({"apiVersion":"discovery.k8s.io/v1","kind":"EndpointSlice",)",
                          R"("metadata":{"namespace":"shop","name":")", name, R"(","labels":{)",
                          R"("kubernetes.io/service-name":"web")", labels,
                          R"(}},"addressType":"IPv4","endpoints":)", endpoints, R"(,"ports":[]})"));
  }
  absl::Status WriteEnvoys(const std::vector<FrontSlices::Envoy>& envoys) {
    const auto facts = slices_.Look(kWeb);
    return facts.ok() ? slices_.Write(kWeb, *facts, envoys) : facts.status();
  }
  absl::Status Write(const std::vector<std::string>& ips) {
    std::vector<FrontSlices::Envoy> envoys;
    for (const std::string& ip : ips) envoys.push_back({.ip = ip});
    return WriteEnvoys(envoys);
  }

  const FrontSlices::Target kWeb = {"shop", "web", 20000};
  kube::FakeApiServer api_;
  SimulatedClock clock_{absl::FromUnixSeconds(1700000000)};
  std::unique_ptr<http::HttpTransport> server_ = api_.Connect();
  kube::ApiClient client_{*server_, clock_};
  FrontSlices slices_{client_, *server_};
};

constexpr char kPorts[] = R"({"ports":[{"name":"http","port":80},{"name":"admin","port":81}]})";

TEST_F(FrontSlicesTest, LeadToTheEnvoysOnThePortOfTheService) {
  PutService(kPorts);
  ASSERT_TRUE(Write({"10.0.0.1", "10.0.0.2"}).ok());
  const std::string slice = api_.Get(kFour);
  for (const char* const part :
       {R"("addresses":["10.0.0.1"])", R"("addresses":["10.0.0.2"])", R"("name":"http")",
        R"("name":"admin")", R"("port":20000)", R"("kubernetes.io/service-name":"web")",
        R"("endpointslice.kubernetes.io/managed-by":"flyball.dev")", R"("addressType":"IPv4")",
        R"("uid":"s1")"}) {
    EXPECT_TRUE(absl::StrContains(slice, part)) << part << "\n" << slice;
  }
  EXPECT_EQ(api_.Get(kSix), "");
}

TEST_F(FrontSlicesTest, FollowTheEnvoys) {
  PutService(kPorts);
  ASSERT_TRUE(Write({"10.0.0.1"}).ok());
  const std::string before = api_.Get(kFour);
  ASSERT_TRUE(Write({"10.0.0.1"}).ok());
  EXPECT_EQ(api_.Get(kFour), before);  // nothing is written
  EXPECT_EQ(api_.CountRequests("GET", "/endpointslices/"), 0) << "the list has them";
  ASSERT_TRUE(Write({"10.0.0.3"}).ok());
  EXPECT_FALSE(absl::StrContains(api_.Get(kFour), "10.0.0.1"));
  EXPECT_TRUE(absl::StrContains(api_.Get(kFour), "10.0.0.3"));
  ASSERT_TRUE(Write({}).ok());
  EXPECT_TRUE(absl::StrContains(api_.Get(kFour), R"("endpoints":[])"));
}

// kube-proxy takes an endpoint without a node for one of another node, so a Service whose traffic
// is to stay on the caller's node would lead nowhere.
TEST_F(FrontSlicesTest, SayOnWhichNodeAnEnvoyIs) {
  PutService(kPorts);
  ASSERT_TRUE(WriteEnvoys({{.ip = "10.0.0.1", .node = "n1"}, {.ip = "10.0.0.2"}}).ok());
  const auto nodes = [this] {
    std::vector<std::string> found;
    const auto slice = nlohmann::json::parse(api_.Get(kFour));
    for (const auto& endpoint : slice["endpoints"]) {
      found.push_back(endpoint.value("nodeName", "-"));
    }
    return found;
  };
  EXPECT_EQ(nodes(), std::vector<std::string>({"n1", "-"}));
  ASSERT_TRUE(WriteEnvoys({{.ip = "10.0.0.1", .node = "n2"}, {.ip = "10.0.0.2"}}).ok());
  EXPECT_EQ(nodes(), std::vector<std::string>({"n2", "-"}));
}

TEST_F(FrontSlicesTest, EachVersionOfIpHasItsOwn) {
  PutService(kPorts);
  ASSERT_TRUE(Write({"10.0.0.1", "fd00::1"}).ok());
  EXPECT_FALSE(absl::StrContains(api_.Get(kFour), "fd00::1"));
  EXPECT_TRUE(absl::StrContains(api_.Get(kSix), R"("addresses":["fd00::1"])"));
}

TEST_F(FrontSlicesTest, AServiceWithASelectorIsLeftAlone) {
  PutService(R"({"selector":{"app":"web"},"ports":[{"port":80}]})");
  const absl::Status status = Write({"10.0.0.1"});
  EXPECT_EQ(status.code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_TRUE(absl::StrContains(status.message(), "has a selector")) << status;
  EXPECT_EQ(api_.Get(kFour), "");
}

TEST_F(FrontSlicesTest, WhatSomebodyElseWritesIsLeftAlone) {
  PutService(kPorts);
  PutSlice("web-abc", R"(,"endpointslice.kubernetes.io/managed-by":"other.example")",
           R"([{"addresses":["10.9.9.9"]}])");
  const absl::Status status = Write({"10.0.0.1"});
  EXPECT_EQ(status.code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_TRUE(absl::StrContains(status.message(), "other.example")) << status;
  EXPECT_EQ(api_.Get(kFour), "");
  // One that leads nowhere is in nobody's way.
  PutSlice("web-abc", "", "[]");
  EXPECT_TRUE(Write({"10.0.0.1"}).ok());
}

// All that are read are in memory at once, and each may be long.
TEST_F(FrontSlicesTest, AServiceWithTooManyIsLeftAlone) {
  PutService(kPorts);
  for (int i = 0; i < 15; ++i) PutSlice(absl::StrCat("web-", i), "", "[]");
  EXPECT_TRUE(Write({"10.0.0.1"}).ok());
  PutSlice("web-15", "", "[]");
  const absl::Status status = Write({"10.0.0.2"});
  EXPECT_TRUE(absl::IsFailedPrecondition(status)) << status;
  EXPECT_EQ(status.message(), "Service web has more than 16 EndpointSlices");
}

TEST_F(FrontSlicesTest, ASliceOfThatNameWhichIsNotOursStays) {
  PutService(kPorts);
  PutSlice("web-flyball-4", "", "[]");
  EXPECT_EQ(Write({"10.0.0.1"}).code(), absl::StatusCode::kFailedPrecondition);
  api_.Patch(kFour, R"({"metadata":{"labels":{"kubernetes.io/service-name":"other"}}})");
  EXPECT_EQ(Write({"10.0.0.1"}).message(),
            "EndpointSlice web-flyball-4 is there and not Flyball's");
}

TEST_F(FrontSlicesTest, OneWithoutTheLabelOfItsServiceGetsItBack) {
  PutService(kPorts);
  ASSERT_TRUE(Write({"10.0.0.1"}).ok());
  api_.Patch(kFour, R"({"metadata":{"labels":{"kubernetes.io/service-name":null}}})");
  EXPECT_TRUE(Write({"10.0.0.1"}).ok());
  EXPECT_TRUE(absl::StrContains(api_.Get(kFour), R"("kubernetes.io/service-name":"web")"));
}

TEST_F(FrontSlicesTest, OneThatAnotherReplicaMakesMeanwhileIsTaken) {
  PutService(kPorts);
  api_.OnRequest([&](const http::HttpCall& call) {
    if (call.method != "POST") return;
    PutSlice("web-flyball-4", R"(,"endpointslice.kubernetes.io/managed-by":"flyball.dev")", "[]");
  });
  EXPECT_TRUE(Write({"10.0.0.1"}).ok());
  EXPECT_TRUE(absl::StrContains(api_.Get(kFour), "10.0.0.1"));
  api_.OnRequest(nullptr);
}

TEST_F(FrontSlicesTest, WithoutAServiceThereIsNothingToLead) {
  EXPECT_EQ(Write({"10.0.0.1"}).code(), absl::StatusCode::kNotFound);
}

TEST_F(FrontSlicesTest, TheProtocolOfTheFirstPortCounts) {
  PutService(R"({"ports":[{"port":80,"appProtocol":"kubernetes.io/h2c"}]})");
  EXPECT_EQ(slices_.Look(kWeb)->h2c, true);
  ASSERT_TRUE(Write({"10.0.0.1"}).ok());
  EXPECT_TRUE(absl::StrContains(api_.Get(kFour), R"("appProtocol":"kubernetes.io/h2c")"));
  EXPECT_TRUE(slices_.List("")->at(0).h2c);
  PutService(kPorts);
  EXPECT_EQ(slices_.Look(kWeb)->h2c, false);
  ASSERT_TRUE(Write({"10.0.0.1"}).ok());
  EXPECT_FALSE(slices_.List("shop")->at(0).h2c);
}

// Else whoever may create slices could make the list of all longer than one answer may be.
TEST_F(FrontSlicesTest, AreListedWhateverTheLengthOfAllIs) {
  size_t limit = 0;
  api_.OnRequest([&](const http::HttpCall& call) { limit = call.max_body_bytes; });
  EXPECT_TRUE(slices_.List("").ok());
  EXPECT_GT(limit, http::HttpCall().max_body_bytes);
  limit = 0;
  EXPECT_TRUE(slices_.Empty("shop", {20000}).ok());
  EXPECT_GT(limit, http::HttpCall().max_body_bytes);
}

TEST_F(FrontSlicesTest, OnlyThoseThatLeadToThePortAreEmptied) {
  PutService(kPorts);
  ASSERT_TRUE(Write({"10.0.0.1", "fd00::1"}).ok());
  // One of the cluster, which leads to pods, while its Service is led to the Envoys.
  PutSlice("web-abc", R"(,"endpointslice.kubernetes.io/managed-by":"flyball.dev")",
           R"([{"addresses":["10.9.9.9"]}])");
  EXPECT_EQ(slices_.List("shop")->size(), 2u);
  EXPECT_TRUE(slices_.List("other")->empty());
  const std::string before = api_.Get(kFour);
  EXPECT_TRUE(slices_.Empty("shop", {20001}).ok());
  EXPECT_TRUE(slices_.Empty("other", {20000}).ok());
  EXPECT_EQ(api_.Get(kFour), before);
  EXPECT_TRUE(slices_.Empty("shop", {20000}).ok());
  for (const char* const path : {kFour, kSix}) {
    EXPECT_TRUE(absl::StrContains(api_.Get(path), R"("endpoints":[])")) << api_.Get(path);
  }
  for (const FrontSlices::Written& slice : *slices_.List("shop")) {
    EXPECT_EQ(slice.target.port, 20000);
    EXPECT_FALSE(slice.leads);
  }
}

// As its new owner may do.
TEST_F(FrontSlicesTest, OneThatLeadsToAnotherPortSinceTheListIsNotEmptied) {
  PutService(kPorts);
  ASSERT_TRUE(Write({"10.0.0.1"}).ok());
  const std::string moved = absl::StrReplaceAll(api_.Get(kFour), {{":20000", ":20001"}});
  api_.OnRequest([&](const http::HttpCall& call) {
    if (call.method == "GET" && call.target == kFour) api_.Put(moved);
  });
  EXPECT_TRUE(slices_.Empty("shop", {20000}).ok());
  const FrontSlices::Written slice = slices_.List("shop")->at(0);
  EXPECT_EQ(slice.target.port, 20001);
  EXPECT_TRUE(slice.leads);
}

}  // namespace
}  // namespace flyball::serve
