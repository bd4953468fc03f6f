#include "doctor/rights.h"

#include <algorithm>
#include <fstream>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "doctor/test_findings.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace flyball::doctor {
namespace {

using testing::AllOf;
using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;
using testing::UnorderedElementsAreArray;

std::vector<std::string> Names(const Duties& duties) {
  std::vector<std::string> names;
  for (const Right& right : WantedRights(duties)) {
    names.push_back(absl::StrCat(right.verb, " ", right.resource, right.group.empty() ? "" : ".",
                                 right.group, right.ns.empty() ? "" : " in ", right.ns));
  }
  return names;
}

TEST(WantedRights, OfExternalMetricsAloneNoObjects) {
  EXPECT_THAT(Names({.external = true}),
              ElementsAre("create tokenreviews.authentication.k8s.io",
                          "create subjectaccessreviews.authorization.k8s.io",
                          "list configmaps in kube-system", "watch configmaps in kube-system",
                          "list customresourcedefinitions.apiextensions.k8s.io",
                          "watch customresourcedefinitions.apiextensions.k8s.io",
                          "list apiservices.apiregistration.k8s.io",
                          "watch apiservices.apiregistration.k8s.io"));
}

TEST(WantedRights, OfCustomMetricsThePodsAndWhatRulesName) {
  const auto names = Names({.custom = true, .objects = {{"apps", "deployments"}, {"", "pods"}}});
  EXPECT_THAT(names, AllOf(Contains("list pods"), Contains("watch pods"),
                           Contains("list deployments.apps"), Not(Contains("list nodes"))));
  EXPECT_EQ(std::count(names.begin(), names.end(), "list pods"), 1);
}

TEST(WantedRights, OfResourceMetricsTheNodes) {
  EXPECT_THAT(Names({.resource = true}), AllOf(Contains("list nodes"), Contains("list pods")));
}

TEST(WantedRights, OfTheScalerByItsMode) {
  Duties duties = {.ns = "monitoring", .scaler = true};
  EXPECT_THAT(Names(duties),
              AllOf(Contains("watch horizontalpodautoscalers.autoscaling"),
                    Contains("update leases.coordination.k8s.io in monitoring"),
                    Not(Contains("get autoscalers.flyball.dev")), Not(Contains("create events"))));
  duties.scaler_mode = "advise";
  EXPECT_THAT(Names(duties), AllOf(Contains("patch autoscalers/status.flyball.dev"),
                                   Not(Contains("update deployments/scale.apps"))));
  duties.scaler_mode = "act";
  EXPECT_THAT(Names(duties),
              AllOf(Contains("update deployments/scale.apps"),
                    Contains("get horizontalpodautoscalers.autoscaling"),
                    Contains("get autoscalers.flyball.dev"),
                    Not(Contains("patch horizontalpodautoscalers/status.autoscaling"))));
  duties.scaler_hpa = true;
  EXPECT_THAT(Names(duties), Contains("patch horizontalpodautoscalers/status.autoscaling"));
  duties.scaler_namespaces = {"shop"};
  EXPECT_THAT(Names(duties), AllOf(Contains("update deployments/scale.apps in shop"),
                                   Not(Contains("update deployments/scale.apps"))));
}

TEST(WantedRights, OfTriggersTheSecretsThatTheyName) {
  Duties duties = {.ns = "monitoring", .scaler = true, .secrets_in = {"shop"}};
  EXPECT_THAT(Names(duties), Contains("get secrets in shop"));
  duties.scaler = false;
  EXPECT_THAT(Names(duties), Not(Contains("get secrets in shop")));
}

TEST(WantedRights, OfAnnotatedPodsInAllNamespaces) {
  const std::vector<Right> rights = WantedRights({.custom = true, .annotated_pods = true});
  const auto is_pods = [](const Right& right) {
    return right.verb == "list" && right.resource == "pods";
  };
  ASSERT_EQ(std::count_if(rights.begin(), rights.end(), is_pods), 1);
  EXPECT_TRUE(std::find_if(rights.begin(), rights.end(), is_pods)->everywhere);
}

// The chart's tests compare its roles with the same file.
TEST(WantedRights, AreThoseThatTheChartGrants) {
  std::ifstream file(FLYBALL_SOURCE_DIR "/test/data/rights.json");
  const auto rows = nlohmann::json::parse(file, nullptr, false);
  ASSERT_TRUE(rows.is_array() && !rows.empty());
  for (const auto& row : rows) {
    const auto& told = row["duties"];
    Duties duties = {.ns = "monitoring",
                     .custom = told.value("custom", false),
                     .external = told.value("external", false),
                     .resource = told.value("resource", false),
                     .asks_for_replicas = told.value("replicas", false),
                     .annotated_pods = told.value("annotatedPods", false),
                     .kubelets = told.value("kubelets", false),
                     .scaler = told.contains("scaler"),
                     .scaler_mode = told.value("scaler", ""),
                     .scaler_hpa = told.value("hpa", false),
                     .scaler_namespaces = told.value("namespaces", std::vector<std::string>()),
                     .front = told.value("front", false)};
    for (const std::string& object : told.value("objects", std::vector<std::string>())) {
      const size_t dot = std::min(object.find('.'), object.size());
      duties.objects.push_back({.group = object.substr(std::min(dot + 1, object.size())),
                                .resource = object.substr(0, dot)});
    }
    EXPECT_THAT(Names(duties),
                UnorderedElementsAreArray(row["rights"].get<std::vector<std::string>>()))
        << row["name"];
  }
}

TEST(ReviewOf, CutsTheSubresourceOff) {
  EXPECT_EQ(
      ReviewOf({.verb = "get", .group = "apps", .resource = "deployments/scale", .ns = "shop"}),
      R"({"apiVersion":"authorization.k8s.io/v1","kind":"SelfSubjectAccessReview","spec":)"
      R"({"resourceAttributes":{"group":"apps","namespace":"shop","resource":"deployments",)"
      R"("subresource":"scale","verb":"get"}}})");
}

RightAnswer Answer(std::string verb, std::string resource, absl::StatusOr<bool> allowed,
                   std::string without = "") {
  RightAnswer answer;
  answer.right.verb = std::move(verb);
  answer.right.resource = std::move(resource);
  answer.right.grant = "the role";
  answer.right.without = std::move(without);
  answer.allowed = std::move(allowed);
  return answer;
}

TEST(CheckRights, CountsWhatIsGranted) {
  EXPECT_THAT(Lines(CheckRights("me", {Answer("list", "pods", true)})),
              ElementsAre("good rights: me has the 1 rights that it needs"));
}

TEST(CheckRights, IsOneFindingForEachRemedy) {
  EXPECT_THAT(Lines(CheckRights("me", {Answer("list", "pods", false), Answer("get", "pods", false),
                                       Answer("list", "nodes", false)})),
              ElementsAre("bad rights: me may not list, get pods; nor list nodes | "
                          "grant it by the role"));
}

TEST(CheckRights, AMissingWatchIsSlowNotBroken) {
  EXPECT_THAT(Lines(CheckRights("me", {Answer("watch", "pods", false, "slow")})),
              ElementsAre("doubtful rights: me may not watch pods: slow | grant it by the role"));
}

TEST(CheckRights, RightsByNamespaceAreEnough) {
  RightAnswer narrow = Answer("list", "pods", false);
  narrow.asked_in = {"shop", "bank"};
  narrow.allowed_in = 2;
  EXPECT_THAT(Lines(CheckRights("me", {narrow})),
              ElementsAre("good rights: me has the 1 rights that it needs, some of them by "
                          "namespace"));
  narrow.allowed_in = 1;
  EXPECT_THAT(Lines(CheckRights("me", {narrow})), ElementsAre(HasSubstr("bad rights")));
}

TEST(CheckRights, WithoutImpersonationNothingIsClaimed) {
  EXPECT_THAT(
      Lines(CheckRights("me", {Answer("list", "pods", absl::PermissionDeniedError("no"))})),
      ElementsAre(HasSubstr("doubtful rights: the rights of me can't be asked for: no | run "
                            "doctor as someone who may `impersonate`")));
}

}  // namespace
}  // namespace flyball::doctor
