#include "kube/client/scale.h"

#include <functional>
#include <optional>
#include <string>

#include "absl/strings/str_cat.h"
#include "gtest/gtest.h"
#include "nlohmann/json.hpp"

namespace flyball::kube {
namespace {

constexpr char kWeb[] =
    R"json({"kind":"Scale","apiVersion":"autoscaling/v1","metadata":{"name":"web","namespace":"shop",
        "uid":"u1","resourceVersion":"42","creationTimestamp":"2026-01-01T00:00:00Z"},
        "spec":{"replicas":3},"status":{"replicas":2,"selector":"app=web,tier in (a,b)"
}
})json";

Scale Web() {
  return {.ns = "shop",
          .name = "web",
          .uid = "u1",
          .resource_version = "42",
          .spec_replicas = 3,
          .status_replicas = 2,
          .selector = "app=web,tier in (a,b)"};
}

struct ScaleRow {
  std::string name;
  std::string json;
  std::optional<Scale> want = std::nullopt;  // not set: kInvalidArgument
  std::string error = {};                    // whole text, where it is told
};

using Parse = absl::StatusOr<Scale> (*)(absl::string_view);

void Check(const ScaleRow& row, Parse parse) {
  const auto got = parse(row.json);
  if (!row.want.has_value()) {
    ASSERT_EQ(got.status().code(), absl::StatusCode::kInvalidArgument);
    if (!row.error.empty()) {
      EXPECT_EQ(got.status().message(), row.error);
    }
    return;
  }
  ASSERT_TRUE(got.ok()) << got.status();
  EXPECT_EQ(got->ns, row.want->ns);
  EXPECT_EQ(got->name, row.want->name);
  EXPECT_EQ(got->uid, row.want->uid);
  EXPECT_EQ(got->resource_version, row.want->resource_version);
  EXPECT_EQ(got->spec_replicas, row.want->spec_replicas);
  EXPECT_EQ(got->status_replicas, row.want->status_replicas);
  EXPECT_EQ(got->selector, row.want->selector);
  EXPECT_EQ(got->api_version, row.want->api_version);
}

class ParseScaleTest : public testing::TestWithParam<ScaleRow> {};
TEST_P(ParseScaleTest, Row) { Check(GetParam(), &ParseScale); }

std::string Named(absl::string_view rest) {
  return absl::StrCat(R"({"apiVersion":"autoscaling/v1","kind":"Scale","metadata":{"name":"w"})",
                      rest, "}");
}

// The scale of a DeploymentConfig, as OpenShift serves it: the selector is a map, and beside it is
// its text.
constexpr char kDeploymentConfig[] =
    R"json({"kind":"Scale","apiVersion":"extensions/v1beta1","metadata":{"name":"web",
        "namespace":"shop","uid":"u1","resourceVersion":"42"},"spec":{"replicas":3},
        "status":{"replicas":2,"selector":{"app":"no"},"targetSelector":"app=web,tier in (a,b)"}
})json";

Scale OfVersion(absl::string_view version, Scale scale) {
  scale.api_version = std::string(version);
  return scale;
}

std::string Older(absl::string_view version, absl::string_view status) {
  return absl::StrCat(R"({"kind":"Scale","apiVersion":")", version,
                      R"(","metadata":{"name":"w"},"status":)", status, "}");
}

std::string Selecting(absl::string_view selector) {
  return Named(absl::StrCat(R"(,"status":{"selector":")", selector, R"("})"));
}

std::string NotConvertible(absl::string_view why) {
  return absl::StrCat(
      "received an object from a /scale endpoint which was not convertible to autoscaling Scale: ",
      why);
}

