#include "doctor/objects.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace flyball::doctor {
namespace {

using testing::ElementsAre;

TEST(ReadApiService, TakesWhoHoldsItAndWhetherItIsAvailable) {
  const auto read = ReadApiService(R"({
    "metadata": {"name": "v1beta1.metrics.k8s.io"},
    "spec": {"group": "metrics.k8s.io", "version": "v1beta1", "caBundle": "UEVN",
             "service": {"namespace": "kube-system", "name": "metrics-server", "port": 4443}},
    "status": {"conditions": [{"type": "Available", "status": "False",
                               "reason": "MissingEndpoints", "message": "none"}]}})");
  ASSERT_TRUE(read.ok()) << read.status();
  EXPECT_EQ(read->group, "metrics.k8s.io");
  EXPECT_EQ(read->service_ns + "/" + read->service_name, "kube-system/metrics-server");
  EXPECT_EQ(read->port, 4443);
  EXPECT_EQ(read->ca_bundle, "PEM");
  EXPECT_TRUE(read->judged);
  EXPECT_FALSE(read->available);
  EXPECT_EQ(read->reason, "MissingEndpoints");
}

TEST(ReadApiService, WithoutAServiceItIsTheApiServersOwn) {
  const auto read = ReadApiService(
      R"({"metadata": {"name": "v1.apps"}, "spec": {"service": null}, "status": {}})");
  ASSERT_TRUE(read.ok());
  EXPECT_EQ(read->service_name, "");
  EXPECT_EQ(read->port, 443);
  EXPECT_FALSE(read->judged);
}

TEST(ReadApiService, FieldsOfAnotherTypeAreLeftOut) {
  const auto read = ReadApiService(R"({"metadata": {"name": "a"}, "spec": [1], "status": "x"})");
  ASSERT_TRUE(read.ok());
  EXPECT_EQ(read->group, "");
  EXPECT_FALSE(ReadApiService("[]").ok());
  EXPECT_FALSE(ReadApiService("{").ok());
  EXPECT_FALSE(ReadApiService("{}").ok());
}

TEST(ReadService, WritesTheSelectorAsKubectlTakesIt) {
  const auto read = ReadService(
      R"({"spec": {"type": "ClusterIP", "clusterIP": "10.0.0.1", "selector": {"b": "2", "a": "1"}}})");
  ASSERT_TRUE(read.ok());
  EXPECT_EQ(read->selector, "a=1,b=2");
}

TEST(ReadEndpoints, AnEndpointThatSaysNothingIsReady) {
  const auto read =
      ReadEndpoints(R"({"endpoints": [{"conditions": {"ready": false}}, {"conditions": {}}, {}]})");
  ASSERT_TRUE(read.ok());
  EXPECT_EQ(read->ready, 2);
}

TEST(ReadServerPod, FindsTheRulesOfTheContainerThatServes) {
  const auto pod = ReadServerPod(R"({
    "metadata": {"namespace": "monitoring", "name": "flyball-1",
      "creationTimestamp": "2026-03-01T10:00:00Z"},
    "spec": {"serviceAccountName": "flyball",
      "containers": [
        {"name": "proxy", "args": ["--listen"]},
        {"name": "flyball", "args": ["serve", "--config", "/etc/adapter/rules.yaml", "--v=2"],
         "volumeMounts": [{"name": "tmp", "mountPath": "/tmp"},
                          {"name": "config", "mountPath": "/etc/adapter/"}]}],
      "volumes": [{"name": "tmp", "emptyDir": {}},
                  {"name": "config", "configMap": {"name": "my-rules",
                     "items": [{"key": "config.yaml", "path": "rules.yaml"}]}}]},
    "status": {"phase": "Running", "conditions": [{"type": "Ready", "status": "False"}],
      "containerStatuses": [{"state": {"waiting": {"reason": "CrashLoopBackOff"}},
                             "lastState": {"terminated": {"message": "cannot start"}}}]}})");
  ASSERT_TRUE(pod.ok()) << pod.status();
  EXPECT_THAT(pod->args, ElementsAre("serve", "--config", "/etc/adapter/rules.yaml", "--v=2"));
  EXPECT_EQ(pod->config_map + "/" + pod->config_key, "my-rules/config.yaml");
  EXPECT_EQ(pod->service_account, "flyball");
  EXPECT_FALSE(pod->ready);
  EXPECT_EQ(pod->trouble, "CrashLoopBackOff: cannot start");
  EXPECT_EQ(pod->created, "2026-03-01T10:00:00Z");
  EXPECT_FALSE(pod->leaving);
}

