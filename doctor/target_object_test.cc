#include "doctor/target_object.h"

#include "absl/strings/str_cat.h"
#include "doctor/test_findings.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace flyball::doctor {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

constexpr char kDeployment[] = R"({"metadata":{"name":"web","uid":"d1","managedFields":[
  {"manager":"kube-controller-manager","operation":"Update","subresource":"scale",
   "time":"2026-03-04T05:00:00Z","fieldsV1":{"f:spec":{"f:replicas":{}}}},
  {"manager":"flyball","operation":"Update","subresource":"scale",
   "time":"2026-03-04T05:00:01Z","fieldsV1":{"f:spec":{"f:replicas":{}}}},
  {"manager":"kubectl","operation":"Update","subresource":"scale",
   "time":"2026-03-04T05:30:00Z","fieldsV1":{"f:spec":{"f:replicas":{}}}},
  {"manager":"argocd-controller","operation":"Apply","time":"2026-03-01T05:00:00Z",
   "fieldsV1":{"f:spec":{"f:replicas":{},"f:template":{}}}},
  {"manager":"kubectl-edit","operation":"Update","time":"2026-03-04T06:00:00Z",
   "fieldsV1":{"f:spec":{"f:replicas":{}}}},
  {"manager":"helm","operation":"Update","time":"2026-03-04T06:00:00Z",
   "fieldsV1":{"f:spec":{"f:template":{}}}}]},
  "status":{"conditions":[{"type":"Available","status":"True","message":"fine"},
   {"type":"ReplicaFailure","status":"True","message":"exceeded quota: compute"}]}})";

TEST(ReadTargetObjectTest, WhoSetsReplicasAndWhatFails) {
  const auto read = ReadTargetObject(kDeployment);
  ASSERT_TRUE(read.ok()) << read.status();
  EXPECT_EQ(read->uid, "d1");
  ASSERT_EQ(read->managers.size(), 3u);
  EXPECT_EQ(read->managers[0].name, "kubectl");
  EXPECT_FALSE(read->managers[0].apply);
  EXPECT_EQ(read->managers[1].name, "argocd-controller");
  EXPECT_TRUE(read->managers[1].apply);
  EXPECT_EQ(read->managers[2].name, "kubectl-edit");
  EXPECT_EQ(read->replica_failure, "exceeded quota: compute");
  EXPECT_FALSE(ReadTargetObject("[]").ok());
  EXPECT_TRUE(ReadTargetObject(R"({"metadata":{"managedFields":[1,{"fieldsV1":[]}]}})").ok());
}

TEST(ReadPodOriginTest, WhoControlsItAndWhetherANodeTakesIt) {
  const auto read = ReadPodOrigin(R"({"metadata":{"name":"web-1","ownerReferences":[
    {"kind":"Thing","uid":"t"},{"kind":"ReplicaSet","uid":"r1","controller":true}]},
    "status":{"conditions":[{"type":"PodScheduled","status":"False","reason":"Unschedulable",
    "message":"0/3 nodes are available"}]}})");
  ASSERT_TRUE(read.ok()) << read.status();
  EXPECT_EQ(read->name, "web-1");
  EXPECT_EQ(read->controller_uid, "r1");
  EXPECT_EQ(read->unschedulable, "0/3 nodes are available");
  const auto bare = ReadPodOrigin(R"({"metadata":{"name":"b"},"status":{"conditions":[
    {"type":"PodScheduled","status":"False","reason":"SchedulingGated"}]}})");
  EXPECT_EQ(bare->controller_uid, "");
  EXPECT_EQ(bare->unschedulable, "");
}

// A Deployment with two pods of its ReplicaSet.
TargetFacts Web() {
  TargetFacts facts;
  facts.ns = "shop";
  facts.kind = "Deployment";
  facts.name = "web";
  facts.selector = "app=web";
  facts.desired = 2;
  facts.object = TargetObject();
  facts.controllers = {"r1", "r2"};
  facts.pods = {{.name = "web-1", .controller_uid = "r1", .unschedulable = ""},
                {.name = "web-2", .controller_uid = "r2", .unschedulable = ""}};
  return facts;
}

TEST(CheckTargetObjectTest, NothingToSayOfAGoodOne) {
  EXPECT_THAT(CheckTargetObject(Web()), IsEmpty());
  EXPECT_THAT(CheckTargetObject(TargetFacts()), IsEmpty());
}