// The selector has gone through a metav1.LabelSelector.
INSTANTIATE_TEST_SUITE_P(
    Scales, ParseScaleTest,
    testing::Values(
        ScaleRow{"WholeScale", kWeb, Web()},
        // Go leaves zeros out.
        ScaleRow{"AbsentNumbersAreZero", Named(R"(,"spec":{},"status":{"replicas":null})"),
                 Scale{"", "w", "", "", 0, 0, ""}},
        ScaleRow{"AbsentPartsAreEmpty", Named(R"(,"spec":null)"), Scale{"", "w", "", "", 0, 0, ""}},
        ScaleRow{
            "KindMayComeLast",
            R"({"spec":{"replicas":1},"metadata":{"name":"w"},"apiVersion":"autoscaling/v1","kind":"Scale"})",
            Scale{"", "w", "", "", 1, 0, ""}},
        ScaleRow{"DeploymentConfig", kDeploymentConfig, OfVersion("extensions/v1beta1", Web())},
        ScaleRow{"MapWithoutItsText",
                 Older("extensions/v1beta1", R"({"replicas":2,"selector":{"b":"2","a":"1"}})"),
                 OfVersion("extensions/v1beta1", {"", "w", "", "", 0, 2, "a=1,b=2"})},
        ScaleRow{"NullsBeforeAutoscaling",
                 Older("apps/v1beta1", R"({"selector":null,"targetSelector":null})"),
                 OfVersion("apps/v1beta1", {"", "w", "", "", 0, 0, ""})},
        ScaleRow{"AppsV1beta2", Older("apps/v1beta2", R"({"targetSelector":"a"})"),
                 OfVersion("apps/v1beta2", {"", "w", "", "", 0, 0, "a"})},
        ScaleRow{"MapOfAutoscaling", Named(R"(,"status":{"selector":{"a":"1"}})")},
        ScaleRow{"TextBeforeAutoscaling", Older("extensions/v1beta1", R"({"selector":"a=1"})")},
        ScaleRow{"SelectorIsSorted", Selecting("c==1 , !b,a notin (y,x,y),d in (,z)"),
                 Scale{"", "w", "", "", 0, 0, "a notin (x,y),!b,c=1,d in (,z)"}},
        ScaleRow{"OfOneKeyTheLastValueCounts", Selecting("a=1,a=2,a"),
                 Scale{"", "w", "", "", 0, 0, "a=2,a"}},
        ScaleRow{"BlanksSelectNothing", Selecting("  "), Scale{"", "w", "", "", 0, 0, ""}},
        ScaleRow{"SyntaxOf135", Selecting("a in (b,,)"), Scale{"", "w", "", "", 0, 0, "a in (,b)"}},
        ScaleRow{
            "SelectorThatDoesNotParse", Selecting("a b"), std::nullopt,
            NotConvertible("failed to parse target selector: couldn't parse the selector string "
                           "\"a b\": unable to parse requirement: found 'b', expected: in, notin, "
                           "=, ==, !=, gt, lt")},
        ScaleRow{
            "TextThatDoesNotParse", Older("apps/v1beta2", R"({"targetSelector":"a,"})"),
            std::nullopt,
            NotConvertible("failed to parse target selector: couldn't parse the selector string "
                           "\"a,\": found '', expected: identifier after ','")},
        ScaleRow{
            "NotEqualsIsNoOperatorOfLabels", Selecting("a!=b"), std::nullopt,
            NotConvertible("failed to parse target selector: \"!=\" is not a valid label selector "
                           "operator")},
        ScaleRow{"NeitherIsGreater", Selecting("a>1"), std::nullopt,
                 NotConvertible("failed to parse target selector: \"gt\" isn't supported in label "
                                "selectors")},
        ScaleRow{"NorLess", Selecting("a<1"), std::nullopt,
                 NotConvertible("failed to parse target selector: \"lt\" isn't supported in label "
                                "selectors")},
        ScaleRow{
            "MapThatIsNoSelector", Older("extensions/v1beta1", R"({"selector":{"":"1"}})"),
            std::nullopt,
            NotConvertible("invalid label selector: key: Invalid value: \"\": name part must be "
                           "non-empty; name part must consist of alphanumeric characters, '-', '_' "
                           "or '.', and must start and end with an alphanumeric character (e.g. "
                           "'MyName',  or 'my.name',  or '123-abc', regex used for validation is "
                           "'([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]')")},
        ScaleRow{"OtherVersions", Older("autoscaling/v2", "{}"), std::nullopt,
                 "the answer is no Scale but \"Scale\" of \"autoscaling/v2\""},
        ScaleRow{"OtherKinds", R"({"kind":"Status","apiVersion":"v1","metadata":{"name":"w"}})",
                 std::nullopt, "the answer is no Scale but \"Status\" of \"v1\""},
        ScaleRow{"NoName", R"({"kind":"Scale","apiVersion":"autoscaling/v1","metadata":{}})"},
        ScaleRow{"TooManyReplicas", Named(R"(,"spec":{"replicas":2147483648})")},
        ScaleRow{"ReplicasAsText", Named(R"(,"spec":{"replicas":"1"})")},
        ScaleRow{"BrokenOff", Named(R"(,"spec":{"replicas":1)")},
        ScaleRow{"NoJson", "404 page not found"}, ScaleRow{"Empty", ""}, ScaleRow{"List", "[]"}),
    [](const auto& info) { return info.param.name; });

