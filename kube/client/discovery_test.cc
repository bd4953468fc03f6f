#include "kube/client/discovery.h"

#include <map>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace flyball::kube {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

using Bodies = std::map<std::string, std::string>;

// Answers from a table of paths; what is not in it is 404, "" is a dead server.
class ScriptedServer : public http::HttpTransport {
 public:
  explicit ScriptedServer(Bodies bodies) : bodies_(std::move(bodies)) {}
  absl::StatusOr<http::HttpAnswer> Do(const http::HttpCall& call) override {
    http::HttpAnswer answer;
    const auto found = bodies_.find(call.target);
    if (found != bodies_.end() && found->second.empty()) return absl::UnavailableError("dead");
    answer.status = found == bodies_.end() ? 404 : 200;
    if (found != bodies_.end()) answer.body = found->second;
    return answer;
  }
  absl::Status Stream(const http::HttpCall&,
                      const std::function<bool(absl::string_view)>&) override {
    return absl::UnimplementedError("");
  }
  void Shutdown() override {}

 private:
  const Bodies bodies_;
};

std::vector<std::string> Short(const Discovery& discovery) {
  std::vector<std::string> lines;
  for (const ResourceInfo& info : discovery.resources) {
    lines.push_back(absl::StrCat(info.name.ToString(), " ", info.version, " ", info.kind, " ",
                                 info.singular, info.namespaced ? " ns" : "",
                                 info.listable ? " list" : "", info.watchable ? " watch" : "",
                                 info.scalable ? " scale" : ""));
  }
  return lines;
}

TEST(DiscoverTest, AggregatedDocumentsTakeTwoRequests) {
  ScriptedServer server(Bodies{
      {"/api", R"({"kind":"APIGroupDiscoveryList","items":[{"metadata":{},"versions":[
        {"version":"v1","resources":[
          {"resource":"pods","responseKind":{"kind":"Pod"},"scope":"Namespaced",
           "singularResource":"pod","verbs":["get","list","watch"],
           "subresources":[{"subresource":"log","verbs":["get"]}]},
          {"resource":"nodes","responseKind":{"kind":"Node"},"scope":"Cluster",
           "singularResource":"node","verbs":["list"]},
          {"resource":"sets","responseKind":{"kind":"Set"},"scope":"Namespaced","verbs":[],
           "subresources":[{"subresource":"status"},{"subresource":"scale"}]}]}]}]})"},
      {"/apis", R"({"kind":"APIGroupDiscoveryList","items":[
        {"metadata":{"name":"autoscaling"},"versions":[
          {"version":"v2","resources":[{"resource":"a","responseKind":{"kind":"A"},"scope":
            "Namespaced","verbs":[]}]},
          {"version":"v1","resources":[{"resource":"a","responseKind":{"kind":"OldA"}},
            {"resource":"b","responseKind":{"kind":"B"},"scope":"Namespaced"}]}]},
        {"metadata":{"name":"dead.io"},"versions":[{"version":"v1","freshness":"Stale"}]},
        {"metadata":{"name":"custom.metrics.k8s.io"},"versions":[
          {"version":"v1beta2","freshness":"Stale"}]}]})"},
  });
  const auto got = Discover(server, Clock::System(), absl::Seconds(5));
  ASSERT_TRUE(got.ok()) << got.status();
  EXPECT_THAT(Short(*got), ElementsAre("pods v1 Pod pod ns list watch", "nodes v1 Node node list",
                                       "sets v1 Set  ns scale", "a.autoscaling v2 A  ns",
                                       "b.autoscaling v1 B  ns"));
  EXPECT_THAT(got->problems, ElementsAre("dead.io/v1: its API server does not answer"));
}

