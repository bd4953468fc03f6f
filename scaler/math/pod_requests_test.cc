#include "scaler/math/pods.h"

#include <gtest/gtest.h>

#include <string>
#include <utility>

namespace flyball::scaler {
namespace {

ResourceList Cpu(const char* amount) { return {{"cpu", *kube::Quantity::Parse(amount)}}; }

Container Asking(const char* name, ResourceList requests, bool sidecar = false) {
  Container container;
  container.name = name;
  container.requests = std::move(requests);
  container.restarts_always = sidecar;
  return container;
}

struct Row {
  std::string name;
  Pod pod;
  RequestQuery query = {.resource = "cpu", .container = "", .rules = {}};
  int64_t milli = 0;
  std::string error = {};  // "" : milli counts
};

class PodRequestTest : public testing::TestWithParam<Row> {};

TEST_P(PodRequestTest, Row) {
  const Row& row = GetParam();
  const auto got = PodRequest(row.pod, row.query);
  if (!row.error.empty()) {
    ASSERT_FALSE(got.ok());
    EXPECT_EQ(got.status().message(), row.error);
    return;
  }
  ASSERT_TRUE(got.ok()) << got.status();
  EXPECT_EQ(*got, row.milli);
}

// app asks for 1, a sidecar for 1, an ordinary init container for 5.
Pod WithInit() {
  Pod pod;
  pod.name = "p1";
  pod.containers = {Asking("app", Cpu("1"))};
  pod.init_containers = {Asking("side", Cpu("1"), true), Asking("setup", Cpu("5"))};
  return pod;
}

Pod WithPodLevel(ResourceList requests) {
  Pod pod = WithInit();
  pod.pod_requests = std::move(requests);
  return pod;
}

Pod WithOverhead(Pod pod) {
  pod.overhead = Cpu("250m");
  return pod;
}

Pod TwoContainers(ResourceList second) {
  Pod pod;
  pod.name = "p1";
  pod.containers = {Asking("app", Cpu("500u")), Asking("log", std::move(second))};
  return pod;
}

const ResourceList kMemory = {{"memory", *kube::Quantity::Parse("1Gi")}};

INSTANTIATE_TEST_SUITE_P(
    Sources, PodRequestTest,
    testing::Values(
        Row{.name = "SidecarsCountOrdinaryInitDoesNot", .pod = WithInit(), .milli = 2000},
        Row{.name = "OverheadDoesNotCount", .pod = WithOverhead(WithInit()), .milli = 2000},
        Row{.name = "PodLevelWins", .pod = WithPodLevel(Cpu("3")), .milli = 3000},
        Row{.name = "OverheadCountsOnPodLevel",
            .pod = WithOverhead(WithPodLevel(Cpu("3"))),
            .milli = 3250},
        // max(1 + 1, 5 + 1): the scheduler's sum.
        Row{.name = "OtherPodLevelResourceGivesTheSchedulersSum",
            .pod = WithPodLevel(kMemory),
            .milli = 6000},
        Row{.name = "NamedContainerIgnoresPodLevel",
            .pod = WithPodLevel(Cpu("3")),
            .query = {.resource = "cpu", .container = "app", .rules = {}},
            .milli = 1000},
        Row{.name = "GateOffIgnoresPodLevel",
            .pod = WithPodLevel(Cpu("3")),
            .query = {.resource = "cpu", .container = "", .rules = {.pod_level = false}},
            .milli = 2000},
        Row{.name = "UnknownContainerAsksForNothing",
            .pod = WithInit(),
            .query = {.resource = "cpu", .container = "gone", .rules = {}},
            .milli = 0},
        // 500u each: rounded up one by one, not together.
        Row{.name = "ContainersRoundOneByOne", .pod = TwoContainers(Cpu("500u")), .milli = 2},
        Row{.name = "EveryContainerMustState",
            .pod = TwoContainers(kMemory),
            .error = "missing request for cpu in container log of Pod p1"},
        Row{.name = "WhatAddsUpToMoreDigitsThanAnyoneReadsIsAnError",
            .pod = WithOverhead(WithPodLevel(Cpu("1e200000000"))),
            .error = "pod-level request for cpu in Pod p1: a sum of quantities has more than "
                     "2000 digits"},
        Row{.name = "NobodyStatesIt",
            .pod = WithPodLevel(kMemory),
            .query = {.resource = "example.com/gpu", .container = "", .rules = {}},
            .error = "missing pod-level request for example.com/gpu in Pod p1"}),
    [](const auto& info) { return info.param.name; });

}  // namespace
}  // namespace flyball::scaler
