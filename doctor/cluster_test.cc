#include "doctor/cluster.h"

#include <utility>

#include "absl/time/clock.h"
#include "doctor/test_findings.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "http/testing/test_pki.h"

namespace flyball::doctor {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

ApiService Api(bool available, std::string reason = "", std::string message = "") {
  ApiService api;
  api.name = "v1beta2.custom.metrics.k8s.io";
  api.group = kCustomGroup;
  api.service_ns = "monitoring";
  api.service_name = "flyball";
  api.judged = true;
  api.available = available;
  api.reason = std::move(reason);
  api.message = std::move(message);
  return api;
}

ClusterFacts With(ApiService api) {
  ClusterFacts facts;
  facts.version = "v1.34.4";
  facts.api_services = std::vector<ApiService>{std::move(api)};
  Backend backend;
  backend.ns = "monitoring";
  backend.name = "flyball";
  backend.service = Service{.type = "ClusterIP", .selector = "app=flyball"};
  backend.endpoints = Endpoints{.ready = 1};
  backend.pods = std::vector<ServerPod>();
  facts.backends.push_back(std::move(backend));
  return facts;
}

TEST(CheckApiServices, NamesWhoHoldsIt) {
  EXPECT_THAT(Lines(CheckApiServices(With(Api(true)), {{kCustomGroup, "2 rules"}})),
              ElementsAre("good apiservice: v1beta2.custom.metrics.k8s.io is held by Service "
                          "monitoring/flyball and Available"));
}

TEST(CheckApiServices, MissesAGroupThatIsWanted) {
  EXPECT_THAT(Lines(CheckApiServices(With(Api(true)), {{kExternalGroup, "hpa shop/web"}})),
              testing::Contains(AllOf(
                  HasSubstr("bad apiservice: no APIService for external.metrics.k8s.io, which is "
                            "wanted by hpa shop/web"),
                  HasSubstr("apiServices.create=true and rules.external, or "
                            "apiServices.external=true for what Autoscalers in mode Advise "
                            "publish under scaler.mode=act"))));
}

TEST(CheckApiServices, WithoutTheRightToLookNothingIsClaimed) {
  ClusterFacts facts;
  facts.api_services = absl::PermissionDeniedError("no");
  EXPECT_THAT(Lines(CheckApiServices(facts, {{kCustomGroup, "2 rules"}})),
              ElementsAre(HasSubstr("doubtful apiservice")));
}

struct Reason {
  std::string name;
  std::string reason, message, fix;
};

class UnavailableTest : public testing::TestWithParam<Reason> {};

TEST_P(UnavailableTest, HasItsRemedy) {
  const Reason& row = GetParam();
  EXPECT_THAT(
      Lines(CheckApiServices(With(Api(false, row.reason, row.message)), {})),
      ElementsAre(AllOf(HasSubstr("bad apiservice"), HasSubstr(row.message), HasSubstr(row.fix))));
}

INSTANTIATE_TEST_SUITE_P(
    Reasons, UnavailableTest,
    testing::Values(
        Reason{"NoService", "ServiceNotFound", "service not present", "spec.service"},
        Reason{"NoEndpoints", "MissingEndpoints", "no addresses", "get a pod ready"},
        Reason{"Certificate", "FailedDiscoveryCheck", "x509: unknown authority", "caBundle"},
        Reason{"Refused", "FailedDiscoveryCheck", "connection refused", "NetworkPolicy"},
        Reason{"Slow", "FailedDiscoveryCheck", "context deadline exceeded", "NetworkPolicy"},
        Reason{"Other", "FailedDiscoveryCheck", "bad status 500", "logs"}),
    [](const auto& info) { return info.param.name; });

TEST(CheckBackend, CountsReadyEndpoints) {
  EXPECT_THAT(Lines(CheckBackend(With(Api(true)).backends[0])),
              ElementsAre("good service: Service monitoring/flyball has 1 ready endpoint"));
}

TEST(CheckBackend, TellsNoPodFromNoReadyPod) {
  Backend backend = With(Api(true)).backends[0];
  backend.endpoints = Endpoints{.ready = 0};
  EXPECT_THAT(Lines(CheckBackend(backend)),
              ElementsAre(AllOf(HasSubstr("no pod has the labels app=flyball"),
                                HasSubstr("| make spec.selector"))));
  ServerPod pod;
  pod.ns = "monitoring";
  pod.name = "flyball-1";
  pod.trouble = "CrashLoopBackOff";
  backend.pods = std::vector<ServerPod>{pod};
  EXPECT_THAT(Lines(CheckBackend(backend)),
              ElementsAre(HasSubstr("doubtful server-pod: pod monitoring/flyball-1 is not ready: "
                                    "CrashLoopBackOff"),
                          HasSubstr("| get a pod ready")));
}

TEST(CheckBackend, MissesTheService) {
  Backend backend = With(Api(true)).backends[0];
  backend.service = absl::NotFoundError("gone");
  EXPECT_THAT(Lines(CheckBackend(backend)),
              ElementsAre(HasSubstr("bad service: Service monitoring/flyball does not exist")));
}

class CheckCertificateTest : public testing::Test {
 protected:
  // The findings about a certificate that ends in `days`, with a caBundle that has `issuer`.
  std::vector<std::string> Of(int days, const http::TestPair& issuer, ApiService api) {
    const http::TestPair serving = http::MakeTestPair({.common_name = "flyball",
                                                       .usage = "serverAuth",
                                                       .valid_from = -100 * 86400,
                                                       .valid_to = days * 86400 + 3600,
                                                       .names = "DNS:flyball.monitoring.svc"},
                                                      &ca_);
    api.ca_bundle = http::PemOf(issuer.certificate.get());
    ClusterFacts facts = With(std::move(api));
    facts.backends[0].shown_pem = http::PemOf(serving.certificate.get());
    return Lines(CheckCertificate(facts, facts.backends[0], absl::Now()));
  }

