#include "adapter/live/discovery/kubernetes_facts.h"

#include <gtest/gtest.h>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "adapter/live/scrape/targets.h"

namespace flyball::discovery {
namespace {

using promql::LabelSet;
using promql::LabelValue;

constexpr char kPod[] = R"({"metadata": {"name": "web-1", "namespace": "shop", "uid": "u",
  "labels": {"app.kubernetes.io/name": "web"}, "annotations": {"prometheus.io/scrape": "true"},
  "ownerReferences": [{"kind": "ReplicaSet", "name": "web", "controller": true}]},
  "spec": {"nodeName": "n1", "containers": [
    {"name": "app", "image": "i", "ports": [{"name": "http", "containerPort": 80},
                                            {"containerPort": 9102}]},
    {"name": "side"}], "initContainers": [{"name": "init"}]},
  "status": {"podIP": "10.0.0.1", "hostIP": "10.1.0.1", "phase": "Running",
    "conditions": [{"type": "Ready", "status": "True"}],
    "containerStatuses": [{"name": "app", "containerID": "containerd://1"}]}})";

constexpr char kNode[] = R"({"metadata": {"name": "n1", "labels": {"zone": "a"}},
  "spec": {"providerID": "p"},
  "status": {"addresses": [{"type": "Hostname", "address": "h"},
                           {"type": "InternalIP", "address": "10.1.0.1"}],
    "conditions": [{"type": "Ready", "status": "True"}],
    "daemonEndpoints": {"kubeletEndpoint": {"Port": 10250}}}})";

constexpr char kEndpoints[] = R"({"metadata": {"name": "web", "namespace": "shop"},
  "subsets": [{"addresses": [{"ip": "10.0.0.1", "nodeName": "n1",
                              "targetRef": {"kind": "Pod", "name": "web-1", "namespace": "shop"}}],
               "notReadyAddresses": [{"ip": "10.0.0.9"}],
               "ports": [{"name": "http", "port": 80, "protocol": "TCP"}]}]})";

std::string PodWithContainers(const std::string& first) {
  return absl::StrReplaceAll(kPod, {{R"("containers": [)", R"("containers": [)" + first}});
}

TEST(PodTargetsTest, OneForEachPortAndOneForAContainerWithoutPorts) {
  const auto pod = ReadPod(kPod);
  ASSERT_TRUE(pod.ok());
  const auto group = TargetsOf(*pod, {});
  EXPECT_EQ(group.source, "pod/shop/web-1");
  EXPECT_EQ(group.labels,
            (LabelSet{{"__meta_kubernetes_namespace", "shop"},
                      {"__meta_kubernetes_pod_annotation_prometheus_io_scrape", "true"},
                      {"__meta_kubernetes_pod_annotationpresent_prometheus_io_scrape", "true"},
                      {"__meta_kubernetes_pod_controller_kind", "ReplicaSet"},
                      {"__meta_kubernetes_pod_controller_name", "web"},
                      {"__meta_kubernetes_pod_host_ip", "10.1.0.1"},
                      {"__meta_kubernetes_pod_ip", "10.0.0.1"},
                      {"__meta_kubernetes_pod_label_app_kubernetes_io_name", "web"},
                      {"__meta_kubernetes_pod_labelpresent_app_kubernetes_io_name", "true"},
                      {"__meta_kubernetes_pod_name", "web-1"},
                      {"__meta_kubernetes_pod_node_name", "n1"},
                      {"__meta_kubernetes_pod_phase", "Running"},
                      {"__meta_kubernetes_pod_ready", "true"},
                      {"__meta_kubernetes_pod_uid", "u"}}));
  ASSERT_EQ(group.targets.size(), 4u);
  EXPECT_EQ(group.targets[0], (LabelSet{{"__address__", "10.0.0.1:80"},
                                        {"__meta_kubernetes_pod_container_id", "containerd://1"},
                                        {"__meta_kubernetes_pod_container_image", "i"},
                                        {"__meta_kubernetes_pod_container_init", "false"},
                                        {"__meta_kubernetes_pod_container_name", "app"},
                                        {"__meta_kubernetes_pod_container_port_name", "http"},
                                        {"__meta_kubernetes_pod_container_port_number", "80"},
                                        {"__meta_kubernetes_pod_container_port_protocol", "TCP"}}));
  EXPECT_EQ(LabelValue(group.targets[1], "__address__"), "10.0.0.1:9102");
  EXPECT_EQ(LabelValue(group.targets[2], "__address__"), "10.0.0.1");
  EXPECT_EQ(LabelValue(group.targets[3], "__meta_kubernetes_pod_container_init"), "true");
}

