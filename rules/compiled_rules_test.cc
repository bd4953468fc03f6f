#include "rules/compiled_rules.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <iterator>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "rules/test_resources.h"

namespace flyball::rules {
namespace {

using kube::GroupResource;
using Op = kube::Operator;

std::string ReadData(const std::string& name) {
  std::ifstream in(absl::StrCat(FLYBALL_SOURCE_DIR, "/test/data/rules/", name), std::ios::binary);
  return {std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()};
}

std::string Listed(const std::vector<Finding>& findings) {
  return absl::StrJoin(findings, "\n", [](std::string* out, const Finding& finding) {
    absl::StrAppend(out, finding.ToString());
  });
}

const CompiledRules& Worked() {
  static const CompileResult* const result =
      new CompileResult(CompileRules(ReadData("worked.yaml"), "worked.yaml"));
  EXPECT_NE(result->rules, nullptr) << Listed(result->findings);
  return *result->rules;
}

// The worked examples of prometheus-adapter 0.12.0: rule, request, query sent.

struct ObjectRow {
  std::string name;
  int rule = 0;
  ObjectQueryArgs args;
  std::string query;  // "": no query, kNotFound
};

class WorkedObjectQueryTest : public testing::TestWithParam<ObjectRow> {};

TEST_P(WorkedObjectQueryTest, Row) {
  const ObjectRow& row = GetParam();
  const auto query = Worked().custom.at(row.rule)->ObjectQuery(row.args, TestResources());
  if (row.query.empty()) {
    EXPECT_EQ(query.status().code(), absl::StatusCode::kNotFound) << query.status();
    return;
  }
  ASSERT_TRUE(query.ok()) << query.status();
  EXPECT_EQ(*query, row.query);
}

constexpr int kA = 0, kB = 1, kC = 2, kD = 3, kE = 4, kF = 5;
const GroupResource kPods = {"", "pods"}, kServices = {"", "services"};
const GroupResource kNamespaces = {"", "namespaces"}, kNodes = {"", "nodes"};
const GroupResource kDeployments = {"apps", "deployments"}, kJobs = {"batch", "jobs"};
const GroupResource kIngresses = {"networking.k8s.io", "ingresses"};
const GroupResource kFarms = {"cheese.example", "farms"};

ObjectQueryArgs Pod(std::vector<kube::Requirement> selector) {
  return {"shop_orders_total", kPods, "web", {"a-1"}, std::move(selector)};
}

INSTANTIATE_TEST_SUITE_P(
    Worked, WorkedObjectQueryTest,
    testing::Values(
        ObjectRow{"E01_Pod", kA, Pod({}),
                  R"(sum by (po) (rate(shop_orders_total{ns="web",po="a-1"}[90s])))"},
        ObjectRow{"E02_Pods",
                  kA,
                  {"shop_orders_total", kPods, "web", {"a-1", "a-2"}, {}},
                  R"(sum by (po) (rate(shop_orders_total{ns="web",po=~"a-1|a-2"}[90s])))"},
        ObjectRow{"E04_Service",
                  kA,
                  {"shop_orders_total", kServices, "web", {"shop"}, {}},
                  R"(sum by (svc) (rate(shop_orders_total{ns="web",svc="shop"}[90s])))"},
        ObjectRow{"E05_Namespace",
                  kA,
                  {"shop_orders_total", kNamespaces, std::nullopt, {"web"}, {}},
                  R"(sum by (ns) (rate(shop_orders_total{ns="web"}[90s])))"},
        ObjectRow{"E06_Namespaces",
                  kA,
                  {"shop_orders_total",
                   kNamespaces,
                   std::nullopt,
                   {"default", "kube-node-lease", "kube-public", "kube-system", "web"},
                   {}},
                  "sum by (ns) (rate(shop_orders_total{ns=~\"default|kube-node-lease|kube-public|"
                  "kube-system|web\"}[90s]))"},
        ObjectRow{"E08_Selector", kA,
                  Pod({{"tier", Op::kEquals, {"x"}}, {"zone", Op::kIn, {"a", "b"}}}),
                  "sum by (po) (rate(shop_orders_total{tier=\"x\",zone=~\"a|b\",ns=\"web\","
                  "po=\"a-1\"}[90s]))"},
        ObjectRow{"E09_NotEquals", kA, Pod({{"tier", Op::kNotEquals, {"x"}}}),
                  R"(sum by (po) (rate(shop_orders_total{tier!="x",ns="web",po="a-1"}[90s])))"},
        ObjectRow{"E10_Exists", kA,
                  Pod({{"tier", Op::kDoesNotExist, {}}, {"zone", Op::kExists, {}}}),
                  "sum by (po) (rate(shop_orders_total{tier=\"\",zone!=\"\",ns=\"web\","
                  "po=\"a-1\"}[90s]))"},
        ObjectRow{"E11_GreaterThan", kA, Pod({{"n", Op::kGreaterThan, {"3"}}}), ""},
        ObjectRow{"E12_AvgPod",
                  kB,
                  {"g_sessions", kPods, "web", {"a-1"}, {}},
                  R"(avg(g_sessions{namespace="web",pod="a-1"}) by (pod))"},
        ObjectRow{"E14_Node",
                  kB,
                  {"g_sessions", kNodes, std::nullopt, {"n1"}, {}},
                  R"(avg(g_sessions{node="n1"}) by (node))"},
        ObjectRow{"E15_Job",
                  kB,
                  {"g_sessions", kJobs, "web", {"j"}, {}},
                  R"(avg(g_sessions{namespace="web",job="j"}) by (job))"},
        ObjectRow{"E16_Nodes",
                  kC,
                  {"rack_temp", kNodes, std::nullopt, {"n1", "n2"}, {}},
                  R"(max by (host) (rack_temp{host=~"n1|n2"}))"},
        ObjectRow{"E17_OtherNode",
                  kC,
                  {"rack_temp", kNodes, std::nullopt, {"n9"}, {}},
                  R"(max by (host) (rack_temp{host="n9"}))"},
        ObjectRow{"E18_GroupTemplate",
                  kD,
                  {"wl_busy", kDeployments, "web", {"api"}, {}},
                  R"(wl_busy{ns="web",k8s_apps_deployment="api"})"},
        ObjectRow{"E19_DottedGroup",
                  kD,
                  {"wl_busy", kIngresses, "web", {"front"}, {}},
                  R"(wl_busy{ns="web",k8s_networking_k8s_io_ingress="front"})"},
        ObjectRow{"E20_ValuesByName",
                  kE,
                  {"ratio_ok", kDeployments, "web", {"api"}, {}},
                  R"(sum(ratio_ok{ns="web",dep=~"api"}) by (dep))"},
        ObjectRow{"E22_CustomResource",
                  kF,
                  {"field_yield", kFarms, "web", {"hill"}, {}},
                  R"(field_yield{ns="web",farm="hill"})"},
        // Beyond the page: no label, a double separator for core kinds, escaped names.
        ObjectRow{
            "NoLabelForResource", kA, {"shop_orders_total", kNodes, std::nullopt, {"n1"}, {}}, ""},
        ObjectRow{"NoNamespaceLabel", kC, {"rack_temp", kNodes, "web", {"n1"}, {}}, ""},
        ObjectRow{"CoreKindInGroupTemplate",
                  kD,
                  {"wl_busy", kPods, "web", {"a-1"}, {}},
                  R"(wl_busy{ns="web",k8s__pod="a-1"})"},
        ObjectRow{"NamesAreSortedAndEscaped",
                  kC,
                  {"rack_temp", kNodes, std::nullopt, {"n2.lan", "n1.lan", "n2.lan"}, {}},
                  "max by (host) (rack_temp{host=~\"n1\\\\.lan|n2\\\\.lan\"})"},
        ObjectRow{"OneNameIsNotEscaped",
                  kC,
                  {"rack_temp", kNodes, std::nullopt, {"n1.lan"}, {}},
                  R"(max by (host) (rack_temp{host="n1.lan"}))"},
        ObjectRow{"LaterLabelWinsInValuesByName",
                  kE,
                  {"ratio_ok", kDeployments, "web", {"a", "b"}, {{"ns", Op::kEquals, {"other"}}}},
                  R"(sum(ratio_ok{ns="web",dep=~"a|b"}) by (dep))"}),
    [](const auto& info) { return info.param.name; });

struct ExternalRow {
  std::string name;
  int rule = 0;
  std::string series;
  std::vector<kube::Requirement> selector;
  std::string query;  // "": an error
};

class WorkedExternalQueryTest : public testing::TestWithParam<ExternalRow> {};

TEST_P(WorkedExternalQueryTest, Row) {
  const ExternalRow& row = GetParam();
  const auto query = Worked().external.at(row.rule)->ExternalQuery(row.series, "web", row.selector,
                                                                   TestResources());
  ASSERT_EQ(query.ok(), !row.query.empty()) << query.status();
  EXPECT_EQ(query.value_or(""), row.query);
}

constexpr int kG = 0, kH = 1, kI = 2, kJ = 3;

INSTANTIATE_TEST_SUITE_P(
    Worked, WorkedExternalQueryTest,
    testing::Values(
        ExternalRow{"E24_Namespaced", kG, "q_len", {}, R"(sum(q_len{ns="web"}) by (q))"},
        ExternalRow{"E25_NotIn",
                    kG,
                    "q_len",
                    {{"q", Op::kNotIn, {"fax", "sms"}}},
                    R"(sum(q_len{q!~"fax|sms",ns="web"}) by (q))"},
        ExternalRow{"E26_OtherNamespace",
                    kH,
                    "topic_lag",
                    {{"ns", Op::kEquals, {"other"}}},
                    R"(max(topic_lag{ns="other"}))"},
        ExternalRow{"E27_NoMatchers", kH, "topic_lag", {}, "max(topic_lag{})"},
        ExternalRow{"E28_NoNamespaceLabel", kI, "orphan", {}, ""},
        ExternalRow{"E29_Scalar", kJ, "one_num", {}, "scalar(sum(one_num))"},
        ExternalRow{"LessThan", kG, "q_len", {{"q", Op::kLessThan, {"5"}}}, ""}),
    [](const auto& info) { return info.param.name; });

TEST(WorkedResourceQueryTest, ContainersAndNodes) {
  const CompiledResourceRules& rules = *Worked().resource;
  const kube::RestMapper& mapper = TestResources();
  EXPECT_EQ(rules.window, absl::Minutes(4));
  EXPECT_EQ(*rules.cpu->ContainerQuery("web", {"a-1"}, mapper),
            R"(sum by (po,ctr) (rate(cc{ns="web",po="a-1"}[4m])))");
  EXPECT_EQ(*rules.memory->ContainerQuery("web", {"b", "a"}, mapper),
            R"(sum by (po,ctr) (cm{ns="web",po=~"a|b"}))");
  EXPECT_EQ(*rules.cpu->NodeQuery({"n1"}, mapper), R"(sum by (host) (rate(nc{host="n1"}[4m])))");
  EXPECT_EQ(*rules.memory->NodeQuery({"n2"}, mapper), R"(sum by (host) (nm{host="n2"}))");
  EXPECT_EQ(rules.cpu->container_label, "ctr");
}

TEST(WorkedNamesTest, SeriesAndApiNames) {
  const auto& a = *Worked().custom[kA];
  EXPECT_TRUE(a.naming.Accepts("shop_orders_total"));
  EXPECT_FALSE(a.naming.Accepts("shop_orders_sum"));
  EXPECT_EQ(a.naming.ApiName("shop_orders_total"), "orders_rate");
  EXPECT_EQ(a.index, kA);
  EXPECT_EQ(Worked().custom[kB]->where, "worked.yaml:6");
  EXPECT_FALSE(Worked().custom[kB]->naming.Accepts("g_sessions_created"));
  EXPECT_EQ(Worked().custom[kB]->naming.ApiName("g_sessions"), "g_sessions");
  EXPECT_EQ(Worked().custom[kE]->naming.ApiName("ratio_ok"), "success");
  EXPECT_EQ(Worked().external[kH]->naming.ApiName("topic_lag"), "kafka_lag");
}

TEST(CompiledRuleTest, TellsWhichQueriesKeepObjectsApart) {
  const std::vector<bool> custom = {true, true, true, true, false, true};
  for (size_t i = 0; i < custom.size(); ++i) {
    EXPECT_EQ(Worked().custom[i]->shape.separates_objects, custom[i]) << i;
  }
  // Only the bare selector still has the namespace's label.
  EXPECT_FALSE(Worked().custom[kA]->shape.keeps_namespaces);
  EXPECT_TRUE(Worked().custom[kF]->shape.keeps_namespaces);
  EXPECT_FALSE(Worked().custom[kC]->shape.keeps_namespaces);
  EXPECT_FALSE(Worked().resource->cpu->container_shape.keeps_namespaces);
}

TEST(CompiledRuleTest, AllNamespacesHaveNoMatcher) {
  const CompileResult result = CompileRules(
      "resourceRules:\n  cpu: &q\n    containerQuery: sum by (<<.GroupBy>>, ns) "
      "(c{<<.LabelMatchers>>})\n"
      "    nodeQuery: n{<<.LabelMatchers>>}\n    containerLabel: ctr\n    resources:\n"
      "      overrides: {ns: {resource: namespace}, po: {resource: pod}, no: {resource: node}}\n"
      "  memory: *q\n  window: 1m\n",
      "f");
  ASSERT_NE(result.rules, nullptr) << Listed(result.findings);
  EXPECT_EQ(Listed(result.findings), "");
  const CompiledResourceRule& cpu = *result.rules->resource->cpu;
  EXPECT_TRUE(cpu.container_shape.keeps_namespaces);
  EXPECT_EQ(*cpu.ContainerQuery("", {"a"}, TestResources()), R"(sum by (po,ctr, ns) (c{po="a"}))");
}

TEST(CompiledRuleTest, ALabelOfNamespacesWithoutANameGivesNoQuery) {
  constexpr char kRule[] = R"([{seriesQuery: a, metricsQuery: '<<.Series>>{<<.LabelMatchers>>}',
    resources: {overrides: {'': {resource: namespace}, po: {resource: pod}}}}])";
  const CompileResult result =
      CompileRules(absl::StrCat("rules: ", kRule, "\nexternalRules: ", kRule), "rules.yaml");
  ASSERT_NE(result.rules, nullptr) << Listed(result.findings);
  const CompiledRule& custom = *result.rules->custom.at(0);
  EXPECT_TRUE(absl::IsNotFound(
      custom.ObjectQuery({"a", kPods, "web", {"a-1"}, {}}, TestResources()).status()));
  // Where no namespace is asked for, its label is not needed.
  const auto namespaces = custom.ObjectQuery({"a", kNamespaces, "", {"web"}, {}}, TestResources());
  ASSERT_TRUE(namespaces.ok()) << namespaces.status();
  EXPECT_EQ(*namespaces, R"(a{="web"})");
  EXPECT_FALSE(result.rules->external.at(0)->ExternalQuery("a", "web", {}, TestResources()).ok());
}

