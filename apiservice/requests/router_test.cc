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

struct RouterRow {
  std::string name;
  std::string target;
  std::string want;
  std::string method = "GET";
};

class RouteTest : public testing::TestWithParam<RouterRow> {};

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
        RouterRow{"Index", "/", "index"}, RouterRow{"Groups", "/apis", "groups"},
        RouterRow{"GroupsWithSlash", "/apis/", "groups"},
        RouterRow{"TwoSlashes", "/apis//", "unknown"},
        RouterRow{"UnknownGroup", "/apis/nope", "unknown"},
        RouterRow{"Group", "/apis/metrics.k8s.io/", "group g=metrics.k8s.io"},
        RouterRow{"GroupWithTwoSlashes", "/apis/metrics.k8s.io//", "group g=metrics.k8s.io"},
        RouterRow{"VersionWithTwoSlashes", C2 "//", "resources" + kC},
        RouterRow{"Version", C2 "/", "resources" + kC},
        RouterRow{"UnknownVersion", "/apis/custom.metrics.k8s.io/v9", "404 NotFound"},
        RouterRow{"NoSecondExternalVersion", "/apis/external.metrics.k8s.io/v1beta2",
                  "404 NotFound"},
        RouterRow{"TwoSlashesInFront", "/" C2 "/namespaces/shop/pods/*/m", "unknown"},
        RouterRow{"TwoSlashesInFrontOfADocument", "//version", "unknown"},
        RouterRow{"Star", C2 "/namespaces/shop/pods/*/m",
                  "custom" + kC + " ns=shop res=pods name=* metric=m"},
        RouterRow{"EncodedStar", C2 "/namespaces/shop/pods/%2A/m",
                  "custom" + kC + " ns=shop res=pods name=* metric=m"},
        RouterRow{"OneTrailingSlash", C2 "/namespaces/shop/pods/a/m/",
                  "custom" + kC + " ns=shop res=pods name=a metric=m"},
        RouterRow{"TwoTrailingSlashes", C2 "/namespaces/shop/pods/a/m//",
                  "custom" + kC + " ns=shop res=pods name=a metric=m"},
        RouterRow{"RootScoped", C2 "/nodes/n1/load",
                  "custom" + kC + " res=nodes name=n1 metric=load"},
        RouterRow{"NamespaceItself", C2 "/namespaces/shop/metrics/m",
                  "custom" + kC + " itself res=namespaces name=shop metric=m"},
        RouterRow{"TwoParts", C2 "/namespaces/shop/pods", "400 BadRequest"},
        RouterRow{"ThreeParts", C2 "/namespaces/shop/pods/a", "404 NotFound"},
        // The original reads both words as parts of the namespace.
        RouterRow{"StatusOfNamespace", C2 "/namespaces/shop/status",
                  "custom" + kC + " ns=shop res=namespaces name=shop metric=status"},
        RouterRow{"NothingBelowStatus", C2 "/namespaces/shop/finalize/a/m",
                  "custom" + kC + " ns=shop res=namespaces name=shop metric=finalize"},
        RouterRow{"WatchedObject", C2 "/watch/nodes/n1", "400 BadRequest"},
        RouterRow{"ProxiedObject", C2 "/proxy/nodes/n1", "400 BadRequest"},
        RouterRow{"ExternalMetricCalledStatus", E1 "/namespaces/shop/status",
                  "external" + kE + " ns=shop metric=status"},
        RouterRow{"TooMany", C2 "/namespaces/shop/pods/a/m/extra", "404 NotFound"},
        RouterRow{"DoubleSlashInside", C2 "/namespaces//pods/a/m", "404 NotFound"},
        RouterRow{"EncodedSlash", C2 "/namespaces/shop/pods/a%2Fb/m", "404 NotFound"},
        RouterRow{"WatchPrefix", C2 "/watch/namespaces/shop/pods/a/m", "404 NotFound"},
        RouterRow{"External", E1 "/namespaces/shop/q", "external" + kE + " ns=shop metric=q"},
        RouterRow{"ExternalWithPlus", E1 "/namespaces/shop/a+b",
                  "external" + kE + " ns=shop metric=a+b"},
        RouterRow{"ExternalWithSpace", E1 "/namespaces/shop/sp%20ace",
                  "external" + kE + " ns=shop metric=sp ace"},
        RouterRow{"ExternalRoot", E1 "/q", "404 NotFound"},
        RouterRow{"ExternalNamespaceAlone", E1 "/namespaces/shop", "404 NotFound"},
        RouterRow{"ExternalTooMany", E1 "/namespaces/shop/a/b", "404 NotFound"},
        RouterRow{"ExternalEncodedSlash", E1 "/namespaces/shop/a%2Fb", "404 NotFound"},
        RouterRow{"Nodes", M1 "/nodes", "nodes" + kM},
        RouterRow{"Node", M1 "/nodes/n", "nodes" + kM + " name=n"},
        RouterRow{"AllPods", M1 "/pods", "pods" + kM},
        RouterRow{"Pods", M1 "/namespaces/shop/pods", "pods" + kM + " ns=shop"},
        RouterRow{"Pod", M1 "/namespaces/shop/pods/p", "pods" + kM + " ns=shop name=p"},
        RouterRow{"NoPodWithoutNamespace", M1 "/pods/p", "404 NotFound"},
        RouterRow{"OtherResource", M1 "/services", "404 NotFound"},
        RouterRow{"Health", "/readyz", "health res=readyz"},
        RouterRow{"DebugRules", "/debug/rules", "rules"},
        RouterRow{"DebugDecisions", "/debug/decisions?name=web", "decisions"},
        RouterRow{"DebugOther", "/debug/other", "unknown"},
        RouterRow{"OneCheck", "/livez/ping", "health res=livez name=ping"},
        RouterRow{"OpenApi", "/openapi/v3/apis/metrics.k8s.io/v1beta1",
                  "openapi3/ name=apis/metrics.k8s.io/v1beta1"},
        RouterRow{"WholeUrl", "https://host/livez", "health res=livez"},
        RouterRow{"LongPath", "/" + std::string(8192, 'a'), "early 414"},
        RouterRow{"Broken", "/apis/%zz", "early 400"}, RouterRow{"NoPath", "*", "early 400"}),
    [](const auto& info) { return info.param.name; });