  const http::TestPair ca_ = http::MakeTestPair({.common_name = "the CA",
                                                 .is_ca = true,
                                                 .valid_from = -200 * 86400,
                                                 .valid_to = 200 * 86400});
};

TEST_F(CheckCertificateTest, IsGoodForMonths) {
  EXPECT_THAT(
      Of(90, ca_, Api(true)),
      ElementsAre("good certificate-dates: the certificate of flyball.monitoring.svc ends "
                  "in 90 days",
                  "good certificate-trust: v1beta2.custom.metrics.k8s.io has a caBundle that "
                  "vouches for it as flyball.monitoring.svc"));
}

TEST_F(CheckCertificateTest, EndsSoon) {
  EXPECT_THAT(Of(3, ca_, Api(true))[0], HasSubstr("doubtful certificate-dates"));
}

TEST_F(CheckCertificateTest, HasEnded) {
  const auto lines = Of(-3, ca_, Api(false));
  EXPECT_THAT(lines[0], AllOf(HasSubstr("bad certificate-dates"), HasSubstr("ended 2 days ago")));
  EXPECT_THAT(lines[1], HasSubstr("expired"));
}

TEST_F(CheckCertificateTest, IsOfAnotherAuthority) {
  EXPECT_THAT(Of(90, http::MakeTestCa("another"), Api(false))[1],
              HasSubstr("bad certificate-trust: v1beta2.custom.metrics.k8s.io: the API server "
                        "refuses the certificate"));
}

TEST_F(CheckCertificateTest, NobodyLooks) {
  ApiService api = Api(true);
  api.insecure = true;
  EXPECT_THAT(Of(90, ca_, api)[1], HasSubstr("doubtful certificate-trust: "
                                             "v1beta2.custom.metrics.k8s.io has "
                                             "insecureSkipTLSVerify"));
}

TEST_F(CheckCertificateTest, OutOfSightItIsGoodWhenTheApiServerTakesIt) {
  ClusterFacts facts = With(Api(true));
  EXPECT_THAT(Lines(CheckCertificate(facts, facts.backends[0], absl::Now())),
              ElementsAre(HasSubstr("good certificate: the API server takes")));
  facts = With(Api(false));
  EXPECT_THAT(Lines(CheckCertificate(facts, facts.backends[0], absl::Now())),
              ElementsAre(HasSubstr("doubtful certificate")));
}

TEST(CheckAuthentication, TellsAMissingConfigMapFromAMissingRight) {
  ClusterFacts facts;
  EXPECT_THAT(Line(CheckAuthentication(facts)), HasSubstr("good authentication"));
  facts.authentication = absl::NotFoundError("gone");
  EXPECT_THAT(Line(CheckAuthentication(facts)), HasSubstr("bad authentication"));
  facts.authentication = absl::PermissionDeniedError("no");
  EXPECT_THAT(Line(CheckAuthentication(facts)), HasSubstr("doubtful"));
}

TEST(Backend, TheServerIsThePodWithRulesReadyOnesFirst) {
  Backend backend;
  EXPECT_EQ(backend.server(), nullptr);
  ServerPod other, old, good;
  other.args = {"--secure-port=4443"};
  old.args = good.args = {"--config=/c.yaml"};
  old.name = "old";
  good.name = "good";
  good.ready = true;
  backend.pods = std::vector<ServerPod>{other, old, good};
  EXPECT_EQ(backend.server()->name, "good");
}

TEST(Backend, TheServerIsThePodOfTheNewestVersion) {
  ServerPod before, now, starting;
  for (ServerPod* pod : {&before, &now, &starting}) {
    pod->args = {"--config=/c.yaml"};
    pod->ready = pod != &starting;
  }
  before.created = "2026-03-01T10:00:00Z";
  now.created = "2026-03-01T10:05:00Z";
  starting.created = "2026-03-01T10:06:00Z";
  now.name = "now";
  Backend backend;
  backend.pods = std::vector<ServerPod>{before, now, starting};
  EXPECT_EQ(backend.server()->name, "now");
}

}  // namespace
}  // namespace flyball::doctor