TEST(CompiledRuleTest, ATemplateThatGivesAnEmptyQueryIsNamed) {
  constexpr char kNothing[] = "'<<if not .LabelMatchers>>x<<end>>'";
  constexpr char kResources[] = R"({overrides: {ns: {resource: namespace}, po: {resource: pod},
    no: {resource: node}}})";
  const std::string resource = absl::StrCat(
      "{containerQuery: ", kNothing, ", nodeQuery: ", kNothing, ", resources: ", kResources, "}");
  const std::string rule =
      absl::StrCat("[{seriesQuery: a, metricsQuery: ", kNothing, ", resources: ", kResources, "}]");
  const CompileResult result = CompileRules(
      absl::StrCat("rules: ", rule, "\nexternalRules: ", rule, "\nresourceRules: {cpu: ", resource,
                   ", memory: ", resource, ", window: 1m}\n"),
      "rules.yaml");
  ASSERT_NE(result.rules, nullptr) << Listed(result.findings);
  const kube::RestMapper& mapper = TestResources();
  const CompiledRules& rules = *result.rules;
  const auto text_of = [](const absl::StatusOr<std::string>& query) {
    return std::string(query.status().message());
  };
  EXPECT_THAT(text_of(rules.custom.at(0)->ObjectQuery({"a", kPods, "web", {"a-1"}, {}}, mapper)),
              testing::HasSubstr("the template metricsQuery gives an empty query"));
  EXPECT_EQ(text_of(rules.external.at(0)->ExternalQuery("a", "web", {}, mapper)),
            "the template metricsQuery gives an empty query");
  EXPECT_EQ(text_of(rules.resource->cpu->ContainerQuery("web", {"a-1"}, mapper)),
            "the template containerQuery gives an empty query");
  EXPECT_EQ(text_of(rules.resource->cpu->NodeQuery({"n1"}, mapper)),
            "the template nodeQuery gives an empty query");
}