// As in client-go: a label that has the name of such a parent means no object.
TEST(DiscoverTest, WhatHasOnlySubresourcesIsNoResource) {
  ScriptedServer server(Bodies{
      {"/api", R"({"kind":"APIGroupDiscoveryList","items":[]})"},
      {"/apis", R"({"kind":"APIGroupDiscoveryList","items":[
        {"metadata":{"name":"sub.example"},"versions":[{"version":"v1","resources":[
          {"resource":"machines","responseKind":{"group":"","version":"","kind":""},
           "scope":"Namespaced","verbs":[],"subresources":[{"subresource":"start",
             "responseKind":{"kind":"Machine"},"verbs":["update"]}]},
          {"resource":"discs","responseKind":null,"scope":"Namespaced"},
          {"resource":"boards","responseKind":{"kind":"Board"},"scope":"Namespaced"}]}]}]})"},
  });
  const auto got = Discover(server, Clock::System(), absl::Seconds(5));
  ASSERT_TRUE(got.ok()) << got.status();
  EXPECT_THAT(Short(*got), ElementsAre("boards.sub.example v1 Board  ns"));
}

TEST(DiscoverTest, MetricsAreNoResources) {
  ScriptedServer aggregated(Bodies{
      {"/api", R"({"kind":"APIGroupDiscoveryList","items":[]})"},
      {"/apis", R"({"kind":"APIGroupDiscoveryList","items":[
        {"metadata":{"name":"external.metrics.k8s.io"},"versions":[{"version":"v1beta1","resources":[
          {"resource":"instance","responseKind":{"kind":"ExternalMetricValueList"},
           "scope":"Namespaced","verbs":["get"]}]}]},
        {"metadata":{"name":"custom.metrics.k8s.io"},"versions":[{"version":"v1beta2","resources":[
          {"resource":"jobs.batch","responseKind":{"kind":""},"scope":"Namespaced","verbs":[],
           "subresources":[{"subresource":"rps","verbs":["get"]}]}]}]},
        {"metadata":{"name":"metrics.k8s.io"},"versions":[{"version":"v1beta1","resources":[
          {"resource":"nodes","responseKind":{"kind":"NodeMetrics"},"scope":"Cluster",
           "verbs":["list"]}]}]}]})"},
  });
  const auto one = Discover(aggregated, Clock::System(), absl::Seconds(5));
  ASSERT_TRUE(one.ok()) << one.status();
  EXPECT_THAT(Short(*one), ElementsAre("nodes.metrics.k8s.io v1beta1 NodeMetrics  list"));

  ScriptedServer older(Bodies{
      {"/api", R"({"kind":"APIVersions","versions":[]})"},
      {"/apis", R"({"kind":"APIGroupList","groups":[
        {"name":"external.metrics.k8s.io","versions":[{"version":"v1beta1"}]}]})"},
      {"/apis/external.metrics.k8s.io/v1beta1", R"({"kind":"APIResourceList","resources":[
        {"name":"instance","namespaced":true,"kind":"ExternalMetricValueList","verbs":["get"]}]})"},
  });
  const auto other = Discover(older, Clock::System(), absl::Seconds(5));
  ASSERT_TRUE(other.ok()) << other.status();
  EXPECT_THAT(Short(*other), IsEmpty());
}

TEST(DiscoverTest, OlderServersAreAskedForEachVersion) {
  ScriptedServer server(Bodies{
      {"/api", R"({"kind":"APIVersions","versions":["v1"]})"},
      {"/api/v1", R"({"kind":"APIResourceList","resources":[
        {"name":"pods","singularName":"","namespaced":true,"kind":"Pod","verbs":["list","watch"]},
        {"name":"pods/log","namespaced":true,"kind":"Pod","verbs":["get"]}]})"},
      {"/apis", R"({"kind":"APIGroupList","groups":[
        {"name":"apps","versions":[{"version":"v1beta1"},{"version":"v1"}],
         "preferredVersion":{"version":"v1"}},
        {"name":"metrics.k8s.io","versions":[{"version":"v1beta1"}],
         "preferredVersion":{"version":"v1beta1"}},
        {"name":"dead.io","versions":[{"version":"v1"}],"preferredVersion":{"version":"v1"}}]})"},
      {"/apis/apps/v1", R"({"kind":"APIResourceList","resources":[
        {"name":"deployments","singularName":"deployment","namespaced":true,"kind":"Deployment",
         "verbs":["list"]},
        {"name":"deployments/scale","namespaced":true,"kind":"Scale","verbs":["get"]}]})"},
      {"/apis/apps/v1beta1", R"({"kind":"APIResourceList","resources":[
        {"name":"deployments","namespaced":true,"kind":"Deployment","verbs":[]},
        {"name":"old","namespaced":false,"kind":"Old","verbs":[]}]})"},
  });
  const auto got = Discover(server, Clock::System(), absl::Seconds(5));
  ASSERT_TRUE(got.ok()) << got.status();
  EXPECT_THAT(Short(*got), ElementsAre("pods v1 Pod  ns list watch",
                                       "deployments.apps v1 Deployment deployment ns list scale",
                                       "old.apps v1beta1 Old "));
  ASSERT_EQ(got->problems.size(), 1u);
  EXPECT_THAT(got->problems[0], HasSubstr("/apis/dead.io/v1"));
}