TEST(ReadServerPod, TellsOneThatIsBeingDeleted) {
  const auto pod = ReadServerPod(R"({"metadata": {"deletionTimestamp": "2026-03-01T10:00:00Z"}})");
  ASSERT_TRUE(pod.ok());
  EXPECT_TRUE(pod->leaving);
}

TEST(ReadServerPod, AFileThatIsNotMountedIsNoConfigMap) {
  const auto pod = ReadServerPod(R"({"spec": {"containers": [{"args": ["--config=/rules.yaml"],
      "volumeMounts": [{"name": "config", "mountPath": "/etc/adapter"}]}]}})");
  ASSERT_TRUE(pod.ok());
  EXPECT_EQ(pod->config_map, "");
}

TEST(ReadConfigKey, TellsAMissingKey) {
  constexpr char kMap[] = R"({"data": {"config.yaml": "rules: []"}})";
  EXPECT_EQ(*ReadConfigKey(kMap, "config.yaml"), "rules: []");
  EXPECT_EQ(ReadConfigKey(kMap, "other").status().code(), absl::StatusCode::kNotFound);
}

TEST(ReadAllowed, AnAnswerWithoutStatusIsNoAnswer) {
  EXPECT_TRUE(*ReadAllowed(R"({"status": {"allowed": true}})"));
  EXPECT_FALSE(*ReadAllowed(R"({"status": {"allowed": false, "denied": true}})"));
  EXPECT_FALSE(ReadAllowed("{}").ok());
}

TEST(ReadMetricValues, TakesBothVersionsAndExternalOnes) {
  const auto items = ReadMetricValues(R"({"items": [
      {"describedObject": {"name": "web-1"}, "timestamp": "2026-03-01T10:00:00Z", "value": "1500m"},
      {"metricName": "q", "timestamp": "x", "value": "2"}]})");
  ASSERT_TRUE(items.ok());
  ASSERT_EQ(items->size(), 2u);
  EXPECT_EQ((*items)[0].object + " " + (*items)[0].value, "web-1 1500m");
  EXPECT_EQ((*items)[0].at, absl::FromCivil(absl::CivilHour(2026, 3, 1, 10), absl::UTCTimeZone()));
  EXPECT_EQ((*items)[1].at, absl::InfinitePast());
}

TEST(ReadPodUsage, AContainerWithoutTheResourceMakesThePodIncomplete) {
  constexpr char kList[] = R"({"items": [{"metadata": {"name": "web-1"},
      "timestamp": "2026-03-01T10:00:00Z", "containers": [
        {"name": "main", "usage": {"cpu": "100m", "memory": "1Mi"}},
        {"name": "side", "usage": {"memory": "2Mi"}}]}]})";
  EXPECT_EQ(ReadPodUsage(kList, "memory", "")->front().value, "1Mi+2Mi");
  EXPECT_TRUE(ReadPodUsage(kList, "memory", "")->front().complete);
  EXPECT_FALSE(ReadPodUsage(kList, "cpu", "")->front().complete);
  EXPECT_TRUE(ReadPodUsage(kList, "cpu", "main")->front().complete);
  EXPECT_FALSE(ReadPodUsage(kList, "cpu", "gone")->front().complete);
}

}  // namespace
}  // namespace flyball::doctor
