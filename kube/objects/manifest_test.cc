#include "kube/objects/manifest.h"

#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "gtest/gtest.h"
#include "kube/objects/manifest_objects.h"

namespace flyball::kube {
namespace {

TEST(GuessPluralTest, AsClientGo) {
  EXPECT_EQ(GuessPlural("Widget"), "widgets");
  EXPECT_EQ(GuessPlural("Policy"), "policies");
  EXPECT_EQ(GuessPlural("Ingress"), "ingresses");
  EXPECT_EQ(GuessPlural("Endpoints"), "endpoints");
}

struct ManifestRow {
  std::string name;
  std::string text;
  std::string error;
};

class ReadManifestRefusedTest : public testing::TestWithParam<ManifestRow> {};

TEST_P(ReadManifestRefusedTest, Row) {
  EXPECT_EQ(std::string(ReadManifest(GetParam().text, "f").status().message()), GetParam().error);
}

INSTANTIATE_TEST_SUITE_P(
    Rows, ReadManifestRefusedTest,
    testing::Values(
        ManifestRow{"BrokenYaml", "a:\n  - b\n c", "f:3:2: end of map not found"},
        ManifestRow{"NoMap", "- a", "f:1:1: this is no object: a map was expected"},
        ManifestRow{"SecondDocument", "---\n---\nkind: Pod", "f:3:1: the object has no apiVersion"},
        ManifestRow{"NoKind", "apiVersion: v1", "f:1:1: the object has no kind"},
        ManifestRow{"NoName", "\napiVersion: v1\nkind: Pod\nmetadata: {namespace: a}",
                    "f:2:1: the Pod has no metadata.name"},
        ManifestRow{"LabelsAreNoMap", "apiVersion: v1\nkind: Pod\nmetadata: {name: a, labels: [b]}",
                    "f:3:29: metadata.labels: a map was expected"},
        ManifestRow{"LabelValueIsNoText",
                    "apiVersion: v1\nkind: Pod\nmetadata: {name: a, labels: {b: []}}",
                    "f:3:33: bad conversion"},
        ManifestRow{"ListInList", "apiVersion: v1\nkind: List\nitems:\n- {kind: List, items: []}",
                    "f:4:3: a List inside a List"},
        ManifestRow{"NotUtf8", "apiVersion: v1\nkind: Pod\nmetadata: {name: a\xc3}",
                    "f:3: not UTF-8"}),
    [](const auto& info) { return info.param.name; });

class ManifestObjectsTest : public testing::Test {
 protected:
  void Read(const std::string& text) {
    auto read = ReadManifest(text, "f");
    ASSERT_TRUE(read.ok()) << read.status();
    objects_.insert(objects_.end(), read->begin(), read->end());
  }
  ManifestObjects Made() const {
    std::vector<const ManifestObject*> objects;
    for (const ManifestObject& object : objects_) objects.push_back(&object);
    return ManifestObjects(objects);
  }
  std::string Names(const std::string& resource, bool running_only = false) const {
    const ManifestObjects made = Made();
    const auto table = made.TableFor(made.mapper()->FindQualified(resource)->name, running_only);
    EXPECT_TRUE(table.ok()) << table.status();
    return absl::StrJoin((*table)->Select("", *Selector::Parse("")), " ",
                         [](std::string* out, const ObjectPtr& object) {
                           absl::StrAppend(out, object->ns, "/", object->name);
                         });
  }

  std::vector<ManifestObject> objects_;
};

TEST_F(ManifestObjectsTest, DocumentsAndListsAreSplit) {
  Read(R"(
apiVersion: v1
kind: Pod
metadata: {name: web-1, namespace: shop}
---
apiVersion: v1
kind: Pod
metadata: {name: web-2}
status: {phase: Pending}
---
apiVersion: v1
kind: List
items:
- {apiVersion: apps/v1, kind: Deployment, metadata: {name: web, namespace: shop}}
- {apiVersion: v1, kind: Node, metadata: {name: n1, namespace: ignored}}
)");
  Read(
      "{\"apiVersion\": \"v1\", \"kind\": \"PodList\",\n"
      "\t\"items\": [{\"metadata\": {\"name\": \"db-1\", \"namespace\": \"shop\"}}]}");
  EXPECT_EQ(Names("pods"), "default/web-2 shop/db-1 shop/web-1");
  EXPECT_EQ(Names("pods", true), "shop/db-1 shop/web-1");
  EXPECT_EQ(Names("deployments.apps"), "shop/web");
  EXPECT_EQ(Names("nodes"), "/n1");
  EXPECT_EQ(Names("services"), "");
  EXPECT_EQ(Made().TableFor({"", "widgets"}, false).status().code(), absl::StatusCode::kNotFound);
}

TEST_F(ManifestObjectsTest, CustomResourcesAreDefinedOrGuessed) {
  Read(R"(
{apiVersion: example.com/v1, kind: Goose, metadata: {name: g, namespace: farm}}
---
{apiVersion: example.com/v1, kind: Policy, metadata: {name: p}}
---
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: geese.example.com}
spec:
  group: example.com
  scope: Namespaced
  names: {plural: geese, singular: goose, kind: Goose}
  versions: [{name: v1}, {name: v1alpha1}]
)");
  EXPECT_EQ(Names("geese.example.com"), "farm/g");
  EXPECT_EQ(Names("goose"), "farm/g");
  EXPECT_EQ(Names("policies.example.com"), "/p");
  EXPECT_FALSE(Made().mapper()->FindQualified("policy")->namespaced);
}

TEST_F(ManifestObjectsTest, BuiltinResourcesResolveAsInACluster) {
  const auto mapper = Made().mapper();
  EXPECT_EQ(mapper->FindQualified("ingress")->name.ToString(), "ingresses.networking.k8s.io");
  EXPECT_EQ(mapper->FindQualified("event")->name.ToString(), "events");
  EXPECT_EQ(mapper->FindQualified("job")->name.ToString(), "jobs.batch");
  EXPECT_EQ(mapper->FindQualified("endpoint"), nullptr);
  EXPECT_EQ(mapper->FindQualified("hpa"), nullptr);
}

}  // namespace
}  // namespace flyball::kube
