#include "scaler/stores/pod_owner.h"

#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "scaler/stores/pod_index.h"

namespace flyball::scaler {
namespace {

TEST(PodOwnerTest, ADeploymentOwnsThePodsOfItsReplicaSets) {
  const kube::Labels own = {{"app", "web"}, {"pod-template-hash", "6d5f"}};
  kube::Labels labels = own;
  AddOwners({.kind = "ReplicaSet", .name = "web-6d5f"}, labels);
  EXPECT_EQ(absl::StrJoin(labels, " ", absl::PairFormatter("=")),
            "@deployment=web @replicaset=web-6d5f app=web pod-template-hash=6d5f");
  RemoveOwners(labels);
  EXPECT_EQ(labels, own);
}

TEST(PodOwnerTest, AReplicaSetOfAnotherNameIsNobodys) {
  kube::Labels labels = {{"app", "web"}, {"pod-template-hash", "6d5f"}};
  AddOwners({.kind = "ReplicaSet", .name = "web"}, labels);
  EXPECT_FALSE(labels.contains("@deployment"));
  AddOwners({}, labels);
  EXPECT_EQ(labels.at("@replicaset"), "web");
}

TEST(PodOwnerTest, ARolloutHasReplicaSetsToo) {
  kube::Labels labels = {{"rollouts-pod-template-hash", "77"}};
  AddOwners({.kind = "ReplicaSet", .name = "web-77"}, labels);
  EXPECT_EQ(labels.at("@rollout"), "web");
}

TEST(PodOwnerTest, ATargetMayHaveItsKindInLowerCase) {
  kube::Labels labels;
  AddOwners({.kind = "StatefulSet", .name = "web"}, labels);
  EXPECT_TRUE(OwnedBy("statefulset", "web", {}).Matches(labels));
  EXPECT_EQ(OwnedByText("statefulset", "web", ""), OwnedByText("StatefulSet", "web", ""));
}

// ---- what people met ----

struct GivenPod {
  std::string name;
  kube::Labels labels;
  PodController controller;
};

// The pods of a Deployment, of one ReplicaSet.
std::vector<GivenPod> PodsOf(const std::string& deployment, int count, kube::Labels labels) {
  labels["pod-template-hash"] = "5c9";
  std::vector<GivenPod> pods;
  for (int i = 0; i < count; ++i) {
    pods.push_back({absl::StrCat(deployment, "-5c9-", i),
                    labels,
                    {.kind = "ReplicaSet", .name = absl::StrCat(deployment, "-5c9")}});
  }
  return pods;
}

struct Row {
  std::string name;  // of the test; the number is that of the issue at kubernetes/kubernetes
  std::string deployment, selector;
  std::vector<std::vector<GivenPod>> pods;  // those of the Deployment first
  size_t by_selector, owned;
};

class ForeignPodsTest : public testing::TestWithParam<Row> {};

TEST_P(ForeignPodsTest, OnlyTheOwnOnesCount) {
  const Row& row = GetParam();
  PodIndex index;
  for (const std::vector<GivenPod>& of_one : row.pods) {
    for (const GivenPod& given : of_one) {
      Pod pod;
      pod.ns = "shop";
      pod.name = given.name;
      pod.labels = given.labels;
      AddOwners(given.controller, pod.labels);
      index.Put(pod, "", 1);
    }
  }
  const kube::Selector selector = *kube::Selector::Parse(row.selector);
  const AutoscalerKey plain{.kind = AutoscalerKind::kOwn, .ns = "shop", .name = "plain"};
  const AutoscalerKey strict{.kind = AutoscalerKind::kOwn, .ns = "shop", .name = "strict"};
  const SelectedPods* all = index.Select(plain, selector, row.selector);
  const SelectedPods* own = index.Select(strict, OwnedBy("Deployment", row.deployment, selector),
                                         OwnedByText("Deployment", row.deployment, row.selector));
  EXPECT_EQ(index.View(*all, AutoscalerKind::kOwn, {}, {}).table->size(), row.by_selector);
  const PodView view = index.View(*own, AutoscalerKind::kOwn, {}, {});
  ASSERT_EQ(view.table->size(), row.owned);
  for (size_t i = 0; i < row.owned; ++i) {
    EXPECT_EQ(view.table->Find(row.pods[0][i].name, 0), static_cast<int32_t>(i))
        << row.pods[0][i].name;
  }
  // Whoever takes what has the labels is no rival of one that takes its own.
  EXPECT_EQ(view.rivals->names, std::vector<std::string>{"shop/strict"});
}

const kube::Labels kApp = {{"app", "web"}};
const kube::Labels kChart = {{"app.kubernetes.io/name", "production"},
                             {"app.kubernetes.io/instance", "client-api"}};
kube::Labels With(kube::Labels labels, const std::string& key, const std::string& value) {
  labels[key] = value;
  return labels;
}

INSTANTIATE_TEST_SUITE_P(
    Issues, ForeignPodsTest,
    testing::Values(
        // A dozen Deployments of one team with the one label `app`: 4 pods of more than 50.
        Row{"Issue78761",
            "web",
            "app=web",
            {PodsOf("web", 4, kApp), PodsOf("worker", 30, kApp), PodsOf("mailer", 20, kApp)},
            54,
            4},
        // Two Deployments with the same labels.
        Row{"Issue83878",
            "web",
            "app=web",
            {PodsOf("web", 2, kApp), PodsOf("web2", 3, kApp)},
            5,
            2},
        // A pod of the chart's test, which nobody controls.
        Row{"Issue86151",
            "web",
            "app=web",
            {PodsOf("web", 2, kApp), {{"web-test-connection", kApp, {}}}},
            3,
            2},
        // A second Deployment with one label more, whose containers state no request.
        Row{"Issue107676",
            "mydeploy",
            "app.kubernetes.io/instance=client-api,app.kubernetes.io/name=production",
            {PodsOf("mydeploy", 3, kChart),
             PodsOf("mydeploy-dotnetcounters", 1, With(kChart, "dotnetcounters", "true"))},
            4,
            3},
        // What the Jobs of a CronJob left, with the labels that the chart gives to everything.
        Row{"Issue116339",
            "spring-api",
            "app.kubernetes.io/name=spring-api",
            {PodsOf("spring-api", 2, {{"app.kubernetes.io/name", "spring-api"}}),
             {{"spring-api-cleanup-27987840-x7k2p",
               With({{"app.kubernetes.io/name", "spring-api"}}, "job-name",
                    "spring-api-cleanup-27987840"),
               {.kind = "Job", .name = "spring-api-cleanup-27987840"}},
              {"spring-api-cleanup-27989280-q9wzn",
               With({{"app.kubernetes.io/name", "spring-api"}}, "job-name",
                    "spring-api-cleanup-27989280"),
               {.kind = "Job", .name = "spring-api-cleanup-27989280"}}}},
            4,
            2},
        // A canary whose pods crash.
        Row{"Issue116898",
            "my-app",
            "app=my-app,service=my-service",
            {PodsOf("my-app", 3, {{"app", "my-app"}, {"service", "my-service"}}),
             PodsOf("my-app-canary", 2, {{"app", "my-app"}, {"service", "my-service"}})},
            5,
            3},
        // Pods of a Job and of a Deployment for each region beside it: stuck at its maximum.
        Row{"Issue120875",
            "application-one-ar",
            "app=application-one",
            {PodsOf("application-one-ar", 2, With({{"app", "application-one"}}, "region", "ar")),
             PodsOf("application-one-br", 9, With({{"app", "application-one"}}, "region", "br")),
             {{"migrate-1", {{"app", "application-one"}}, {.kind = "Job", .name = "migrate"}}}},
            12,
            2},
        // Front end and back end of one application.
        Row{"Issue124307",
            "app-frontend",
            "app=app",
            {PodsOf("app-frontend", 2, With({{"app", "app"}}, "app-role", "app-frontend")),
             PodsOf("app-backend", 1, With({{"app", "app"}}, "app-role", "app-backend"))},
            3,
            2}),
    [](const auto& info) { return info.param.name; });

}  // namespace
}  // namespace flyball::scaler
