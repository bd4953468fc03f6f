#include "apiservice/requests/router.h"

#include <string>

#include <gtest/gtest.h>

#include "absl/strings/str_cat.h"

namespace flyball::apiservice {
namespace {

const absl::Duration kMinute = absl::Minutes(1);
constexpr size_t kSelectorBytes = 1000;

// With the parameters of one who is allowed. The result holds views of `target`.
RoutedRequest Routed(const std::string& method, const std::string& target) {
  RoutedRequest routed = Route(method, target, kMinute);
  if (!routed.early_error.has_value()) ReadParameters(kSelectorBytes, &routed);
  return routed;
}

// One word for an endpoint and what it was given: "custom ns=shop res=pods name=* metric=m".
std::string Show(const RoutedRequest& r) {
  if (r.early_error.has_value()) return absl::StrCat("early ", r.early_error->code);
  if (r.error.has_value()) return absl::StrCat(r.error->code, " ", r.error->reason);
  static const char* const kNames[] = {"unknown",  "index",     "groups", "group",   "resources",
                                       "custom",   "external",  "pods",   "nodes",   "openapi2",
                                       "openapi3", "openapi3/", "health", "metrics", "version",
                                       "rules",    "decisions"};
  std::string out = kNames[static_cast<int>(r.endpoint)];
  const auto add = [&](absl::string_view name, absl::string_view value) {
    if (!value.empty()) absl::StrAppend(&out, " ", name, "=", value);
  };
  add("g", r.group);
  add("v", r.version);
  add("ns", r.ns);
  if (r.namespace_itself) out += " itself";
  add("res", r.resource);
  add("name", r.name);
  add("metric", r.metric);
  return out;
}

struct Row {
  std::string name;
  std::string target;
  std::string want;
  std::string method = "GET";
};

class RouteTest : public testing::TestWithParam<Row> {};

TEST_P(RouteTest, Row) {
  EXPECT_EQ(Show(Routed(GetParam().method, GetParam().target)), GetParam().want);
}

#define C2 "/apis/custom.metrics.k8s.io/v1beta2"
#define E1 "/apis/external.metrics.k8s.io/v1beta1"
#define M1 "/apis/metrics.k8s.io/v1beta1"
const std::string kC = " g=custom.metrics.k8s.io v=v1beta2";
const std::string kE = " g=external.metrics.k8s.io v=v1beta1";
const std::string kM = " g=metrics.k8s.io v=v1beta1";

INSTANTIATE_TEST_SUITE_P(
    Paths, RouteTest,
    testing::Values(
        Row{"Index", "/", "index"}, Row{"Groups", "/apis", "groups"},
        Row{"GroupsWithSlash", "/apis/", "groups"}, Row{"TwoSlashes", "/apis//", "unknown"},
        Row{"UnknownGroup", "/apis/nope", "unknown"},
        Row{"Group", "/apis/metrics.k8s.io/", "group g=metrics.k8s.io"},
        Row{"GroupWithTwoSlashes", "/apis/metrics.k8s.io//", "group g=metrics.k8s.io"},
        Row{"VersionWithTwoSlashes", C2 "//", "resources" + kC},
        Row{"Version", C2 "/", "resources" + kC},
        Row{"UnknownVersion", "/apis/custom.metrics.k8s.io/v9", "404 NotFound"},
        Row{"NoSecondExternalVersion", "/apis/external.metrics.k8s.io/v1beta2", "404 NotFound"},
        Row{"TwoSlashesInFront", "/" C2 "/namespaces/shop/pods/*/m", "unknown"},
        Row{"TwoSlashesInFrontOfADocument", "//version", "unknown"},
        Row{"Star", C2 "/namespaces/shop/pods/*/m",
            "custom" + kC + " ns=shop res=pods name=* metric=m"},
        Row{"EncodedStar", C2 "/namespaces/shop/pods/%2A/m",
            "custom" + kC + " ns=shop res=pods name=* metric=m"},
        Row{"OneTrailingSlash", C2 "/namespaces/shop/pods/a/m/",
            "custom" + kC + " ns=shop res=pods name=a metric=m"},
        Row{"TwoTrailingSlashes", C2 "/namespaces/shop/pods/a/m//",
            "custom" + kC + " ns=shop res=pods name=a metric=m"},
        Row{"RootScoped", C2 "/nodes/n1/load", "custom" + kC + " res=nodes name=n1 metric=load"},
        Row{"NamespaceItself", C2 "/namespaces/shop/metrics/m",
            "custom" + kC + " itself res=namespaces name=shop metric=m"},
        Row{"TwoParts", C2 "/namespaces/shop/pods", "400 BadRequest"},
        Row{"ThreeParts", C2 "/namespaces/shop/pods/a", "404 NotFound"},
        // The original reads both words as parts of the namespace.
        Row{"StatusOfNamespace", C2 "/namespaces/shop/status",
            "custom" + kC + " ns=shop res=namespaces name=shop metric=status"},
        Row{"NothingBelowStatus", C2 "/namespaces/shop/finalize/a/m",
            "custom" + kC + " ns=shop res=namespaces name=shop metric=finalize"},
        Row{"WatchedObject", C2 "/watch/nodes/n1", "400 BadRequest"},
        Row{"ProxiedObject", C2 "/proxy/nodes/n1", "400 BadRequest"},
        Row{"ExternalMetricCalledStatus", E1 "/namespaces/shop/status",
            "external" + kE + " ns=shop metric=status"},
        Row{"TooMany", C2 "/namespaces/shop/pods/a/m/extra", "404 NotFound"},
        Row{"DoubleSlashInside", C2 "/namespaces//pods/a/m", "404 NotFound"},
        Row{"EncodedSlash", C2 "/namespaces/shop/pods/a%2Fb/m", "404 NotFound"},
        Row{"WatchPrefix", C2 "/watch/namespaces/shop/pods/a/m", "404 NotFound"},
        Row{"External", E1 "/namespaces/shop/q", "external" + kE + " ns=shop metric=q"},
        Row{"ExternalWithPlus", E1 "/namespaces/shop/a+b", "external" + kE + " ns=shop metric=a+b"},
        Row{"ExternalWithSpace", E1 "/namespaces/shop/sp%20ace",
            "external" + kE + " ns=shop metric=sp ace"},
        Row{"ExternalRoot", E1 "/q", "404 NotFound"},
        Row{"ExternalNamespaceAlone", E1 "/namespaces/shop", "404 NotFound"},
        Row{"ExternalTooMany", E1 "/namespaces/shop/a/b", "404 NotFound"},
        Row{"ExternalEncodedSlash", E1 "/namespaces/shop/a%2Fb", "404 NotFound"},
        Row{"Nodes", M1 "/nodes", "nodes" + kM},
        Row{"Node", M1 "/nodes/n", "nodes" + kM + " name=n"},
        Row{"AllPods", M1 "/pods", "pods" + kM},
        Row{"Pods", M1 "/namespaces/shop/pods", "pods" + kM + " ns=shop"},
        Row{"Pod", M1 "/namespaces/shop/pods/p", "pods" + kM + " ns=shop name=p"},
        Row{"NoPodWithoutNamespace", M1 "/pods/p", "404 NotFound"},
        Row{"OtherResource", M1 "/services", "404 NotFound"},
        Row{"Health", "/readyz", "health res=readyz"}, Row{"DebugRules", "/debug/rules", "rules"},
        Row{"DebugDecisions", "/debug/decisions?name=web", "decisions"},
        Row{"DebugOther", "/debug/other", "unknown"},
        Row{"OneCheck", "/livez/ping", "health res=livez name=ping"},
        Row{"OpenApi", "/openapi/v3/apis/metrics.k8s.io/v1beta1",
            "openapi3/ name=apis/metrics.k8s.io/v1beta1"},
        Row{"WholeUrl", "https://host/livez", "health res=livez"},
        Row{"LongPath", "/" + std::string(8192, 'a'), "early 414"},
        Row{"Broken", "/apis/%zz", "early 400"}, Row{"NoPath", "*", "early 400"}),
    [](const auto& info) { return info.param.name; });

INSTANTIATE_TEST_SUITE_P(
    Methods, RouteTest,
    testing::Values(Row{"Post", E1 "/namespaces/shop/q", "405 MethodNotAllowed", "POST"},
                    Row{"Head", E1 "/namespaces/shop/q", "405 MethodNotAllowed", "HEAD"},
                    Row{"PostToNowhere", E1 "/q", "404 NotFound", "POST"},
                    Row{"PostToList", "/apis", "405 MethodNotAllowed", "POST"},
                    Row{"PostToTwoParts", C2 "/namespaces/shop/pods", "405 MethodNotAllowed",
                        "POST"},
                    Row{"PostHealth", "/healthz", "health res=healthz", "POST"},
                    Row{"PostVersion", "/version", "405 MethodNotAllowed", "POST"}),
    [](const auto& info) { return info.param.name; });

INSTANTIATE_TEST_SUITE_P(
    Parameters, RouteTest,
    testing::Values(
        Row{"CustomWatchIsAList", C2 "/namespaces/s/pods/*/m?watch=true",
            "custom" + kC + " ns=s res=pods name=* metric=m"},
        Row{"ExternalWatch", E1 "/namespaces/s/q?watch=true", "405 MethodNotAllowed"},
        Row{"PodsWatch", M1 "/pods?watch=1", "405 MethodNotAllowed"},
        Row{"BadLabels", C2 "/namespaces/s/pods/*/m?labelSelector=a+in+b", "400 BadRequest"},
        Row{"BadMetricLabels", C2 "/namespaces/s/pods/*/m?metricLabelSelector=a+in+b", "500 "},
        Row{"SameName", C2 "/namespaces/s/pods/w/m?fieldSelector=metadata.name%3Dw",
            "custom" + kC + " ns=s res=pods name=w metric=m"},
        Row{"OtherName", C2 "/namespaces/s/pods/w/m?fieldSelector=metadata.name%3Do",
            "400 BadRequest"},
        Row{"OtherField", C2 "/namespaces/s/pods/*/m?fieldSelector=spec.x%3Dy", "400 BadRequest"},
        Row{"BareTerm", C2 "/namespaces/s/pods/*/m?fieldSelector=foo", "400 BadRequest"},
        Row{"BadLimit", E1 "/namespaces/s/q?limit=abc", "400 BadRequest"},
        Row{"LimitIgnored", E1 "/namespaces/s/q?limit=1&continue=x&foo=bar",
            "external" + kE + " ns=s metric=q"},
        Row{"LargeLabels", E1 "/namespaces/s/q?labelSelector=a+in+(" + std::string(1000, 'b') + ")",
            "400 BadRequest"},
        Row{"LargeFields", M1 "/pods?fieldSelector=metadata.name%3D" + std::string(1000, 'b'),
            "400 BadRequest"},
        Row{"LargeMetricLabels",
            C2 "/namespaces/s/pods/*/m?metricLabelSelector=" + std::string(1001, 'a'),
            "400 BadRequest"},
        Row{"LongLimit", E1 "/namespaces/s/q?limit=" + std::string(100, '0'), "400 BadRequest"},
        Row{"BadTimeout", E1 "/namespaces/s/q?timeout=abc", "early 400"},
        Row{"VeryLongTimeout", E1 "/namespaces/s/q?timeout=" + std::string(100, '0') + "s",
            "early 400"},
        Row{"LongTimeout", E1 "/namespaces/s/q?timeout=10h", "external" + kE + " ns=s metric=q"},
        Row{"MatchWithoutVersion", E1 "/namespaces/s/q?resourceVersionMatch=Exact", "422 Invalid"},
        Row{"OptionsBeforeFields",
            E1 "/namespaces/s/q?resourceVersionMatch=Exact&fieldSelector=spec.x%3Dy",
            "422 Invalid"},
        Row{"FieldsBeforeWatch", M1 "/pods?watch=1&fieldSelector=spec.x%3Dy", "400 BadRequest"},
        Row{"WatchBehindTwoSlashesHasNoTimeout", "/" E1 "/namespaces/s/q?watch=1&timeout=abc",
            "unknown"},
        Row{"WatchHasNoTimeout", M1 "/pods?watch=1&timeout=abc", "405 MethodNotAllowed"},
        Row{"NoExportOfAPod", M1 "/namespaces/s/pods/p?export=1", "400 BadRequest"},
        Row{"NoExportOfANode", M1 "/nodes/n?export&export=0", "400 BadRequest"},
        Row{"ExportThatIsNotAskedFor", M1 "/nodes/n?export=FALSE&export=1",
            "nodes" + kM + " name=n"},
        Row{"ExportThatIsZero", M1 "/namespaces/s/pods/p?export=0", "pods" + kM + " ns=s name=p"},
        Row{"ListsIgnoreExport", M1 "/namespaces/s/pods?export=1", "pods" + kM + " ns=s"},
        Row{"MetricsIgnoreExport", C2 "/namespaces/s/pods/p/m?export=1",
            "custom" + kC + " ns=s res=pods name=p metric=m"},
        Row{"NamedPodIgnoresSelectors", M1 "/namespaces/s/pods/p?labelSelector=a+in+b",
            "pods" + kM + " ns=s name=p"}),
    [](const auto& info) { return info.param.name; });

TEST(ReadParametersTest, WrongValuesAreQuotedAsGoDoes) {
  const auto number = Routed("GET", E1 "/namespaces/s/q?limit=%5C%22%0A").error;
  ASSERT_TRUE(number.has_value());
  EXPECT_EQ(number->message, R"(strconv.ParseInt: parsing "\\\"\n": invalid syntax)");
  const auto match =
      Routed("GET", E1 "/namespaces/s/q?resourceVersion=1&resourceVersionMatch=%5C%22%0A").error;
  ASSERT_TRUE(match.has_value());
  EXPECT_EQ(match->message,
            R"(ListOptions.meta.k8s.io "" is invalid: resourceVersionMatch: Unsupported value: )"
            R"("\\\"\n": supported values: "Exact", "NotOlderThan", "")");
}

// It would be repeated several times before the error is shortened.
TEST(ReadParametersTest, ALongValueIsNotQuotedWhole) {
  const std::string target = E1 "/namespaces/s/q?resourceVersionMatch=" + std::string(500'000, '"');
  const auto error = Routed("GET", target).error;
  ASSERT_TRUE(error.has_value());
  EXPECT_EQ(error->code, 422);
  EXPECT_LT(error->message.size(), 10'000u);
  for (const wire::StatusCause& cause : error->details->causes) {
    EXPECT_LT(cause.message.size(), 10'000u);
  }
}

// A value or a key counts 64 bytes and its length: 14 of them, and separators, are less than 1000.
TEST(ReadParametersTest, SelectorsAreCountedBeforeTheyAreParsed) {
  const auto read = [](const std::string& selector) {
    const std::string target = E1 "/namespaces/s/q?labelSelector=" + selector;
    return Routed("GET", target).error;
  };
  std::string values = "v";
  for (int i = 1; i < 12; ++i) values += ",v" + std::to_string(i);
  EXPECT_FALSE(read("k+in+(" + values + ")").has_value());
  const auto refused = read("k+in+(" + values + ",w,x,y)");
  ASSERT_TRUE(refused.has_value());
  EXPECT_EQ(refused->message,
            "labelSelector takes more than the 1000 bytes of --max-selector-bytes; each key and "
            "value counts 64 bytes and its length");
  // And before it is seen to be wrong.
  EXPECT_EQ(read(std::string(1000, ',') + "?")->message, refused->message);
}

// Not even a user who may do nothing gets it parsed, or his own text back.
TEST(RouteCostTest, LeavesSelectorsForLater) {
  const std::string target = E1 "/namespaces/s/q?labelSelector=,,,&metricLabelSelector=(";
  const RoutedRequest routed = Route("GET", target, kMinute);
  EXPECT_FALSE(routed.error.has_value());
  EXPECT_TRUE(routed.label_selector.empty());
}

TEST(RouteCostTest, ReviewsAreToldSelectorsThatAreNotTooLarge) {
  const auto reviewed = [](size_t bytes) {
    std::string target = E1 "/namespaces/s/q?labelSelector=a+in+(";
    for (size_t i = 0; target.size() + 64 * i < bytes; ++i) absl::StrAppend(&target, "v", i, ",");
    const RoutedRequest routed = Route("GET", target + ")", kMinute);
    return !routed.attributes.label_selector.empty();
  };
  EXPECT_TRUE(reviewed(kMaxReviewedSelectorBytes / 2));
  EXPECT_FALSE(reviewed(kMaxReviewedSelectorBytes * 2));
}

struct InvalidRow {
  std::string name;
  std::string query;
  std::string want;  // the message after `ListOptions.meta.k8s.io "" is invalid: `
};

class ListOptionsTest : public testing::TestWithParam<InvalidRow> {};

TEST_P(ListOptionsTest, Row) {
  const std::string target = absl::StrCat(E1 "/namespaces/s/q?", GetParam().query);
  const auto error = Routed("GET", target).error;
  ASSERT_TRUE(error.has_value());
  EXPECT_EQ(error->code, 422);
  EXPECT_EQ(error->message,
            absl::StrCat("ListOptions.meta.k8s.io \"\" is invalid: ", GetParam().want));
}

INSTANTIATE_TEST_SUITE_P(
    Invalid, ListOptionsTest,
    testing::Values(
        InvalidRow{"EachFaultIsTold", "resourceVersionMatch=x",
                   "[resourceVersionMatch: Forbidden: resourceVersionMatch is forbidden unless "
                   "resourceVersion is provided, resourceVersionMatch: Unsupported value: \"x\": "
                   "supported values: \"Exact\", \"NotOlderThan\", \"\"]"},
        InvalidRow{"ExactlyTheFirst", "resourceVersionMatch=Exact&resourceVersion=0",
                   "resourceVersionMatch: Forbidden: resourceVersionMatch \"exact\" is forbidden "
                   "for resourceVersion \"0\""},
        InvalidRow{"WatchHasItsOwn", "watch=1&resourceVersionMatch=NotOlderThan",
                   "resourceVersionMatch: Forbidden: resourceVersionMatch is forbidden for watch "
                   "unless sendInitialEvents is provided"}),
    [](const auto& info) { return info.param.name; });

TEST(RouteTimeoutTest, ShortensButNeverLengthens) {
  EXPECT_EQ(Route("GET", "/apis?timeout=5s", kMinute).timeout, absl::Seconds(5));
  EXPECT_EQ(Route("GET", "/apis?timeout=10h", kMinute).timeout, kMinute);
  EXPECT_EQ(Route("GET", "/apis?timeout=0s", kMinute).timeout, kMinute);
  EXPECT_EQ(Route("GET", "/apis?timeout=-1s", kMinute).timeout, kMinute);
}

// "verb group/version resource/subresource name ns path {selector}"
std::string ShowAttributes(const RoutedRequest& r) {
  const Attributes& a = r.attributes;
  if (a.unreadable) return "unreadable";
  if (!a.is_resource) return absl::StrCat(a.verb, " ", a.path);
  return absl::StrCat(a.verb, " ", a.group, "/", a.version, " ", a.resource, "/", a.subresource,
                      " name=", a.name, " ns=", a.ns, " {", a.label_selector.ToString(), "}");
}

class AttributesTest : public testing::TestWithParam<Row> {};

TEST_P(AttributesTest, Row) {
  EXPECT_EQ(ShowAttributes(Route(GetParam().method, GetParam().target, kMinute)), GetParam().want);
}

INSTANTIATE_TEST_SUITE_P(
    Reviews, AttributesTest,
    testing::Values(
        Row{"Star", C2 "/namespaces/ns/pods/*/m?labelSelector=a%3Db",
            "get custom.metrics.k8s.io/v1beta2 pods/m name=* ns=ns {}"},
        Row{"NamespaceItself", C2 "/namespaces/ns/metrics/m",
            "get custom.metrics.k8s.io/v1beta2 metrics/ name=m ns=ns {}"},
        Row{"RootScoped", C2 "/nodes/n1/m",
            "get custom.metrics.k8s.io/v1beta2 nodes/m name=n1 ns= {}"},
        Row{"LiteralResource", C2 "/namespaces/ns/deployments.apps/web/m",
            "get custom.metrics.k8s.io/v1beta2 deployments.apps/m name=web ns=ns {}"},
        Row{"External", E1 "/namespaces/ns/m?labelSelector=queue%3Da",
            "list external.metrics.k8s.io/v1beta1 m/ name= ns=ns {queue=a}"},
        Row{"ExternalBadSelectorIsPlainList", E1 "/namespaces/ns/m?labelSelector=a,",
            "list external.metrics.k8s.io/v1beta1 m/ name= ns=ns {}"},
        Row{"Watch", E1 "/namespaces/ns/m?watch=true",
            "watch external.metrics.k8s.io/v1beta1 m/ name= ns=ns {}"},
        Row{"DeleteCollection", E1 "/namespaces/ns/m",
            "deletecollection external.metrics.k8s.io/v1beta1 m/ name= ns=ns {}", "DELETE"},
        Row{"NameFromFieldSelector", M1 "/namespaces/ns/pods?fieldSelector=metadata.name%3Dp",
            "list metrics.k8s.io/v1beta1 pods/ name=p ns=ns {}"},
        Row{"Pod", M1 "/namespaces/ns/pods/p", "get metrics.k8s.io/v1beta1 pods/ name=p ns=ns {}"},
        Row{"PodOfV1", "/apis/metrics.k8s.io/v1/namespaces/ns/pods/p",
            "get metrics.k8s.io/v1 pods/ name=p ns=ns {}"},
        Row{"Head", E1 "/namespaces/ns/m", "list external.metrics.k8s.io/v1beta1 m/ name= ns=ns {}",
            "HEAD"},
        Row{"NonResource", "/metrics", "get /metrics"}, Row{"Discovery", C2, "get " C2},
        Row{"SpecialVerbAlone", "/apis/any/v1/proxy//", "unreadable"},
        Row{"SpecialVerbAloneOfCore", "/api/v1/watch", "unreadable"},
        Row{"SpecialVerbOfAResource", M1 "/watch/pods",
            "watch metrics.k8s.io/v1beta1 pods/ name= ns= {}"},
        Row{"ResourceBehindSlashes", "//" E1 "/namespaces/ns/m//",
            "list external.metrics.k8s.io/v1beta1 m/ name= ns=ns {}"},
        Row{"CoreResourceBehindSlashes", "//api/v1/pods", "list /v1 pods/ name= ns= {}"},
        Row{"SpecialVerbAloneBehindSlashes", "//apis/any/v1/watch", "unreadable"},
        Row{"DiscoveryBehindSlashes", "/" C2, "get /" C2},
        Row{"NonResourceBehindSlashes", "//metrics", "get //metrics"},
        Row{"SlashesAlone", "///", "get ///"},
        Row{"PostNonResource", "/version", "post /version", "POST"},
        Row{"CoreApi", "/api/v1/namespaces/ns/secrets/s", "get /v1 secrets/ name=s ns=ns {}"}),
    [](const auto& info) { return info.param.name; });

}  // namespace
}  // namespace flyball::apiservice
