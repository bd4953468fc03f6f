#include "apiservice/wire/discovery.h"

#include <gtest/gtest.h>

namespace flyball::apiservice::wire {
namespace {

const ApiResource kQueueLength = {"pods/queue_len", true, "MetricValueList", {"get"}};

TEST(ApiResourceListTest, OneLine) {
  EXPECT_EQ(
      ApiResourceListJson("custom.metrics.k8s.io/v1beta2", {kQueueLength}),
      R"({"kind":"APIResourceList","apiVersion":"v1","groupVersion":"custom.metrics.k8s.io/v1beta2",)"
      R"("resources":[{"name":"pods/queue_len","singularName":"","namespaced":true,)"
      R"("kind":"MetricValueList","verbs":["get"]}]})"
      "\n");
  EXPECT_EQ(ApiResourceListJson("a/v1", {}),
            "{\"kind\":\"APIResourceList\",\"apiVersion\":\"v1\",\"groupVersion\":\"a/v1\","
            "\"resources\":[]}\n");
}

TEST(ApiGroupTest, FirstVersionIsPreferred) {
  EXPECT_EQ(
      ApiGroupJson({"custom.metrics.k8s.io", {{"v1beta2", {}}, {"v1beta1", {}}}}),
      R"({"kind":"APIGroup","apiVersion":"v1","name":"custom.metrics.k8s.io","versions":[)"
      R"({"groupVersion":"custom.metrics.k8s.io/v1beta2","version":"v1beta2"},)"
      R"({"groupVersion":"custom.metrics.k8s.io/v1beta1","version":"v1beta1"}],)"
      R"("preferredVersion":{"groupVersion":"custom.metrics.k8s.io/v1beta2","version":"v1beta2"}})"
      "\n");
}

// As prometheus-adapter 0.12.0 prints them, which is not told its own host. A group alone and
// aggregated discovery have no address.
TEST(ApiGroupListTest, GroupsHaveTheAddressOfTheServer) {
  const std::vector<DiscoveryGroup> groups = {{"metrics.k8s.io", {{"v1beta1", {}}}}};
  EXPECT_EQ(
      ApiGroupListJson(groups, ":6443"),
      R"({"kind":"APIGroupList","apiVersion":"v1","groups":[{"name":"metrics.k8s.io","versions":[)"
      R"({"groupVersion":"metrics.k8s.io/v1beta1","version":"v1beta1"}],)"
      R"("preferredVersion":{"groupVersion":"metrics.k8s.io/v1beta1","version":"v1beta1"},)"
      R"("serverAddressByClientCIDRs":[{"clientCIDR":"0.0.0.0/0","serverAddress":":6443"}]}]})"
      "\n");
  EXPECT_NE(ApiGroupListProtobuf(groups, ":6443").find("\"\x12\n\t0.0.0.0/0\x12\x05:6443"),
            std::string::npos);
}

TEST(ApiGroupDiscoveryListTest, MetricsAreSubresourcesOfTheirResource) {
  const DiscoveryGroup custom = {"custom.metrics.k8s.io", {{"v1beta2", {kQueueLength}}}};
  const DiscoveryGroup metrics = {
      "metrics.k8s.io", {{"v1beta1", {{"nodes", false, "NodeMetrics", {"get", "list"}}}}}};
  EXPECT_EQ(
      ApiGroupDiscoveryListJson("v2", {custom, metrics}),
      R"({"kind":"APIGroupDiscoveryList","apiVersion":"apidiscovery.k8s.io/v2","metadata":{},"items":[)"
      R"({"metadata":{"name":"custom.metrics.k8s.io","creationTimestamp":null},"versions":[{"version":"v1beta2",)"
      R"("freshness":"Current","resources":[{"resource":"pods","responseKind":{"group":"","version":"","kind":""},)"
      R"("scope":"Namespaced","singularResource":"","verbs":[],"subresources":[{"subresource":"queue_len",)"
      R"("responseKind":{"group":"","version":"","kind":"MetricValueList"},"verbs":["get"]}]}]}]},)"
      R"({"metadata":{"name":"metrics.k8s.io","creationTimestamp":null},"versions":[{"version":"v1beta1",)"
      R"("freshness":"Current","resources":[{"resource":"nodes","responseKind":{"group":"","version":"","kind":"NodeMetrics"},)"
      R"("scope":"Cluster","singularResource":"","verbs":["get","list"]}]}]}]})"
      "\n");
}

}  // namespace
}  // namespace flyball::apiservice::wire
