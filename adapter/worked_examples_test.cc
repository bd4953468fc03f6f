// Each worked example of prometheus-adapter 0.12.0 (its query and its answer were seen on a running
// one), from the request to the answer, with query merging and without.
#include <cmath>
#include <limits>

#include "absl/strings/str_join.h"
#include "adapter/testing/floor.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace flyball::adapter {
namespace {

using testing::ElementsAreArray;

constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();
constexpr double kInf = std::numeric_limits<double>::infinity();

const std::shared_ptr<const rules::CompiledRules>& Worked() {
  static const auto& rules =
      *new std::shared_ptr<const rules::CompiledRules>(CompileOrDie(ReadRules("worked.yaml")));
  return rules;
}

std::vector<SeriesName> SeriesOf(const std::string& selector) {
  if (selector == "{__name__=~\"shop_.*_total\",ns!=\"\"}") {
    return {{"shop_orders_total", {"ns", "po", "svc"}}, {"shop_carts_total", {"ns", "po"}}};
  }
  if (selector == "{__name__=~\"g_.*\"}") {
    return {{"g_sessions", {"job", "namespace", "node", "pod"}},
            {"g_sessions_created", {"namespace", "pod"}}};
  }
  if (selector == "rack_temp") return {{"rack_temp", {"host"}}};
  if (selector == "wl_busy") {
    return {{"wl_busy", {"k8s_apps_deployment", "k8s_networking_ingress", "ns"}}};
  }
  if (selector == "ratio_ok") return {{"ratio_ok", {"dep", "ns"}}};
  if (selector == "field_yield") return {{"field_yield", {"farm", "ns"}}};
  return {{selector, {}}};
}

void AddObjects(FakeDirectory& directory) {
  for (const char* ns : {"default", "kube-node-lease", "kube-public", "kube-system", "web"}) {
    directory.Add("namespaces", "", ns);
  }
  directory.Add("pods", "web", "a-2", {{"app", "shop"}});
  directory.Add("pods", "web", "a-1", {{"app", "shop"}});
  directory.Add("pods", "web", "b-1");
  directory.Add("nodes", "", "n1");
  directory.Add("nodes", "", "n2");
  directory.Add("farms.cheese.example", "", "hill");
}

Sample At(const LabelSet& labels, double value, double seconds = 1700000000) {
  return {.labels = labels,
          .time = absl::FromUnixMillis(static_cast<int64_t>(seconds * 1000)),
          .value = value};
}

kube::Selector ParseSelector(const std::string& text) {
  if (text.empty()) return {};
  auto selector = kube::Selector::Parse(text);
  EXPECT_TRUE(selector.ok()) << selector.status();
  return *selector;
}

std::string Failure(const absl::Status& status) { return status.ToString(); }

// ---- custom ----

struct CustomRow {
  std::string name;
  CustomMetricRequest request;
  std::string query;            // "": none is sent
  std::vector<Sample> samples;  // of the answer
  std::string want;             // items or error
};

CustomMetricRequest Request(std::optional<std::string> ns, std::string resource, std::string name,
                            std::string metric, const std::string& selector = "",
                            const std::string& metric_selector = "") {
  return {.resource = std::move(resource),
          .ns = std::move(ns),
          .name = std::move(name),
          .metric = std::move(metric),
          .object_selector = ParseSelector(selector),
          .metric_selector = ParseSelector(metric_selector)};
}

CustomMetricRequest NamespaceRequest(std::string name, std::string metric) {
  CustomMetricRequest request =
      Request(std::nullopt, "namespaces", std::move(name), std::move(metric));
  request.namespace_itself = true;
  return request;
}

std::string Shown(const absl::StatusOr<CustomMetricList>& list) {
  if (!list.ok()) return Failure(list.status());
  return absl::StrJoin(list->items, "; ", [](std::string* out, const CustomMetricValue& item) {
    absl::StrAppend(out, item.object.api_version, " ", item.object.kind, " ",
                    item.object.ns.empty() ? "" : item.object.ns + "/", item.object.name, "=",
                    item.value_milli, "m");
  });
}

using MergedCustomRow = std::tuple<CustomRow, bool>;

class CustomWorkedExampleTest : public testing::TestWithParam<MergedCustomRow> {};

TEST_P(CustomWorkedExampleTest, Row) {
  const auto& [row, merge] = GetParam();
  TestFloor floor({.queries = {.merge = merge}});
  AddObjects(floor.directory);
  floor.source.OnSeries([](const std::string& selector) { return SeriesOf(selector); });
  floor.Load(Worked());
  floor.source.OnQuery([&](const std::string&) { return VectorOf(row.samples); });
  const auto got = floor.custom().Get(row.request);
  EXPECT_EQ(Shown(got), row.want);
  const std::vector<std::string> queries =
      row.query.empty() ? std::vector<std::string>() : std::vector<std::string>{row.query};
  EXPECT_THAT(floor.source.queries(), ElementsAreArray(queries));
  if (got.ok()) {
    EXPECT_EQ(got->timestamp, absl::FromUnixSeconds(1700000000));
    EXPECT_EQ(got->metric_selector.ToString(), row.request.metric_selector.ToString());
  }
}

constexpr char kOrdersA1[] = R"(sum by (po) (rate(shop_orders_total{ns="web",po="a-1"}[90s])))";

std::vector<CustomRow> CustomRows() {
  return {
      {"E01_OnePod",
       Request("web", "pods", "a-1", "orders_rate"),
       kOrdersA1,
       {At({{"po", "a-1"}}, 2.71828)},
       "/v1 Pod web/a-1=2718m"},
      {"E02_PodsByLabel",
       Request("web", "pods", "*", "orders_rate", "app=shop"),
       R"(sum by (po) (rate(shop_orders_total{ns="web",po=~"a-1|a-2"}[90s])))",
       {At({{"po", "a-1"}}, 2.71828), At({{"po", "a-2"}}, kNaN)},
       "/v1 Pod web/a-1=2718m; /v1 Pod web/a-2=0m"},
      {"E03_NoPods",
       Request("web", "pods", "*", "orders_rate", "app=none"),
       "",
       {},
       "NOT_FOUND: the server could not find the metric orders_rate for pods"},
      {"E04_LastDuplicateWins",
       Request("web", "services", "shop", "orders_rate"),
       R"(sum by (svc) (rate(shop_orders_total{ns="web",svc="shop"}[90s])))",
       {At({{"svc", "shop"}}, 12), At({{"svc", "shop"}}, 8)},
       "/v1 Service web/shop=8000m"},
      {"E05_NamespaceItself",
       NamespaceRequest("web", "orders_rate"),
       R"(sum by (ns) (rate(shop_orders_total{ns="web"}[90s])))",
       {At({{"ns", "web"}}, 1500)},
       "/v1 Namespace web=1500000m"},
      {"E06_AllNamespaces",
       NamespaceRequest("*", "orders_rate"),
       R"(sum by (ns) (rate(shop_orders_total{ns=~"default|kube-node-lease|kube-public|kube-system|web"}[90s])))",
       {At({{"ns", "web"}}, 1500), At({{"ns", "default"}}, 3)},
       "/v1 Namespace default=3000m; /v1 Namespace web=1500000m"},
      {"E07_SeriesWithoutThatLabel",
       Request("web", "services", "shop", "carts_rate"),
       "",
       {},
       "NOT_FOUND: the server could not find the metric carts_rate for services"},
      {"E08_MetricSelector",
       Request("web", "pods", "a-1", "orders_rate", "", "zone in (b,a),tier=x"),
       R"(sum by (po) (rate(shop_orders_total{tier="x",zone=~"a|b",ns="web",po="a-1"}[90s])))",
       {At({{"po", "a-1"}}, 2.71828)},
       "/v1 Pod web/a-1=2718m"},
      {"E09_NotEqualsCannotBeShown",
       Request("web", "pods", "a-1", "orders_rate", "", "tier!=x"),
       R"(sum by (po) (rate(shop_orders_total{tier!="x",ns="web",po="a-1"}[90s])))",
       {At({{"po", "a-1"}}, 2.71828)},
       "UNKNOWN: \"!=\" is not a valid label selector operator"},
      {"E09_NotEqualsWithoutItems",
       Request("web", "pods", "*", "orders_rate", "", "tier!=x"),
       R"(sum by (po) (rate(shop_orders_total{tier!="x",ns="web",po=~"a-1|a-2|b-1"}[90s])))",
       {},
       ""},
      {"E10_ExistsAndNot",
       Request("web", "pods", "a-1", "orders_rate", "", "!tier,zone"),
       R"(sum by (po) (rate(shop_orders_total{tier="",zone!="",ns="web",po="a-1"}[90s])))",
       {At({{"po", "a-1"}}, 2.71828)},
       "/v1 Pod web/a-1=2718m"},
      {"E11_GreaterThan",
       Request("web", "pods", "a-1", "orders_rate", "", "n>3"),
       "",
       {},
       "NOT_FOUND: the server could not find the metric orders_rate for pods"},
      {"E12_CutTowardZero",
       Request("web", "pods", "a-1", "g_sessions"),
       R"(avg(g_sessions{namespace="web",pod="a-1"}) by (pod))",
       {At({{"pod", "a-1"}}, 40.9999)},
       "/v1 Pod web/a-1=40999m"},
      {"E13_FilteredSeries",
       Request("web", "pods", "a-1", "g_sessions_created"),
       "",
       {},
       "NOT_FOUND: the server could not find the metric g_sessions_created for pods"},
      {"E14_Node",
       Request(std::nullopt, "nodes", "n1", "g_sessions"),
       R"(avg(g_sessions{node="n1"}) by (node))",
       {At({{"node", "n1"}}, 7)},
       "/v1 Node n1=7000m"},
      {"E15_NoSample",
       Request("web", "jobs.batch", "j", "g_sessions"),
       R"(avg(g_sessions{namespace="web",job="j"}) by (job))",
       {},
       "NOT_FOUND: the server could not find the metric g_sessions for jobs.batch j"},
      // Differs on purpose: the original gives n2 a huge negative number.
      {"E16_InfiniteIsLeftOut",
       Request(std::nullopt, "nodes", "*", "rack_temp"),
       R"(max by (host) (rack_temp{host=~"n1|n2"}))",
       {At({{"host", "n1"}}, 36.6), At({{"host", "n2"}}, kInf)},
       "/v1 Node n1=36600m"},
      {"E17_OtherNodesOnly",
       Request(std::nullopt, "nodes", "n9", "rack_temp"),
       R"(max by (host) (rack_temp{host="n9"}))",
       {At({{"host", "n1"}}, 1)},
       "NOT_FOUND: the server could not find the metric rack_temp for nodes n9"},
      {"E18_TemplateWithGroup",
       Request("web", "deployments.apps", "api", "wl_busy"),
       R"(wl_busy{ns="web",k8s_apps_deployment="api"})",
       {At({{"k8s_apps_deployment", "api"}}, 0.4)},
       "apps/v1 Deployment web/api=400m"},
      {"E19_GroupFoundByPrefixOnly",
       Request("web", "ingresses.networking.k8s.io", "front", "wl_busy"),
       R"(wl_busy{ns="web",k8s_networking_k8s_io_ingress="front"})",
       {},
       "NOT_FOUND: the server could not find the metric wl_busy for ingresses.networking.k8s.io "
       "front"},
      {"E20_ValuesByName",
       Request("web", "deployments.apps", "api", "success"),
       R"(sum(ratio_ok{ns="web",dep=~"api"}) by (dep))",
       {At({{"dep", "api"}}, 0.995)},
       "apps/v1 Deployment web/api=995m"},
      // Differs on purpose: the original answers 404 here.
      {"E21_ClusterScopedAtItsOwnPath",
       Request(std::nullopt, "farms.cheese.example", "hill", "field_yield"),
       R"(field_yield{farm="hill"})",
       {At({{"farm", "hill"}}, 55)},
       "cheese.example/v1 Farm hill=55000m"},
      {"E22_ClusterScopedUnderANamespace",
       Request("web", "farms.cheese.example", "hill", "field_yield"),
       R"(field_yield{ns="web",farm="hill"})",
       {At({{"farm", "hill"}}, 55)},
       "cheese.example/v1 Farm web/hill=55000m"},
      // Differs on purpose: the original answers 500 here.
      {"E23_ClusterScopedListUnderANamespace",
       Request("web", "farms.cheese.example", "*", "field_yield"),
       R"(field_yield{ns="web",farm="hill"})",
       {At({{"farm", "hill"}}, 55)},
       "cheese.example/v1 Farm web/hill=55000m"},
      {"CoreClusterScopedListUnderANamespace",
       Request("web", "nodes", "*", "rack_temp"),
       "",
       {},
       "INTERNAL: unable to list matching resources"},
      // Not in the list, same rules: what is looked up first, and names as they may be written.
      {"UnknownResourceNamed",
       Request("web", "cars", "a", "orders_rate"),
       "",
       {},
       "NOT_FOUND: the server could not find the metric orders_rate for cars"},
      {"UnknownResourceListed",
       Request("web", "cars", "*", "orders_rate"),
       "",
       {},
       "INTERNAL: unable to list matching resources"},
      {"UnknownMetricListed",
       Request("web", "pods", "*", "none"),
       "",
       {},
       "NOT_FOUND: the server could not find the metric none for pods"},
      {"SingularAnyCaseAndGroupPrefix",
       Request("web", "Deployment.ap", "api", "wl_busy"),
       R"(wl_busy{ns="web",k8s_apps_deployment="api"})",
       {At({{"k8s_apps_deployment", "api"}}, 2)},
       "apps/v1 Deployment web/api=2000m"},
      {"NodeUnderANamespace",
       Request("web", "nodes", "n1", "g_sessions"),
       "",
       {},
       "NOT_FOUND: the server could not find the metric g_sessions for nodes"},
      {"OverflowIsLeftOut",
       Request("web", "pods", "a-1", "orders_rate"),
       kOrdersA1,
       {At({{"po", "a-1"}}, 1e16)},
       "NOT_FOUND: the server could not find the metric orders_rate for pods a-1"},
  };
}

INSTANTIATE_TEST_SUITE_P(Custom, CustomWorkedExampleTest,
                         testing::Combine(testing::ValuesIn(CustomRows()), testing::Bool()),
                         [](const auto& info) {
                           return std::get<0>(info.param).name +
                                  (std::get<1>(info.param) ? "_Merging" : "_Alone");
                         });

// ---- external ----

struct ExternalRow {
  std::string name;
  ExternalMetricRequest request;
  std::string query;
  QueryResult result;
  std::string want;
};

std::string Shown(const absl::StatusOr<ExternalMetricList>& list) {
  if (!list.ok()) return Failure(list.status());
  return absl::StrJoin(list->items, "; ", [](std::string* out, const ExternalMetricValue& item) {
    absl::StrAppend(
        out,
        item.labels
            ? absl::StrCat("{", absl::StrJoin(*item.labels, ",", absl::PairFormatter("=")), "}")
            : "null",
        "=", item.value_milli, "m @", absl::ToUnixMillis(item.timestamp));
  });
}

class ExternalWorkedExampleTest : public testing::TestWithParam<ExternalRow> {};

TEST_P(ExternalWorkedExampleTest, Row) {
  const ExternalRow& row = GetParam();
  TestFloor floor({});
  floor.source.OnSeries([](const std::string& selector) { return SeriesOf(selector); });
  floor.Load(Worked());
  floor.source.OnQuery(
      [&](const std::string&) { return std::make_shared<const QueryResult>(row.result); });
  EXPECT_EQ(Shown(floor.external().Get(row.request)), row.want);
  const std::vector<std::string> queries =
      row.query.empty() ? std::vector<std::string>() : std::vector<std::string>{row.query};
  EXPECT_THAT(floor.source.queries(), ElementsAreArray(queries));
}

ExternalMetricRequest Ask(std::string ns, std::string metric, const std::string& selector = "") {
  return {.ns = std::move(ns), .metric = std::move(metric), .selector = ParseSelector(selector)};
}

QueryResult Result(std::vector<Sample> samples,
                   QueryResult::Type type = QueryResult::Type::kVector) {
  QueryResult result;
  result.type = type;
  result.samples = std::move(samples);
  return result;
}

QueryResult NullResult() {
  QueryResult result;
  result.null_result = true;
  return result;
}

INSTANTIATE_TEST_SUITE_P(
    External, ExternalWorkedExampleTest,
    testing::Values(
        // Differs on purpose: the original's NaN is a huge negative number.
        ExternalRow{"E24_OneItemForEachSample", Ask("web", "q_len"),
                    R"(sum(q_len{ns="web"}) by (q))",
                    Result({At({{"q", "mail"}}, 120.0004, 1700000000.5),
                            At({{"q", "sms"}}, kNaN, 1700000000.5)}),
                    "{q=mail}=120000m @1700000000000; {q=sms}=0m @1700000000000"},
        ExternalRow{"E25_NotIn", Ask("web", "q_len", "q notin (sms,fax)"),
                    R"(sum(q_len{q!~"fax|sms",ns="web"}) by (q))",
                    Result({At({{"q", "a"}}, 1), At({{"q", "a"}}, 2)}),
                    "{q=a}=1000m @1700000000000; {q=a}=2000m @1700000000000"},
        ExternalRow{"E26_NotNamespaced", Ask("web", "kafka_lag", "ns=other"),
                    R"(max(topic_lag{ns="other"}))", Result({At({}, 9000)}),
                    "{}=9000000m @1700000000000"},
        ExternalRow{"E27_NoMatchers", Ask("web", "kafka_lag"), "max(topic_lag{})",
                    Result({At({}, 9000)}), "{}=9000000m @1700000000000"},
        ExternalRow{"E28_NoNamespaceLabel", Ask("web", "orphan"), "", Result({}),
                    "INTERNAL: unable to fetch metrics"},
        ExternalRow{"E29_Scalar", Ask("web", "one_num"), "scalar(sum(one_num))",
                    Result({At({}, 3)}, QueryResult::Type::kScalar), "null=3000m @1700000000000"},
        ExternalRow{"E30_Unknown", Ask("web", "none"), "", Result({}),
                    "NOT_FOUND: the server could not find the metric none for "},
        ExternalRow{"E30_UnknownInDefault", Ask("default", "none"), "", Result({}),
                    "NOT_FOUND: the server could not find the metric none for namespaces"},
        ExternalRow{"NoSample", Ask("web", "q_len"), R"(sum(q_len{ns="web"}) by (q))", Result({}),
                    ""},
        ExternalRow{"InfiniteIsLeftOut", Ask("web", "q_len"), R"(sum(q_len{ns="web"}) by (q))",
                    Result({At({{"q", "a"}}, -kInf), At({{"q", "b"}}, 1)}),
                    "{q=b}=1000m @1700000000000"},
        ExternalRow{"GreaterThan", Ask("web", "q_len", "n>3"), "", Result({}),
                    "INTERNAL: unable to fetch metrics"},
        ExternalRow{"Matrix", Ask("web", "q_len"), R"(sum(q_len{ns="web"}) by (q))",
                    Result({}, QueryResult::Type::kMatrix),
                    "UNKNOWN: encountered an unexpected query result type"},
        ExternalRow{"String", Ask("web", "q_len"), R"(sum(q_len{ns="web"}) by (q))",
                    Result({}, QueryResult::Type::kString), "INTERNAL: unable to fetch metrics"},
        ExternalRow{"Null", Ask("web", "q_len"), R"(sum(q_len{ns="web"}) by (q))", NullResult(),
                    "UNKNOWN: the provided input did not contain vector query results"}),
    [](const auto& info) { return info.param.name; });

// ---- resource ----

class ResourceWorkedExampleTest : public testing::Test {
 protected:
  ResourceWorkedExampleTest() {
    AddObjects(floor_.directory);
    floor_.Load(Worked());
  }

