#include "serve/front/carried_pod.h"

#include <gtest/gtest.h>

#include "absl/strings/str_cat.h"

namespace flyball::serve {
namespace {

std::string PodJson(const std::string& container, const std::string& status,
                    const std::string& metadata = "") {
  return absl::StrCat(R"({"apiVersion":"v1","kind":"Pod","metadata":{"name":"web-1","uid":"u1",)",
                      R"("labels":{"app":"web"})", metadata, R"(},"spec":{"containers":[)",
                      container, R"(]},"status":)", status, "}");
}

constexpr char kContainer[] =
    R"({"name":"web","ports":[{"name":"http","containerPort":8080},{"containerPort":9090}]})";
constexpr char kReady[] =
    R"({"phase":"Running","podIP":"10.0.0.7","conditions":[{"type":"Ready","status":"True"}]})";

CarriedPod Read(const std::string& json) {
  const absl::StatusOr<CarriedPod> pod = ReadCarriedPod(json);
  EXPECT_TRUE(pod.ok()) << pod.status();
  return pod.value_or(CarriedPod());
}

// How a container with that probe is asked.
std::optional<ReadinessCheck> CheckOf(const std::string& probe) {
  return Read(PodJson(absl::StrCat(R"({"name":"web",)", probe, "}"), kReady)).check;
}

TEST(CarriedPodTest, IsReadAndReached) {
  const CarriedPod pod = Read(PodJson(kContainer, kReady));
  EXPECT_EQ(pod.uid, "u1");
  EXPECT_TRUE(pod.running && pod.ready && !pod.deleting);
  EXPECT_EQ(AddressOf(pod, "80"), "10.0.0.7:80");
  EXPECT_EQ(AddressOf(pod, "http"), "10.0.0.7:8080");
  EXPECT_EQ(AddressOf(pod, "grpc"), "");
  EXPECT_EQ(ViewOf(pod, "http").address, "10.0.0.7:8080");
}

TEST(CarriedPodTest, IsOnANodeOnceItIsScheduled) {
  const auto pod = [](const std::string& spec) {
    return Read(absl::StrCat(R"({"metadata":{"name":"web-1"},"spec":)", spec, "}"));
  };
  EXPECT_EQ(ViewOf(pod(R"({"nodeName":"n1"})"), "80").node, "n1");
  EXPECT_EQ(ViewOf(pod("{}"), "80").node, "");
}

TEST(CarriedPodTest, OfVersionSixHasBrackets) {
  const CarriedPod pod = Read(PodJson(kContainer, R"({"phase":"Running","podIP":"fd00::7"})"));
  EXPECT_EQ(AddressOf(pod, "80"), "[fd00::7]:80");
  EXPECT_FALSE(pod.ready);
}

TEST(CarriedPodTest, HasNoAddressBeforeItHasAnIp) {
  const CarriedPod pod = Read(PodJson(kContainer, R"({"phase":"Pending"})"));
  EXPECT_EQ(AddressOf(pod, "80"), "");
  EXPECT_FALSE(pod.running);
}

TEST(CarriedPodTest, LeavesAsSoonAsItIsDeleted) {
  EXPECT_TRUE(
      Read(PodJson(kContainer, kReady, R"(,"deletionTimestamp":"2026-01-01T00:00:00Z")")).deleting);
}

TEST(CarriedPodTest, IsNotReadyOnceItHasEnded) {
  EXPECT_FALSE(Read(PodJson(kContainer, R"({"phase":"Succeeded","podIP":"10.0.0.7",)"
                                        R"("conditions":[{"type":"Ready","status":"True"}]})"))
                   .ready);
}

CarriedPod WithContainers(const std::string& statuses) {
  return Read(PodJson(kContainer,
                      absl::StrCat(R"({"phase":"Running","podIP":"10.0.0.7",)", statuses, "}")));
}

TEST(CarriedPodTest, RunsWhileEachOfItsContainersDoes) {
  const std::string web = R"("containerStatuses":[{"name":"web","restartCount":2,)"
                          R"("state":{"running":{"startedAt":"2026-01-01T00:00:00Z"}}})";
  EXPECT_TRUE(WithContainers(web + "]").running);
  EXPECT_EQ(WithContainers(web + "]").restarts, 2);
  const std::string waits = R"({"name":"more","restartCount":5,)"
                            R"("state":{"waiting":{"reason":"CrashLoopBackOff"}}})";
  EXPECT_FALSE(WithContainers(web + "," + waits + "]").running);
  EXPECT_EQ(WithContainers(web + "," + waits + "]").restarts, 7);
  EXPECT_FALSE(WithContainers(web + R"(,{"state":{"terminated":{"exitCode":1}}}])").running);
  // Init containers have ended, or go on beside the others.
  EXPECT_TRUE(WithContainers(web + R"(],"initContainerStatuses":[{"state":{"terminated":{}}},)"
                                   R"({"state":{"waiting":{}}}])")
                  .running);
  // What reports no states has the phase alone.
  EXPECT_TRUE(WithContainers(R"("containerStatuses":[{"name":"web","ready":true}])").running);
}

TEST(CarriedPodTest, ProbesThatCanBeAskedFromHere) {
  using Kind = ReadinessCheck::Kind;
  EXPECT_EQ(CheckOf(R"("image":"i")"), ReadinessCheck());
  EXPECT_EQ(CheckOf(R"("readinessProbe":{"tcpSocket":{"port":"http"}})"),
            (ReadinessCheck{.port = "http"}));
  EXPECT_EQ(CheckOf(R"("readinessProbe":{"httpGet":{"path":"up","port":8081}})"),
            (ReadinessCheck{.kind = Kind::kHttpGet, .port = "8081", .path = "/up"}));
  EXPECT_EQ(CheckOf(R"("readinessProbe":{"httpGet":{"port":1,"httpHeaders":[{"name":"Host",)"
                    R"("value":"a.example"}]}})"),
            (ReadinessCheck{.kind = Kind::kHttpGet, .port = "1", .host = "a.example"}));
}

TEST(CarriedPodTest, ProbesThatOnlyTheKubeletCanAsk) {
  for (const char* const probe :
       {R"("readinessProbe":{"exec":{"command":["true"]}})",
        R"("readinessProbe":{"grpc":{"port":1}})",
        R"("readinessProbe":{"httpGet":{"port":1,"scheme":"HTTPS"}})",
        R"("readinessProbe":{"httpGet":{"port":1,"httpHeaders":[{"name":"X","value":"1"}]}})",
        R"("startupProbe":{"tcpSocket":{"port":1}})",
        R"("readinessProbe":{"tcpSocket":{"port":1},"successThreshold":3})",
        R"("readinessProbe":{"tcpSocket":{"port":1,"host":"1.2.3.4"}})"}) {
    EXPECT_FALSE(CheckOf(probe).has_value()) << probe;
  }
}

TEST(CarriedPodTest, OfSeveralContainersTheOneWithAProbeIsAsked) {
  const std::string probed =
      R"({"name":"a","readinessProbe":{"tcpSocket":{"port":1}}},{"name":"b"})";
  EXPECT_EQ(Read(PodJson(probed, kReady)).check, (ReadinessCheck{.port = "1"}));
  EXPECT_FALSE(Read(PodJson(probed, kReady)).unproven);
  EXPECT_FALSE(
      Read(PodJson(
               absl::StrCat(probed, R"(,{"name":"c","readinessProbe":{"tcpSocket":{"port":2}}})"),
               kReady))
          .check.has_value());
}

// A container that the kubelet starts before the others and keeps beside them.
TEST(CarriedPodTest, AnInitContainerThatGoesOnHasPortsAndASay) {
  const auto with = [](const std::string& init) {
    return Read(PodJson(absl::StrCat(kContainer, R"(],"initContainers":[)", init), kReady));
  };
  const std::string proxy = R"("name":"proxy","ports":[{"name":"https","containerPort":8443}])";
  const CarriedPod pod = with(absl::StrCat(R"({"restartPolicy":"Always",)", proxy, "}"));
  EXPECT_EQ(AddressOf(pod, "https"), "10.0.0.7:8443");
  EXPECT_EQ(pod.check, ReadinessCheck());
  EXPECT_TRUE(pod.unproven);
  EXPECT_EQ(AddressOf(with(absl::StrCat("{", proxy, "}")), "https"), "") << "it ends first";
  EXPECT_FALSE(
      with(R"({"restartPolicy":"Always","readinessProbe":{"tcpSocket":{"port":1}}})").check);
}

TEST(CarriedPodTest, OfAReadinessGateOnlyTheApiServerTells) {
  const std::string gates = R"(],"readinessGates":[{"conditionType":"example.com/warm"})";
  EXPECT_FALSE(Read(PodJson(kContainer + gates, kReady)).check);
}

TEST(CarriedPodTest, AnythingElseIsNoPod) {
  for (const char* const text : {"", "[]", "{}", R"({"metadata":[]})", "null"}) {
    EXPECT_FALSE(ReadCarriedPod(text).ok()) << text;
  }
}

}  // namespace
}  // namespace flyball::serve