class ScaleOfWorkloadTest : public testing::TestWithParam<ScaleRow> {};
TEST_P(ScaleOfWorkloadTest, Row) { Check(GetParam(), &ScaleOfWorkload); }

std::string Workload(absl::string_view version, absl::string_view kind, absl::string_view spec) {
  return absl::StrCat(R"({"kind":")", kind, R"(","apiVersion":")", version,
                      R"(","metadata":{"name":"web","namespace":"shop","uid":"u1",)",
                      R"("resourceVersion":"42","labels":{"name":"x"}},"spec":)", spec,
                      R"(,"status":{"replicas":2,"readyReplicas":1}})");
}

// The selector's text is LabelSelectorAsSelector's, that of a ReplicationController is
// SelectorFromSet's.
INSTANTIATE_TEST_SUITE_P(
    Kinds, ScaleOfWorkloadTest,
    testing::Values(
        ScaleRow{
            "Deployment",
            Workload("apps/v1", "Deployment",
                     R"({"replicas":3,"selector":{"matchExpressions":[{"key":"tier","operator":"In",
                        "values":["b","a"]}],"matchLabels":{"app":"web"}},
                        "template":{"spec":{"replicas":9,"selector":{"matchLabels":{"no":"no"}}}}})"),
            Web()},
        ScaleRow{"ReplicationController",
                 Workload("v1", "ReplicationController",
                          R"({"replicas":0,"selector":{"b":"2","a":"1"}})"),
                 Scale{"shop", "web", "u1", "42", 0, 2, "a=1,b=2"}},
        ScaleRow{"AbsentReplicasAreOneByDefault",
                 Workload("apps/v1", "StatefulSet", R"({"selector":{"matchLabels":{"a":"1"}}})"),
                 Scale{"shop", "web", "u1", "42", 1, 2, "a=1"}},
        ScaleRow{"ExistsNeedsNoValues",
                 Workload("apps/v1", "ReplicaSet",
                          R"({"replicas":1,"selector":{"matchExpressions":[
                        {"key":"a","operator":"Exists"},{"key":"b","operator":"DoesNotExist"},
                        {"key":"c","operator":"NotIn","values":["x"]}]}})"),
                 Scale{"shop", "web", "u1", "42", 1, 2, "a,!b,c notin (x)"}},
        ScaleRow{"ValuesThatAreGivenTwiceAreReadOnce",
                 Workload("apps/v1", "ReplicaSet",
                          R"({"replicas":1,"selector":{"matchExpressions":[
                        {"key":"c","operator":"In","values":["x","x"]}]}})"),
                 Scale{"shop", "web", "u1", "42", 1, 2, "c in (x)"}},
        ScaleRow{"SelectorOfNothingIsEmptyText",
                 Workload("apps/v1", "ReplicaSet", R"({"replicas":1})"),
                 Scale{"shop", "web", "u1", "42", 1, 2, ""}},
        ScaleRow{"SelectorThatCannotBe",
                 Workload("apps/v1", "Deployment",
                          R"({"selector":{"matchExpressions":[{"key":"a","operator":"Like"}]}})"),
                 std::nullopt, "\"Like\" is not a valid label selector operator"},
        ScaleRow{"DaemonSetHasNoScale", Workload("apps/v1", "DaemonSet", "{}"), std::nullopt,
                 "the answer is no workload but \"DaemonSet\" of \"apps/v1\""},
        ScaleRow{"OtherGroupsDeployment", Workload("x/v1", "Deployment", "{}")},
        ScaleRow{"NoKind", R"({"metadata":{"name":"web"}})"}, ScaleRow{"Empty", ""}),
    [](const auto& info) { return info.param.name; });