TEST(CheckResourcesTest, NamesOverridesThatTheClusterDoesNotKnow) {
  const CompileResult result = CompileRules(
      "rules:\n- seriesQuery: up\n  metricsQuery: up{<<.LabelMatchers>>}\n  resources:\n"
      "    overrides:\n      po: {resource: pod}\n      brand: {group: cheese.io, resource: "
      "brand}\n",
      "f");
  ASSERT_NE(result.rules, nullptr) << Listed(result.findings);
  EXPECT_EQ(Listed(CheckResources(*result.rules, TestResources())),
            "f:7:7: rules[0].resources.overrides.brand: warning: the cluster has no resource "
            "brand.cheese.io, expected the name of one that it serves");
}

TEST(CompileRules, ARuleMaySayWhoAnswersIt) {
  const CompileResult result = CompileRules(
      "rules:\n"
      "- &a {seriesQuery: up, metricsQuery: 'up{<<.LabelMatchers>>}',\n"
      "      resources: {template: <<.Resource>>}}\n"
      "- {<<: *a, source: live}\n"
      "- {<<: *a, source: prometheus}\n",
      "f");
  ASSERT_NE(result.rules, nullptr) << Listed(result.findings);
  EXPECT_EQ(result.rules->custom.at(0)->source, SourceChoice::kAny);
  EXPECT_EQ(result.rules->custom.at(1)->source, SourceChoice::kLive);
  EXPECT_EQ(result.rules->custom.at(2)->source, SourceChoice::kPrometheus);
}

}  // namespace
}  // namespace flyball::rules
