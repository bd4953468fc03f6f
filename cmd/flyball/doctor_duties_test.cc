#include "cmd/flyball/doctor_duties.h"

#include "cmd/flags/doctor_flags.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace flyball::cmd {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

// Those of a server in namespace monitoring that is started with these flags beside --config.
doctor::Duties Of(std::vector<std::string> flags,
                  const std::vector<const scaler::Managed*>& chosen = {}) {
  flags.insert(flags.begin(), {"serve", "--config=c"});
  return DutiesOf(SettingsOf(flags), "monitoring", nullptr, chosen);
}

TEST(DutiesOf, TheLiveSourceByItsFlags) {
  EXPECT_TRUE(Of({"--metric-source=live", "--live-scrape-kubelets=15s"}).kubelets);
  EXPECT_TRUE(
      Of({"--metric-source=prometheus+live", "--live-scrape-annotated-pods=1s"}).annotated_pods);
  EXPECT_FALSE(Of({"--metric-source=live"}).annotated_pods);
  EXPECT_FALSE(Of({"--metric-source=live"}).kubelets);
  EXPECT_FALSE(Of({"--live-scrape-annotated-pods=1s"}).annotated_pods) << "without effect";
}

TEST(DutiesOf, LeasesAreInTheNamespaceThatTheServerIsTold) {
  EXPECT_EQ(Of({}).ns, "monitoring");
  EXPECT_EQ(Of({"--scaler", "--scaler-lease-namespace=leases"}).ns, "leases");
}

TEST(DutiesOf, SecretsWhereTriggersNameThem) {
  scaler::Managed named;
  named.key = {scaler::AutoscalerKind::kOwn, "shop", "web"};
  named.own.triggers.emplace_back().secrets = {{"apiKey", {"keys", "api"}}};
  scaler::Managed without = named;
  without.key.ns = "bank";
  without.own.triggers[0].secrets.clear();
  EXPECT_THAT(Of({"--scaler"}, {&named, &without}).secrets_in, ElementsAre("shop"));
  EXPECT_THAT(Of({"--scaler", "--scaler-namespace=bank"}, {&named, &without}).secrets_in, IsEmpty())
      << "another scaler's";
}

TEST(DutiesOf, TheRulesByTheirLists) {
  const auto compiled = rules::CompileRules(
      "externalRules: [{seriesQuery: up, metricsQuery: up, onFailure: {then: max}}]", "c");
  ASSERT_NE(compiled.rules, nullptr);
  const doctor::Duties duties = DutiesOf({}, "", compiled.rules.get(), {});
  EXPECT_TRUE(duties.external && duties.asks_for_replicas);
  EXPECT_FALSE(duties.custom || duties.resource || duties.scaler);
}

}  // namespace
}  // namespace flyball::cmd