// Answers with the last body and keeps what it was asked.
class EchoTransport : public http::HttpTransport {
 public:
  absl::StatusOr<http::HttpAnswer> Do(const http::HttpCall& call) override {
    last = call;
    http::HttpAnswer out;
    out.status = status;
    out.body = answer;
    return out;
  }
  absl::Status Stream(const http::HttpCall&,
                      const std::function<bool(absl::string_view)>&) override {
    return absl::UnimplementedError("no streams here");
  }
  void Shutdown() override {}

  http::HttpCall last;
  int status = 200;
  std::string answer = kWeb;
};

const ResourceInfo kDeployments = {.name = {"apps", "deployments"},
                                   .version = "v1",
                                   .kind = "Deployment",
                                   .singular = "deployment"};

TEST(GetScaleTest, AsksTheSubresource) {
  EchoTransport server;
  ApiClient client(server, Clock::System());
  const auto got = GetScale(client, kDeployments, "shop", "web");
  ASSERT_TRUE(got.ok()) << got.status();
  EXPECT_EQ(*got, Web());
  EXPECT_EQ(server.last.target, "/apis/apps/v1/namespaces/shop/deployments/web/scale");
  ResourceInfo cluster = kDeployments;
  cluster.namespaced = false;
  ASSERT_TRUE(GetScale(client, cluster, "shop", "web").ok());
  EXPECT_EQ(server.last.target, "/apis/apps/v1/deployments/web/scale");
}

TEST(GetScaleTest, OfAKindWithoutAScaleItIsNotTheRightThatIsMissing) {
  EchoTransport server;
  server.status = 403;
  server.answer = R"({"kind":"Status","reason":"Forbidden","message":"cannot get it"})";
  ApiClient client(server, Clock::System());
  ResourceInfo target = kDeployments;
  EXPECT_EQ(GetScale(client, target, "shop", "web").status(),
            absl::PermissionDeniedError("cannot get it"));
  target.scalable = false;
  EXPECT_EQ(GetScale(client, target, "shop", "web").status(),
            absl::NotFoundError("the server could not find the requested resource"));
}

TEST(UpdateScaleTest, SendsWhatWasReadUnderItsVersion) {
  EchoTransport server;
  ApiClient client(server, Clock::System());
  ASSERT_TRUE(UpdateScale(client, kDeployments, Web(), 7).ok());
  EXPECT_EQ(server.last.method, "PUT");
  EXPECT_EQ(nlohmann::json::parse(server.last.body), nlohmann::json::parse(R"({"kind":"Scale",
      "apiVersion":"autoscaling/v1","spec":{"replicas":7},"metadata":{"name":"web",
      "namespace":"shop","uid":"u1","resourceVersion":"42"}})"));
}

TEST(UpdateScaleTest, SendsTheVersionThatWasRead) {
  EchoTransport server;
  server.answer = kDeploymentConfig;
  ApiClient client(server, Clock::System());
  const ResourceInfo configs = {.name = {"apps.openshift.io", "deploymentconfigs"},
                                .version = "v1",
                                .kind = "DeploymentConfig",
                                .singular = "deploymentconfig"};
  const auto read = GetScale(client, configs, "shop", "web");
  ASSERT_TRUE(read.ok()) << read.status();
  ASSERT_TRUE(UpdateScale(client, configs, *read, 7).ok());
  EXPECT_EQ(server.last.target,
            "/apis/apps.openshift.io/v1/namespaces/shop/deploymentconfigs/web/scale");
  EXPECT_EQ(nlohmann::json::parse(server.last.body), nlohmann::json::parse(R"({"kind":"Scale",
      "apiVersion":"extensions/v1beta1","spec":{"replicas":7},"metadata":{"name":"web",
      "namespace":"shop","uid":"u1","resourceVersion":"42"}})"));
}

TEST(UpdateScaleTest, ChangedTargetIsAborted) {
  EchoTransport server;
  server.status = 409;
  server.answer = R"({"kind":"Status","reason":"Conflict","message":"has been modified"})";
  ApiClient client(server, Clock::System());
  EXPECT_EQ(UpdateScale(client, kDeployments, Web(), 7).status(),
            absl::AbortedError("has been modified"));
}

}  // namespace
}  // namespace flyball::kube
