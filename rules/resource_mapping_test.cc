#include "rules/resource_mapping.h"

#include <gtest/gtest.h>

#include <string>

#include "rules/fake_resource_names.h"

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
std::string Shown(const std::optional<GroupResource>& resource) {
  if (!resource) return "";
  return resource->group.empty() ? resource->resource : resource->resource + "." + resource->group;
}

struct Row {
  std::string name;
  std::string label_template;
  std::string label, resource;  // discovery
  std::string asked_as;         // the label of that resource in a query
};

class TemplateTest : public testing::TestWithParam<Row> {};

TEST_P(TemplateTest, Row) {
  const Row& row = GetParam();
  const FakeResourceNames names;
  const auto mapping = Compile(Template(row.label_template));
  ASSERT_TRUE(mapping.has_value());
  const auto resource = mapping->ResourceOfLabel(row.label, names);
  EXPECT_EQ(Shown(resource), row.resource);
  if (!resource) return;
  EXPECT_EQ(mapping->LabelOfResource(*resource, names).value_or("?"), row.asked_as);
}

INSTANTIATE_TEST_SUITE_P(
    Directions, TemplateTest,
    testing::Values(
        Row{"Singular", "<<.Resource>>", "pod", "pods", "pod"},
        // Found by the plural or in capitals, but asked for by the singular.
        Row{"Plural", "<<.Resource>>", "pods", "pods", "pod"},
        Row{"Capitals", "<<.Resource>>", "Pod", "pods", "pod"},
        Row{"OrdinaryLabelThatIsAResource", "<<.Resource>>", "job", "jobs.batch", "job"},
        Row{"OrdinaryLabel", "<<.Resource>>", "instance", "", ""},
        Row{"Prefix", "kube_<<.Resource>>", "kube_pod", "pods", "kube_pod"},
        Row{"PrefixMissing", "kube_<<.Resource>>", "pod", "", ""},
        Row{"Anchored", "kube_<<.Resource>>", "x_kube_pod", "", ""},
        Row{"Group", "k8s_<<.Group>>_<<.Resource>>", "k8s_apps_deployment", "deployments.apps",
            "k8s_apps_deployment"},
        // The group's prefix finds it, the whole group asks for it.
        Row{"GroupPrefix", "k8s_<<.Group>>_<<.Resource>>", "k8s_networking_ingress",
            "ingresses.networking.k8s.io", "k8s_networking_k8s_io_ingress"},
        // The shortest match makes the group `storage`, the resource `k8s_io_storageclass`.
        Row{"ShortestGroup", "k8s_<<.Group>>_<<.Resource>>", "k8s_storage_k8s_io_storageclass", "",
            ""},
        Row{"GroupNeedsACharacter", "k8s_<<.Group>>_<<.Resource>>", "k8s__pod", "", ""},
        Row{"LiteralsAreAPattern", "k.b_<<.Resource>>", "kxb_pod", "pods", "k.b_pod"}),
    [](const auto& info) { return info.param.name; });

TEST(ResourceMappingTest, OverridesComeBeforeTheTemplate) {
  MappingConfig config = Overrides({To("ns", "namespace"), To("pod", "deployment", "apps")});
  config.label_template.text = "<<.Resource>>";
  const auto mapping = Compile(config);
  const FakeResourceNames names;
  EXPECT_EQ(Shown(mapping->ResourceOfLabel("ns", names)), "namespaces");
  EXPECT_EQ(Shown(mapping->ResourceOfLabel("pod", names)), "deployments.apps");
  EXPECT_EQ(Shown(mapping->ResourceOfLabel("namespace", names)), "namespaces");
  EXPECT_EQ(*mapping->LabelOfResource({"", "namespaces"}, names), "ns");
  EXPECT_EQ(*mapping->LabelOfResource({"", "pods"}, names), "pod");
}

TEST(ResourceMappingTest, LastOfTwoOverridesIsAskedFor) {
  const auto mapping = Compile(Overrides({To("a", "pod"), To("b", "pods")}));
  const FakeResourceNames names;
  EXPECT_EQ(*mapping->LabelOfResource({"", "pods"}, names), "b");
  EXPECT_EQ(Shown(mapping->ResourceOfLabel("a", names)), "pods");
}

TEST(ResourceMappingTest, UnknownOverrideIsNoLabel) {
  MappingConfig config = Overrides({To("pod", "cheese")});
  config.label_template.text = "<<.Resource>>";
  EXPECT_EQ(Compile(config)->ResourceOfLabel("pod", FakeResourceNames()), std::nullopt);
}

TEST(ResourceMappingTest, NoLabelIsNotFound) {
  const auto status = Compile(Overrides({To("po", "pod")}))
                          ->LabelOfResource({"apps", "deployments"}, FakeResourceNames());
  EXPECT_EQ(status.status().code(), absl::StatusCode::kNotFound);
}

TEST(ResourceMappingTest, NamespaceLabelShowsWithoutACluster) {
  EXPECT_EQ(Compile(Overrides({To("a", "Namespaces"), To("b", "pod")}))->NamespaceLabel(), "a");
  EXPECT_EQ(Compile(Overrides({To("a", "namespace", "x")}))->NamespaceLabel(), "");
  EXPECT_EQ(Compile(Template("kube_<<.Resource>>"))->NamespaceLabel(), "kube_namespace");
}

}  // namespace
}  // namespace flyball::rules