// Of what is kept only what belongs to a version that did not answer, in the place of that version.
TEST(DiscoverTest, WhatCannotBeAskedIsAsItWas) {
  const auto info = [](absl::string_view version, absl::string_view resource,
                       absl::string_view group) {
    ResourceInfo made;
    made.name = {.group = std::string(group), .resource = std::string(resource)};
    made.version = std::string(version);
    return made;
  };
  const std::vector<ResourceInfo> former = {info("v1", "pods", ""), info("v1", "gone", "apps"),
                                            info("v1", "things", "dead.io"),
                                            info("v1", "things", "custom.metrics.k8s.io")};
  const auto shown = [&former](Bodies bodies) {
    ScriptedServer server(std::move(bodies));
    const auto got = Discover(server, Clock::System(), absl::Seconds(5), former);
    return got.ok() ? Short(*got) : std::vector<std::string>{std::string(got.status().message())};
  };
  const std::vector<std::string> wanted = {"pods v1   ns list watch scale", "a.apps v1 A  ns",
                                           "things.dead.io v1   ns list watch scale"};
  EXPECT_EQ(shown({{"/api", R"({"kind":"APIVersions","versions":["v1"]})"},
                   {"/api/v1", ""},
                   {"/apis", R"({"kind":"APIGroupList","groups":[
                     {"name":"apps","versions":[{"version":"v1"}]},
                     {"name":"dead.io","versions":[{"version":"v1"}]},
                     {"name":"custom.metrics.k8s.io","versions":[{"version":"v1"}]}]})"},
                   {"/apis/apps/v1", R"({"kind":"APIResourceList","resources":[
                     {"name":"a","namespaced":true,"kind":"A"}]})"}}),
            wanted);
  EXPECT_EQ(shown({{"/api", R"({"kind":"APIGroupDiscoveryList","items":[{"metadata":{},"versions":[
                     {"version":"v1","freshness":"Stale"}]}]})"},
                   {"/apis", R"({"kind":"APIGroupDiscoveryList","items":[
                     {"metadata":{"name":"apps"},"versions":[{"version":"v1","resources":[
                       {"resource":"a","responseKind":{"kind":"A"},"scope":"Namespaced"}]}]},
                     {"metadata":{"name":"dead.io"},"versions":[
                       {"version":"v1","freshness":"Stale"}]}]})"}}),
            wanted);
}

TEST(DiscoverTest, DeadOrForeignServerIsAnError) {
  ScriptedServer dead(Bodies{{"/api", ""}});
  EXPECT_EQ(Discover(dead, Clock::System(), absl::Seconds(5)).status().code(),
            absl::StatusCode::kUnavailable);
  ScriptedServer empty(Bodies{});
  EXPECT_EQ(Discover(empty, Clock::System(), absl::Seconds(5)).status().code(),
            absl::StatusCode::kNotFound);
  for (const char* body : {"<html>", "[]", "{}", R"({"kind":"APIGroupList","groups":[1,null]})"}) {
    ScriptedServer foreign(Bodies{{"/api", body}});
    EXPECT_FALSE(Discover(foreign, Clock::System(), absl::Seconds(5)).ok()) << body;
  }
}

}  // namespace
}  // namespace flyball::kube
