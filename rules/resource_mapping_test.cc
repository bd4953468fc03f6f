#include "rules/resource_mapping.h"

#include <gtest/gtest.h>

#include <string>

#include "rules/test_resources.h"

namespace flyball::rules {
namespace {

MappingConfig Template(const std::string& text) {
  MappingConfig config;
  config.label_template = {text, {1, 1}};
  return config;
}

MappingConfig Overrides(std::vector<OverrideConfig> overrides) {
  MappingConfig config;
  config.overrides = std::move(overrides);
  return config;
}

OverrideConfig To(const std::string& label, const std::string& resource,
                  const std::string& group = "") {
  return {{label, {1, 1}}, {group, {}}, {resource, {}}};
}

std::optional<ResourceMapping> Compile(const MappingConfig& config) {
  Findings findings("f");
  return ResourceMapping::Compile(config, "r", findings);
}

// "resource.group", "" for none.
std::string Shown(const kube::ResourceInfo* resource) {
  return resource == nullptr ? "" : resource->name.ToString();
}

struct ResourceMappingRow {
  std::string name;
  std::string label_template;
  std::string label, resource;  // discovery
  std::string asked_as;         // the label of that resource in a query
};

class TemplateTest : public testing::TestWithParam<ResourceMappingRow> {};

TEST_P(TemplateTest, Row) {
  const ResourceMappingRow& row = GetParam();
  const kube::RestMapper& mapper = TestResources();
  const auto mapping = Compile(Template(row.label_template));
  ASSERT_TRUE(mapping.has_value());
  const auto resource = mapping->ResourceOfLabel(row.label, mapper);
  EXPECT_EQ(Shown(resource), row.resource);
  if (resource == nullptr) return;
  EXPECT_EQ(mapping->LabelOfResource(resource->name, mapper).value_or("?"), row.asked_as);
}

INSTANTIATE_TEST_SUITE_P(
    Directions, TemplateTest,
    testing::Values(
        ResourceMappingRow{"Singular", "<<.Resource>>", "pod", "pods", "pod"},
        // Found by the plural or in capitals, but asked for by the singular.
        ResourceMappingRow{"Plural", "<<.Resource>>", "pods", "pods", "pod"},
        ResourceMappingRow{"Capitals", "<<.Resource>>", "Pod", "pods", "pod"},
        ResourceMappingRow{"OrdinaryLabelThatIsAResource", "<<.Resource>>", "job", "jobs.batch",
                           "job"},
        ResourceMappingRow{"OrdinaryLabel", "<<.Resource>>", "instance", "", ""},
        ResourceMappingRow{"Prefix", "kube_<<.Resource>>", "kube_pod", "pods", "kube_pod"},
        ResourceMappingRow{"PrefixMissing", "kube_<<.Resource>>", "pod", "", ""},
        ResourceMappingRow{"Anchored", "kube_<<.Resource>>", "x_kube_pod", "", ""},
        ResourceMappingRow{"Group", "k8s_<<.Group>>_<<.Resource>>", "k8s_apps_deployment",
                           "deployments.apps", "k8s_apps_deployment"},
        // The group's prefix finds it, the whole group asks for it.
        ResourceMappingRow{"GroupPrefix", "k8s_<<.Group>>_<<.Resource>>", "k8s_networking_ingress",
                           "ingresses.networking.k8s.io", "k8s_networking_k8s_io_ingress"},
        // The shortest match makes the group `storage`, the resource `k8s_io_storageclass`.
        ResourceMappingRow{"ShortestGroup", "k8s_<<.Group>>_<<.Resource>>",
                           "k8s_storage_k8s_io_storageclass", "", ""},
        ResourceMappingRow{"GroupNeedsACharacter", "k8s_<<.Group>>_<<.Resource>>", "k8s__pod", "",
                           ""},
        ResourceMappingRow{"LiteralsAreAPattern", "k.b_<<.Resource>>", "kxb_pod", "pods",
                           "k.b_pod"}),
    [](const auto& info) { return info.param.name; });

// metrics.k8s.io leaves the singular of its pods to a guess from their kind.
TEST(ResourceMappingTest, TheSingularIsThatOfTheFirstGroup) {
  std::vector<kube::ResourceInfo> resources(2);
  resources[0].name = {"", "pods"};
  resources[0].kind = "Pod";
  resources[1].name = {"metrics.k8s.io", "pods"};
  resources[1].kind = "PodMetrics";
  const kube::RestMapper mapper(std::move(resources));
  const auto label =
      Compile(Template("<<.Resource>>"))->LabelOfResource({"metrics.k8s.io", "pods"}, mapper);
  EXPECT_EQ(label.value_or("?"), "pod");
}

TEST(ResourceMappingTest, OverridesComeBeforeTheTemplate) {
  MappingConfig config = Overrides({To("ns", "namespace"), To("pod", "deployment", "apps")});
  config.label_template.text = "<<.Resource>>";
  const auto mapping = Compile(config);
  const kube::RestMapper& mapper = TestResources();
  EXPECT_EQ(Shown(mapping->ResourceOfLabel("ns", mapper)), "namespaces");
  EXPECT_EQ(Shown(mapping->ResourceOfLabel("pod", mapper)), "deployments.apps");
  EXPECT_EQ(Shown(mapping->ResourceOfLabel("namespace", mapper)), "namespaces");
  EXPECT_EQ(*mapping->LabelOfResource({"", "namespaces"}, mapper), "ns");
  EXPECT_EQ(*mapping->LabelOfResource({"", "pods"}, mapper), "pod");
}

TEST(ResourceMappingTest, LastOfTwoOverridesIsAskedFor) {
  const auto mapping = Compile(Overrides({To("a", "pod"), To("b", "pods")}));
  const kube::RestMapper& mapper = TestResources();
  EXPECT_EQ(*mapping->LabelOfResource({"", "pods"}, mapper), "b");
  EXPECT_EQ(Shown(mapping->ResourceOfLabel("a", mapper)), "pods");
}

TEST(ResourceMappingTest, UnknownOverrideIsNoLabel) {
  MappingConfig config = Overrides({To("pod", "cheese")});
  config.label_template.text = "<<.Resource>>";
  EXPECT_EQ(Compile(config)->ResourceOfLabel("pod", TestResources()), nullptr);
}

TEST(ResourceMappingTest, NoLabelIsNotFound) {
  const auto status = Compile(Overrides({To("po", "pod")}))
                          ->LabelOfResource({"apps", "deployments"}, TestResources());
  EXPECT_EQ(status.status().code(), absl::StatusCode::kNotFound);
}

// As in the original. A query by the plural would find nothing, and one such as `… or vector(0)`
// would take that for 0.
TEST(ResourceMappingTest, BeforeTheResourcesAreKnownATemplateMakesNoLabel) {
  MappingConfig config = Overrides({To("ns", "namespace")});
  config.label_template = {"kube_<<.Resource>>", {1, 1}};
  const auto mapping = Compile(config);
  for (const kube::GroupResource& resource :
       {kube::GroupResource{"", "namespaces"}, kube::GroupResource{"", "pods"}}) {
    const auto label = mapping->LabelOfResource(resource, kube::RestMapper({}));
    EXPECT_EQ(label.status().code(), absl::StatusCode::kNotFound) << resource.ToString();
  }
}

TEST(ResourceMappingTest, NamespaceLabelShowsWithoutACluster) {
  EXPECT_EQ(Compile(Overrides({To("a", "Namespaces"), To("b", "pod")}))->NamespaceLabel(), "a");
  EXPECT_EQ(Compile(Overrides({To("a", "namespace", "x")}))->NamespaceLabel(), "");
  EXPECT_EQ(Compile(Template("kube_<<.Resource>>"))->NamespaceLabel(), "kube_namespace");
}

}  // namespace
}  // namespace flyball::rules