TEST(PodTargetsTest, OnlySoManyAreMadeAndTheOthersCounted) {
  std::string more = R"({"name": "many", "ports": [)";
  for (int port = 1; port <= 40; ++port) {
    absl::StrAppend(&more, port == 1 ? "" : ",", R"({"containerPort": )", port, "}");
  }
  absl::StrAppend(&more, R"(]}, {"name": "last"}, )");
  auto pod = ReadPod(PodWithContainers(more));
  ASSERT_TRUE(pod.ok());
  EXPECT_EQ(TargetsOf(*pod, {}).targets.size(), 45u);
  EXPECT_EQ(TargetsOf(*pod, {}).left_out, 0u);
  KeepForTargets(scrape::AnnotatedPods(absl::Minutes(1)), *pod);
  EXPECT_EQ(pod->containers.size(), 1u);
  const auto group = TargetsOf(*pod, {});
  ASSERT_EQ(group.targets.size(), 32u);
  EXPECT_EQ(LabelValue(group.targets[31], "__address__"), "10.0.0.1:32");
  EXPECT_EQ(group.left_out, 13u);
}

TEST(PodTargetsTest, OfAPodThatAsksOnlyWhatTheRulesReadIsKept) {
  const scrape::Job job = scrape::AnnotatedPods(absl::Minutes(1));
  const auto of_note = [&](char note) {
    auto pod = ReadPod(absl::StrCat(
        R"({"metadata": {"name": "a", "namespace": "shop", "labels": {"app": "web"},)",
        R"( "annotations": {"prometheus.io/scrape": "true", "note": ")", std::string(250'000, note),
        R"("}}, "spec": {"containers": [{"name": "c", "image": "i"}]},)",
        R"( "status": {"podIP": "10.0.0.1", "phase": "Running"}})"));
    EXPECT_TRUE(pod.ok()) << pod.status();
    KeepForTargets(job, *pod);
    return *std::move(pod);
  };
  const PodFacts pod = of_note('x');
  EXPECT_EQ(pod.labels, (LabelSet{{"__meta_kubernetes_pod_annotation_prometheus_io_scrape", "true"},
                                  {"__meta_kubernetes_pod_name", "a"},
                                  {"__meta_kubernetes_pod_phase", "Running"}}));
  EXPECT_EQ(pod.containers.at(0).image, "");
  EXPECT_EQ(pod, of_note('y')) << "a change of other annotations is none";
  EXPECT_EQ(scrape::MakeTargets(job, {TargetsOf(pod, {})}).active.at(0).sample_labels,
            (LabelSet{{"container", "c"},
                      {"instance", "10.0.0.1"},
                      {"job", "annotated-pods"},
                      {"namespace", "shop"},
                      {"pod", "a"}}));
}

TEST(PodTargetsTest, ANodeThatIsNotKnownLeavesItsPodsOut) {
  const auto pod = ReadPod(kPod);
  const auto node = ReadNode(kNode);
  ASSERT_TRUE(pod.ok() && node.ok());
  KnownObjects known;
  known.node = [](const std::string&) { return nullptr; };
  EXPECT_TRUE(TargetsOf(*pod, known).targets.empty());
  known.node = [&](const std::string&) { return &*node; };
  const auto group = TargetsOf(*pod, known);
  EXPECT_EQ(LabelValue(group.labels, "__meta_kubernetes_node_label_zone"), "a");
}

TEST(NodeTargetsTest, TheKubeletAtTheFirstKindOfAddress) {
  const auto node = ReadNode(kNode);
  ASSERT_TRUE(node.ok());
  const auto group = TargetsOf(*node);
  ASSERT_EQ(group.targets.size(), 1u);
  EXPECT_EQ(group.targets[0], (LabelSet{{"__address__", "10.1.0.1:10250"},
                                        {"__meta_kubernetes_node_address_Hostname", "h"},
                                        {"__meta_kubernetes_node_address_InternalIP", "10.1.0.1"},
                                        {"instance", "n1"}}));
  EXPECT_EQ(LabelValue(group.labels, "__meta_kubernetes_node_condition_ready"), "true");
}