INSTANTIATE_TEST_SUITE_P(
    Methods, RouteTest,
    testing::Values(RouterRow{"Post", E1 "/namespaces/shop/q", "405 MethodNotAllowed", "POST"},
                    RouterRow{"Head", E1 "/namespaces/shop/q", "405 MethodNotAllowed", "HEAD"},
                    RouterRow{"PostToNowhere", E1 "/q", "404 NotFound", "POST"},
                    RouterRow{"PostToList", "/apis", "405 MethodNotAllowed", "POST"},
                    RouterRow{"PostToTwoParts", C2 "/namespaces/shop/pods", "405 MethodNotAllowed",
                              "POST"},
                    RouterRow{"PostHealth", "/healthz", "health res=healthz", "POST"},
                    RouterRow{"PostVersion", "/version", "405 MethodNotAllowed", "POST"}),
    [](const auto& info) { return info.param.name; });

INSTANTIATE_TEST_SUITE_P(
    Parameters, RouteTest,
    testing::Values(
        RouterRow{"CustomWatchIsAList", C2 "/namespaces/s/pods/*/m?watch=true",
                  "custom" + kC + " ns=s res=pods name=* metric=m"},
        RouterRow{"ExternalWatch", E1 "/namespaces/s/q?watch=true", "405 MethodNotAllowed"},
        RouterRow{"PodsWatch", M1 "/pods?watch=1", "405 MethodNotAllowed"},
        RouterRow{"BadLabels", C2 "/namespaces/s/pods/*/m?labelSelector=a+in+b", "400 BadRequest"},
        RouterRow{"BadMetricLabels", C2 "/namespaces/s/pods/*/m?metricLabelSelector=a+in+b",
                  "500 "},
        RouterRow{"SameName", C2 "/namespaces/s/pods/w/m?fieldSelector=metadata.name%3Dw",
                  "custom" + kC + " ns=s res=pods name=w metric=m"},
        RouterRow{"OtherName", C2 "/namespaces/s/pods/w/m?fieldSelector=metadata.name%3Do",
                  "400 BadRequest"},
        RouterRow{"OtherField", C2 "/namespaces/s/pods/*/m?fieldSelector=spec.x%3Dy",
                  "400 BadRequest"},
        RouterRow{"BareTerm", C2 "/namespaces/s/pods/*/m?fieldSelector=foo", "400 BadRequest"},
        RouterRow{"BadLimit", E1 "/namespaces/s/q?limit=abc", "400 BadRequest"},
        RouterRow{"LimitIgnored", E1 "/namespaces/s/q?limit=1&continue=x&foo=bar",
                  "external" + kE + " ns=s metric=q"},
        RouterRow{"LargeLabels",
                  E1 "/namespaces/s/q?labelSelector=a+in+(" + std::string(1000, 'b') + ")",
                  "400 BadRequest"},
        RouterRow{"LargeFields", M1 "/pods?fieldSelector=metadata.name%3D" + std::string(1000, 'b'),
                  "400 BadRequest"},
        RouterRow{"LargeMetricLabels",
                  C2 "/namespaces/s/pods/*/m?metricLabelSelector=" + std::string(1001, 'a'),
                  "400 BadRequest"},
        RouterRow{"LongLimit", E1 "/namespaces/s/q?limit=" + std::string(100, '0'),
                  "400 BadRequest"},
        RouterRow{"BadTimeout", E1 "/namespaces/s/q?timeout=abc", "early 400"},
        RouterRow{"VeryLongTimeout", E1 "/namespaces/s/q?timeout=" + std::string(100, '0') + "s",
                  "early 400"},
        RouterRow{"LongTimeout", E1 "/namespaces/s/q?timeout=10h",
                  "external" + kE + " ns=s metric=q"},
        RouterRow{"MatchWithoutVersion", E1 "/namespaces/s/q?resourceVersionMatch=Exact",
                  "422 Invalid"},
        RouterRow{"OptionsBeforeFields",
                  E1 "/namespaces/s/q?resourceVersionMatch=Exact&fieldSelector=spec.x%3Dy",
                  "422 Invalid"},
        RouterRow{"FieldsBeforeWatch", M1 "/pods?watch=1&fieldSelector=spec.x%3Dy",
                  "400 BadRequest"},
        RouterRow{"WatchBehindTwoSlashesHasNoTimeout", "/" E1 "/namespaces/s/q?watch=1&timeout=abc",
                  "unknown"},
        RouterRow{"WatchHasNoTimeout", M1 "/pods?watch=1&timeout=abc", "405 MethodNotAllowed"},
        RouterRow{"NoExportOfAPod", M1 "/namespaces/s/pods/p?export=1", "400 BadRequest"},
        RouterRow{"NoExportOfANode", M1 "/nodes/n?export&export=0", "400 BadRequest"},
        RouterRow{"ExportThatIsNotAskedFor", M1 "/nodes/n?export=FALSE&export=1",
                  "nodes" + kM + " name=n"},
        RouterRow{"ExportThatIsZero", M1 "/namespaces/s/pods/p?export=0",
                  "pods" + kM + " ns=s name=p"},
        RouterRow{"ListsIgnoreExport", M1 "/namespaces/s/pods?export=1", "pods" + kM + " ns=s"},
        RouterRow{"MetricsIgnoreExport", C2 "/namespaces/s/pods/p/m?export=1",
                  "custom" + kC + " ns=s res=pods name=p metric=m"},
        RouterRow{"NamedPodIgnoresSelectors", M1 "/namespaces/s/pods/p?labelSelector=a+in+b",
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

class AttributesTest : public testing::TestWithParam<RouterRow> {};

TEST_P(AttributesTest, Row) {
  EXPECT_EQ(ShowAttributes(Route(GetParam().method, GetParam().target, kMinute)), GetParam().want);
}

INSTANTIATE_TEST_SUITE_P(
    Reviews, AttributesTest,
    testing::Values(
        RouterRow{"Star", C2 "/namespaces/ns/pods/*/m?labelSelector=a%3Db",
                  "get custom.metrics.k8s.io/v1beta2 pods/m name=* ns=ns {}"},
        RouterRow{"NamespaceItself", C2 "/namespaces/ns/metrics/m",
                  "get custom.metrics.k8s.io/v1beta2 metrics/ name=m ns=ns {}"},
        RouterRow{"RootScoped", C2 "/nodes/n1/m",
                  "get custom.metrics.k8s.io/v1beta2 nodes/m name=n1 ns= {}"},
        RouterRow{"LiteralResource", C2 "/namespaces/ns/deployments.apps/web/m",
                  "get custom.metrics.k8s.io/v1beta2 deployments.apps/m name=web ns=ns {}"},
        RouterRow{"External", E1 "/namespaces/ns/m?labelSelector=queue%3Da",
                  "list external.metrics.k8s.io/v1beta1 m/ name= ns=ns {queue=a}"},
        RouterRow{"ExternalBadSelectorIsPlainList", E1 "/namespaces/ns/m?labelSelector=a,",
                  "list external.metrics.k8s.io/v1beta1 m/ name= ns=ns {}"},
        RouterRow{"Watch", E1 "/namespaces/ns/m?watch=true",
                  "watch external.metrics.k8s.io/v1beta1 m/ name= ns=ns {}"},
        RouterRow{"DeleteCollection", E1 "/namespaces/ns/m",
                  "deletecollection external.metrics.k8s.io/v1beta1 m/ name= ns=ns {}", "DELETE"},
        RouterRow{"NameFromFieldSelector", M1 "/namespaces/ns/pods?fieldSelector=metadata.name%3Dp",
                  "list metrics.k8s.io/v1beta1 pods/ name=p ns=ns {}"},
        RouterRow{"Pod", M1 "/namespaces/ns/pods/p",
                  "get metrics.k8s.io/v1beta1 pods/ name=p ns=ns {}"},
        RouterRow{"PodOfV1", "/apis/metrics.k8s.io/v1/namespaces/ns/pods/p",
                  "get metrics.k8s.io/v1 pods/ name=p ns=ns {}"},
        RouterRow{"Head", E1 "/namespaces/ns/m",
                  "list external.metrics.k8s.io/v1beta1 m/ name= ns=ns {}", "HEAD"},
        RouterRow{"NonResource", "/metrics", "get /metrics"}, RouterRow{"Discovery", C2, "get " C2},
        RouterRow{"SpecialVerbAlone", "/apis/any/v1/proxy//", "unreadable"},
        RouterRow{"SpecialVerbAloneOfCore", "/api/v1/watch", "unreadable"},
        RouterRow{"SpecialVerbOfAResource", M1 "/watch/pods",
                  "watch metrics.k8s.io/v1beta1 pods/ name= ns= {}"},
        RouterRow{"ResourceBehindSlashes", "//" E1 "/namespaces/ns/m//",
                  "list external.metrics.k8s.io/v1beta1 m/ name= ns=ns {}"},
        RouterRow{"CoreResourceBehindSlashes", "//api/v1/pods", "list /v1 pods/ name= ns= {}"},
        RouterRow{"SpecialVerbAloneBehindSlashes", "//apis/any/v1/watch", "unreadable"},
        RouterRow{"DiscoveryBehindSlashes", "/" C2, "get /" C2},
        RouterRow{"NonResourceBehindSlashes", "//metrics", "get //metrics"},
        RouterRow{"SlashesAlone", "///", "get ///"},
        RouterRow{"PostNonResource", "/version", "post /version", "POST"},
        RouterRow{"CoreApi", "/api/v1/namespaces/ns/secrets/s",
                  "get /v1 secrets/ name=s ns=ns {}"}),
    [](const auto& info) { return info.param.name; });

}  // namespace
}  // namespace flyball::apiservice