  TestFloor floor_{{}};
};

TEST_F(ResourceWorkedExampleTest, E31_Pod) {
  floor_.source.OnQuery([](const std::string& promql) -> FakeSource::Result {
    if (promql == R"(sum by (po,ctr) (rate(cc{ns="web",po="a-1"}[4m])))") {
      return VectorOf({At({{"ctr", "main"}, {"po", "a-1"}}, 0.1239, 1700000003)});
    }
    if (promql == R"(sum by (po,ctr) (cm{ns="web",po="a-1"}))") {
      return VectorOf({At({{"ctr", "main"}, {"po", "a-1"}}, 67108864, 1700000000.9)});
    }
    ADD_FAILURE() << promql;
    return VectorOf({});
  });
  const auto got = floor_.resource().Pods("web", "a-1", {}, absl::Seconds(60));
  ASSERT_TRUE(got.ok()) << got.status();
  ASSERT_EQ(got->items.size(), 1u);
  const PodMetrics& pod = got->items[0];
  EXPECT_EQ(pod.pod->name, "a-1");
  EXPECT_EQ(pod.timestamp, absl::FromUnixSeconds(1700000000));
  EXPECT_EQ(pod.window, absl::Minutes(4));
  ASSERT_EQ(pod.containers.size(), 1u);
  EXPECT_EQ(pod.containers[0].name, "main");
  EXPECT_EQ(pod.containers[0].usage.cpu_milli, 123);
  EXPECT_EQ(pod.containers[0].usage.memory_milli, 67108864000);
  EXPECT_EQ(got->degraded, "");
}

TEST_F(ResourceWorkedExampleTest, E32_Node) {
  floor_.source.OnQuery([](const std::string& promql) -> FakeSource::Result {
    if (promql == R"(sum by (host) (rate(nc{host="n1"}[4m])))") {
      return VectorOf({At({{"host", "n1"}}, -1), At({{"host", "n1"}}, 5)});
    }
    EXPECT_EQ(promql, R"(sum by (host) (nm{host="n1"}))");
    return VectorOf({At({{"host", "n1"}}, 4294967297)});
  });
  const auto got = floor_.resource().Nodes("n1", {}, absl::Seconds(60));
  ASSERT_TRUE(got.ok()) << got.status();
  ASSERT_EQ(got->items.size(), 1u);
  EXPECT_EQ(got->items[0].usage.cpu_milli, 0);  // the first sample counts, negative is 0
  EXPECT_EQ(got->items[0].usage.memory_milli, 4294967297000);
}

TEST_F(ResourceWorkedExampleTest, E33_OtherNodesOnly) {
  floor_.source.OnQuery([](const std::string&) { return VectorOf({At({{"host", "n1"}}, 1)}); });
  const auto got = floor_.resource().Nodes("n2", {}, absl::Seconds(60));
  ASSERT_TRUE(got.ok()) << got.status();
  EXPECT_EQ(got->items.size(), 0u);
}

// ---- discovery ----

TEST(WorkedDiscoveryTest, ListsAreSortedAndComplete) {
  TestFloor floor({});
  floor.source.OnSeries([](const std::string& selector) { return SeriesOf(selector); });
  floor.Load(Worked());
  std::vector<std::string> custom;
  for (const CustomMetricInfo& info : *floor.custom().ListAll()) {
    custom.push_back(absl::StrCat(info.resource.ToString(), "/", info.metric,
                                  info.namespaced ? "" : " (cluster)"));
  }
  EXPECT_THAT(
      custom,
      testing::ElementsAre(
          "deployments.apps/success", "deployments.apps/wl_busy",
          "farms.cheese.example/field_yield (cluster)", "ingresses.networking.k8s.io/wl_busy",
          "jobs.batch/g_sessions", "namespaces/carts_rate (cluster)",
          "namespaces/field_yield (cluster)", "namespaces/g_sessions (cluster)",
          "namespaces/orders_rate (cluster)", "namespaces/success (cluster)",
          "namespaces/wl_busy (cluster)", "nodes/g_sessions (cluster)", "nodes/rack_temp (cluster)",
          "pods/carts_rate", "pods/g_sessions", "pods/orders_rate", "services/orders_rate"));
  EXPECT_THAT(*floor.external().ListAll(),
              testing::ElementsAre("kafka_lag", "one_num", "orphan", "q_len"));
}

}  // namespace
}  // namespace flyball::adapter