TEST(EndpointsTargetsTest, OneObjectHasALimit) {
  std::string addresses, ports;
  for (int i = 0; i < 300; ++i) {
    absl::StrAppend(&addresses, i == 0 ? "" : ",", R"({"ip":"10.0.)", i / 250, ".", i % 250,
                    R"("})");
  }
  for (int i = 0; i < 100; ++i) absl::StrAppend(&ports, i == 0 ? "" : ",", R"({"port":)", i, "}");
  const auto endpoints =
      ReadEndpoints(absl::StrCat(R"({"metadata":{"namespace":"shop","name":"web"},"subsets":[)",
                                 R"({"addresses":[)", addresses, R"(],"ports":[)", ports, "]}]}"));
  ASSERT_TRUE(endpoints.ok()) << endpoints.status();
  KnownObjects known;
  known.service = [](const ObjectName&) { return nullptr; };
  const auto group = TargetsOf(*endpoints, known);
  EXPECT_EQ(group.targets.size(), kMaxEndpoints);
  EXPECT_EQ(group.left_out, 30'000 - kMaxEndpoints);
}

TEST(EndpointsTargetsTest, AddressesWithTheirPodsAndThePortsThatNoEndpointHas) {
  const auto endpoints = ReadEndpoints(kEndpoints);
  const auto pod = ReadPod(kPod);
  const auto service = ReadService(R"({"metadata": {"name": "web", "labels": {"tier": "x"}}})");
  ASSERT_TRUE(endpoints.ok() && pod.ok() && service.ok());
  KnownObjects known;
  known.pod = [&](const ObjectName& name) { return name == pod->object ? &*pod : nullptr; };
  known.service = [&](const ObjectName&) { return &*service; };
  const auto group = TargetsOf(*endpoints, known);
  EXPECT_EQ(LabelValue(group.labels, "__meta_kubernetes_service_label_tier"), "x");
  EXPECT_EQ(LabelValue(group.labels, "__meta_kubernetes_endpoints_name"), "web");
  ASSERT_EQ(group.targets.size(), 3u);
  const LabelSet& ready = group.targets[0];
  EXPECT_EQ(LabelValue(ready, "__address__"), "10.0.0.1:80");
  EXPECT_EQ(LabelValue(ready, "__meta_kubernetes_endpoint_ready"), "true");
  EXPECT_EQ(LabelValue(ready, "__meta_kubernetes_endpoint_address_target_name"), "web-1");
  EXPECT_EQ(LabelValue(ready, "__meta_kubernetes_pod_container_name"), "app");
  EXPECT_EQ(LabelValue(ready, "__meta_kubernetes_pod_name"), "web-1");
  EXPECT_EQ(LabelValue(group.targets[1], "__meta_kubernetes_endpoint_ready"), "false");
  EXPECT_EQ(LabelValue(group.targets[2], "__address__"), "10.0.0.1:9102");
}

TEST(ReadPodTest, AnImageThatIsTooLongIsLeftOut) {
  const auto of_image = [](size_t bytes) {
    return ReadPod(absl::StrCat(
        R"({"metadata": {"name": "a"}, "spec": {"containers": [{"name": "c", "image": ")",
        std::string(bytes, 'i'), R"("}]}})"));
  };
  EXPECT_EQ(of_image(2048)->containers.at(0).image.size(), 2048u);
  EXPECT_EQ(of_image(2049)->containers.at(0).image, "");
}

TEST(ReadPodTest, WhatIsNoObjectIsRefused) {
  EXPECT_FALSE(ReadPod("[]").ok());
  EXPECT_FALSE(ReadPod("{").ok());
  EXPECT_FALSE(ReadPod(R"({"metadata": {"labels": 7}})").ok());
  EXPECT_TRUE(ReadPod(R"({"metadata": {"name": "a", "labels": 7}, "spec": []})").ok());
}

}  // namespace
}  // namespace flyball::discovery
