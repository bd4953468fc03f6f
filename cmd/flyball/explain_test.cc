#include "cmd/flyball/explain_answer.h"

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "serve/debug_pages.h"

namespace flyball::cmd {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

constexpr absl::Time kNow = absl::FromUnixSeconds(1700000000);

// A decision log and a shadow report with two autoscalers, served by /debug/decisions.
class ExplainTest : public testing::Test {
 protected:
  void Decide(const std::string& name, int32_t current, int32_t desired,
              scaler::AutoscalerKind kind = scaler::AutoscalerKind::kHpa,
              scaler::Outcome outcome = scaler::Outcome::kAboveMax) {
    clock_.Advance(absl::Seconds(15));
    auto managed = std::make_shared<scaler::Managed>();
    managed->key = {.kind = kind, .ns = "shop", .name = name};
    managed->autoscaler.ns = "shop";
    managed->autoscaler.name = name;
    managed->autoscaler.scale_target = {"apps/v1", "Deployment", name};
    scaler::ScaleAnswer scale;
    scale.spec_replicas = current;
    scaler::Decision decision;
    decision.outcome = outcome;
    decision.now = clock_.WallNow();
    decision.current = current;
    decision.desired = desired;
    decision.max_replicas = desired;
    decision.rescale = current != desired;
    decision.status.current_replicas = current;
    decision.status.desired_replicas = desired;
    scaler::DecisionRecord record;
    record.managed = managed;
    record.scale = &scale;
    record.decision = &decision;
    record.time = clock_.WallNow();
    log_.OnDecision(record);
    shadow_.OnDecision(record);
    last_ = managed;
  }

  void StockSays(int32_t current, int32_t desired) {
    auto managed = std::make_shared<scaler::Managed>(*last_);
    managed->autoscaler.status.current_replicas = current;
    managed->autoscaler.status.desired_replicas = desired;
    shadow_.OnForeignStatus(managed);
  }

  std::string Page(const std::map<std::string, std::string>& query) {
    return serve::DebugDecisionsJson({.log = log_, .shadow = shadow_, .replica = "pod-1_abc"},
                                     [&](const char* name) {
                                       const auto found = query.find(name);
                                       return found == query.end() ? "" : found->second;
                                     });
  }

