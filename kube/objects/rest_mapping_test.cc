#include "kube/objects/rest_mapping.h"

#include <string>

#include "gtest/gtest.h"

namespace flyball::kube {
namespace {

// In the order in which a real API server lists its groups.
const RestMapper& Mapper() {
  static const RestMapper mapper({
      {.name = {"", "pods"}, .version = "v1", .kind = "Pod", .singular = "pod"},
      {.name = {"", "events"}, .version = "v1", .kind = "Event", .singular = "event"},
      {.name = {"apps", "deployments"}, .version = "v1", .kind = "Deployment", .singular = ""},
      {.name = {"events.k8s.io", "events"}, .version = "v1", .kind = "Event", .singular = "event"},
      {.name = {"networking.k8s.io", "ingresses"},
       .version = "v1",
       .kind = "Ingress",
       .singular = "ingress"},
      {.name = {"storage.k8s.io", "storageclasses"},
       .version = "v1",
       .kind = "StorageClass",
       .singular = "storageclass",
       .namespaced = false},
      {.name = {"extensions", "ingresses"},
       .version = "v1beta1",
       .kind = "Ingress",
       .singular = "ingress"},
      {.name = {"metrics.k8s.io", "pods"},
       .version = "v1beta1",
       .kind = "PodMetrics",
       .singular = ""},
  });
  return mapper;
}

struct RestMappingRow {
  std::string name;
  std::string asked;  // as in a URL
  std::string found;  // "" = unknown
};

class FindQualifiedTest : public testing::TestWithParam<RestMappingRow> {};

TEST_P(FindQualifiedTest, Row) {
  const ResourceInfo* info = Mapper().FindQualified(GetParam().asked);
  EXPECT_EQ(info == nullptr ? "" : info->name.ToString(), GetParam().found);
}

INSTANTIATE_TEST_SUITE_P(
    Rules, FindQualifiedTest,
    testing::Values(
        RestMappingRow{"Plural", "pods", "pods"}, RestMappingRow{"Singular", "pod", "pods"},
        RestMappingRow{"AnyCase", "PoD", "pods"},
        RestMappingRow{"SingularIsGuessedFromTheKind", "deployment", "deployments.apps"},
        RestMappingRow{"GuessedSingularOfAnotherKind", "podmetrics", "pods.metrics.k8s.io"},
        RestMappingRow{"FirstGroupInDiscoveryOrderWins", "ingress", "ingresses.networking.k8s.io"},
        RestMappingRow{"CoreComesFirst", "event", "events"},
        RestMappingRow{"ExactGroup", "ingress.extensions", "ingresses.extensions"},
        RestMappingRow{"GroupPrefix", "storageclass.storage", "storageclasses.storage.k8s.io"},
        RestMappingRow{"GroupIsCutAtTheFirstDot", "events.events.k8s.io", "events.events.k8s.io"},
        RestMappingRow{"ShortNamesAreUnknown", "po", ""},
        RestMappingRow{"UnknownGroup", "pods.nope", ""},
        RestMappingRow{"GroupsKeepTheirCase", "deployments.Apps", ""}),
    [](const auto& info) { return info.param.name; });

TEST(FindTest, ScopeAndVersionComeWithTheResource) {
  const ResourceInfo* info = Mapper().Find("storage.k8s.io", "storageclasses");
  ASSERT_NE(info, nullptr);
  EXPECT_FALSE(info->namespaced);
  EXPECT_EQ(info->version, "v1");
  EXPECT_EQ(Mapper().Find("", "deployments")->singular, "deployment");
}

TEST(FindExactTest, LooksInNoOtherGroup) {
  EXPECT_EQ(Mapper().FindExact({"metrics.k8s.io", "pods"})->kind, "PodMetrics");
  EXPECT_EQ(Mapper().FindExact({"", "deployments"}), nullptr);
  EXPECT_EQ(Mapper().FindExact({"", "pod"}), nullptr);
}

TEST(FindKindTest, NeedsTheExactGroup) {
  EXPECT_EQ(Mapper().FindKind("apps", "Deployment")->name.resource, "deployments");
  EXPECT_EQ(Mapper().FindKind("", "Deployment"), nullptr);
}

TEST(FindKindTest, TakesTheKindInLowerCaseToo) {
  ASSERT_NE(Mapper().FindKind("apps", "deployment"), nullptr);
  EXPECT_EQ(Mapper().FindKind("apps", "deployment")->kind, "Deployment");
  EXPECT_EQ(Mapper().FindKind("apps", "DEPLOYMENT"), nullptr);
  EXPECT_EQ(Mapper().FindKind("apps", "deployments"), nullptr);
}

}  // namespace
}  // namespace flyball::kube