TEST(CheckTargetObjectTest, WhoeverAppliesReplicasUndoesWhatIsScaled) {
  TargetFacts facts = Web();
  facts.object->managers = {{.name = "argocd-controller", .apply = true}};
  EXPECT_THAT(Lines(CheckTargetObject(facts)),
              ElementsAre(AllOf(HasSubstr("doubtful replicas-writer: argocd-controller applies "
                                          "spec.replicas of Deployment web"),
                                HasSubstr("ignoreDifferences"))));
}

TEST(CheckTargetObjectTest, AnUpdateCountsOnlyAfterTheLastScaling) {
  TargetFacts facts = Web();
  const absl::Time scaled = absl::FromUnixSeconds(1772600767);
  facts.object->managers = {{.name = "kubectl-create", .apply = false, .time = scaled}};
  EXPECT_THAT(CheckTargetObject(facts), IsEmpty());  // it was never scaled
  facts.last_scaled = scaled;
  EXPECT_THAT(CheckTargetObject(facts), IsEmpty());
  facts.object->managers[0].time += absl::Seconds(1);
  EXPECT_THAT(Lines(CheckTargetObject(facts)),
              ElementsAre(HasSubstr("kubectl-create has written spec.replicas of Deployment web "
                                    "since the autoscaler did")));
}

TEST(CheckTargetObjectTest, AQuotaIsNamed) {
  TargetFacts facts = Web();
  facts.object->replica_failure = "pods \"web-3\" is forbidden: exceeded quota: compute";
  EXPECT_THAT(Lines(CheckTargetObject(facts)),
              ElementsAre(AllOf(HasSubstr("bad replica-failure: Deployment web can't make its 2 "
                                          "replicas: pods \"web-3\" is forbidden"),
                                HasSubstr("kubectl -n shop describe resourcequota"))));
}

TEST(ReadFailedCreateTest, TakesTheNewest) {
  const auto read = [](absl::string_view json) {
    return ReadFailedCreate(json).value_or("no list");
  };
  EXPECT_EQ(read(R"({"items": [
      {"reason": "FailedCreate", "message": "old", "lastTimestamp": "2026-03-04T05:06:07Z"},
      {"reason": "FailedCreate", "message": "new", "eventTime": "2026-03-04T05:00:00.000000Z",
       "series": {"lastObservedTime": "2026-03-04T06:00:00.000000Z"}},
      {"reason": "SuccessfulCreate", "message": "good", "lastTimestamp": "2026-03-04T07:00:00Z"},
      {"reason": "FailedCreate", "message": "older", "lastTimestamp": null}]})"),
            "new");
  EXPECT_EQ(read(R"({"items": [{"reason": "FailedCreate", "message": "timeless"}]})"), "timeless");
  EXPECT_EQ(read(R"({"items": []})"), "");
  EXPECT_EQ(read("[]"), "no list");
}

TEST(CheckTargetObjectTest, ForeignPodsAreNamed) {
  TargetFacts facts = Web();
  for (int i = 0; i < 7; ++i) {
    facts.pods.push_back(
        {.name = absl::StrCat("job-", i), .controller_uid = "j", .unschedulable = ""});
  }
  EXPECT_THAT(Lines(CheckTargetObject(facts)),
              ElementsAre(HasSubstr("bad foreign-pods: the selector app=web catches 7 pods that "
                                    "Deployment web does not own: job-0, job-1, job-2, job-3, "
                                    "job-4 and 2 more")));
  facts.controllers.clear();  // not known for a target of this kind
  EXPECT_THAT(CheckTargetObject(facts), IsEmpty());
}

TEST(CheckTargetObjectTest, APodThatNobodyControlsIsForeign) {
  TargetFacts facts = Web();
  facts.pods[1].controller_uid = "";
  EXPECT_THAT(Lines(CheckTargetObject(facts)), ElementsAre(HasSubstr("catches 1 pod that")));
}

TEST(CheckTargetObjectTest, PodsThatNoNodeTakes) {
  TargetFacts facts = Web();
  facts.pods[1].unschedulable = "0/3 nodes are available: 3 Insufficient cpu";
  EXPECT_THAT(Lines(CheckTargetObject(facts)),
              ElementsAre(HasSubstr("bad unschedulable: no node takes web-2: 0/3 nodes are "
                                    "available: 3 Insufficient cpu")));
}

}  // namespace
}  // namespace flyball::doctor