  SimulatedClock clock_{kNow};
  scaler::DecisionLog log_;
  scaler::Shadow shadow_{scaler::ShadowOptions(), clock_};
  scaler::ManagedPtr last_;
};

TEST_F(ExplainTest, PrintsTheNewestInFullAndTheEarlierInALine) {
  Decide("web", 9, 7);
  Decide("web", 8, 7);
  const auto text = ExplainAnswer(Page({{"namespace", "shop"}, {"name", "web"}}), false);
  ASSERT_TRUE(text.ok()) << text.status();
  EXPECT_THAT(*text, StartsWith("shop/web: Deployment web goes from 8 to 7 replicas\nWhy 7"));
  EXPECT_THAT(*text, HasSubstr("result      write replicas 7 to Deployment web"));
  EXPECT_THAT(*text, HasSubstr("\nearlier\n2023-11-14T22:13:35Z  1 time  shop/web: Deployment web "
                               "goes from 9 to 7 replicas. Why 7"));
  const auto all = ExplainAnswer(Page({{"namespace", "shop"}, {"name", "web"}}), true);
  EXPECT_THAT(*all, Not(HasSubstr("earlier")));
  EXPECT_THAT(*all, HasSubstr("9 wanted"));
}

TEST_F(ExplainTest, TheKindTellsTwoOfOneNameApart) {
  Decide("web", 9, 7);
  Decide("web", 5, 4, scaler::AutoscalerKind::kOwn);
  const std::string own = Page({{"namespace", "shop"}, {"name", "web"}, {"kind", "autoscalers"}});
  EXPECT_THAT(*ExplainAnswer(own, false), HasSubstr("from 5 to 4"));
  EXPECT_THAT(*ExplainAnswer(own, false), Not(HasSubstr("from 9 to 7")));
}

TEST_F(ExplainTest, SaysWhoKnowsNothing) {
  const auto text = ExplainAnswer(Page({{"namespace", "shop"}, {"name", "web"}}), false);
  EXPECT_EQ(text.status().code(), absl::StatusCode::kNotFound);
  EXPECT_THAT(std::string(text.status().message()), HasSubstr("pod-1_abc"));
}

TEST_F(ExplainTest, NamesWhatMayHaveBeenMeant) {
  Decide("web", 9, 7);
  Decide("worker", 9, 7);
  const std::vector<std::string> lists = {Page({}), "<html>"};
  EXPECT_EQ(DecidedNearby(lists, "shop", "wed"), "; did you mean web?");
  EXPECT_EQ(DecidedNearby(lists, "bank", "web"), "; there is one in namespace shop");
  EXPECT_EQ(DecidedNearby(lists, "shop", "mailer"), "; in namespace shop there are web, worker");
  EXPECT_EQ(DecidedNearby(lists, "bank", "mailer"), "; none in namespace bank was");
  for (int i = 0; i < 9; ++i) Decide(absl::StrCat("x", i), 9, 7);
  EXPECT_THAT(DecidedNearby({Page({})}, "shop", "mailer"), HasSubstr(", x5 and 3 more"));
}

TEST_F(ExplainTest, AWatchPrintsEachDecisionOnce) {
  const auto page = [&] { return Page({{"namespace", "shop"}, {"name", "web"}}); };
  absl::Time after = absl::InfinitePast();
  EXPECT_EQ(*NewDecisions(page(), after), "");
  EXPECT_EQ(after, absl::InfinitePast());
  Decide("web", 9, 8);
  Decide("web", 8, 7);
  EXPECT_THAT(*NewDecisions(page(), after),
              AllOf(StartsWith("2023-11-14T22:13:50Z\nshop/web: Deployment web goes from 8 to 7"),
                    Not(HasSubstr("from 9"))));
  EXPECT_EQ(*NewDecisions(page(), after), "");
  Decide("web", 7, 6);
  Decide("web", 6, 5);
  const std::string two = *NewDecisions(page(), after);
  EXPECT_LT(two.find("from 7 to 6"), two.find("from 6 to 5"));
  EXPECT_NE(two.find("from 6 to 5"), std::string::npos);
  EXPECT_FALSE(NewDecisions("<html>", after).ok());
}

TEST_F(ExplainTest, HandsOnTheServersComplaint) {
  const auto text = ExplainAnswer(Page({{"name", "web"}, {"kind", "Deployment"}}), false);
  EXPECT_EQ(text.status().code(), absl::StatusCode::kInvalidArgument);
  EXPECT_THAT(std::string(text.status().message()), HasSubstr("got Deployment"));
  EXPECT_FALSE(ExplainAnswer(Page({{"limit", "many"}}), false).ok());
  EXPECT_FALSE(ExplainAnswer(Page({{"report", "all"}}), false).ok());
  EXPECT_FALSE(ExplainAnswer("<html>", false).ok());
}

TEST_F(ExplainTest, ListsAllUpToALimit) {
  Decide("api", 9, 7);
  Decide("web", 3, 3);
  const std::string page = Page({{"namespace", "shop"}, {"limit", "1"}});
  EXPECT_THAT(page,
              HasSubstr(R"({"namespace":"shop","name":"api","kind":"HorizontalPodAutoscaler",)"
                        R"("mode":"shadow","outcome":"above max","currentReplicas":9,)"
                        R"("desiredReplicas":7)"));
  EXPECT_THAT(page, HasSubstr(R"("omitted":1)"));
  EXPECT_THAT(Page({{"namespace", "bank"}}), HasSubstr(R"("autoscalers":[])"));
}

TEST_F(ExplainTest, AScaleThatIsNotKnownHasNoCount) {
  Decide("api", 0, 0, scaler::AutoscalerKind::kHpa, scaler::Outcome::kScaleUnknown);
  const std::string page = Page({{"namespace", "shop"}});
  EXPECT_THAT(page, HasSubstr(R"("name":"api")"));
  EXPECT_THAT(page, Not(HasSubstr("Replicas")));
}

TEST_F(ExplainTest, NothingComparedIsNotAllEqual) {
  EXPECT_EQ(*ShadowAnswer(Page({{"report", "shadow"}})),
            "no status of the stock controller has been compared yet\n");
}

TEST_F(ExplainTest, TheShadowReportNamesWhatDiffered) {
  Decide("api", 3, 3);
  StockSays(3, 3);
  Decide("web", 3, 3);
  StockSays(3, 5);
  clock_.Advance(absl::Seconds(30));
  Decide("web", 3, 3);
  const auto text = ShadowAnswer(Page({{"report", "shadow"}}));
  ASSERT_TRUE(text.ok()) << text.status();
  EXPECT_EQ(*text,
            "2 statuses of the stock controller compared: 1 equal, 1 different (50.00% equal); "
            "other 1\n\n"
            "AUTOSCALER     EQUAL  DIFFERENT  WHY\n"
            "shop/web           0          1  other 1\n"
            "shop/api           1          0  \n"
            "\n2023-11-14T22:13:50Z  shop/web: stock 3 -> 5, flyball 3 -> 3; other: \n");
}

TEST(ParseAutoscalerKind, TakesTheFormsOfKubectl) {
  EXPECT_EQ(serve::ParseAutoscalerKind("HPA"), scaler::AutoscalerKind::kHpa);
  EXPECT_EQ(serve::ParseAutoscalerKind("horizontalpodautoscalers.autoscaling"),
            scaler::AutoscalerKind::kHpa);
  EXPECT_EQ(serve::ParseAutoscalerKind("Autoscaler"), scaler::AutoscalerKind::kOwn);
  EXPECT_EQ(serve::ParseAutoscalerKind("as"), scaler::AutoscalerKind::kOwn) << "its short name";
  EXPECT_EQ(serve::ParseAutoscalerKind("deployment"), std::nullopt);
}

}  // namespace
}  // namespace flyball::cmd
