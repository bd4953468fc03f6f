#include "scaler/explain/given_case.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <iterator>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "scaler/explain/explain.h"
#include "scaler/explain/snapshot.h"
#include "scaler/views/decision_log.h"

namespace flyball::scaler {
namespace {

using testing::HasSubstr;

const absl::Time kNow = absl::FromCivil(absl::CivilSecond(2026, 3, 1, 3), absl::UTCTimeZone());

std::string ReadAll(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()};
}

// The example of `decide`, as a running scaler would have decided it.
class LoggedCaseTest : public testing::Test {
 protected:
  void SetUp() override {
    for (const char* file : {"hpa.yaml", "deployment.yaml", "pods.yaml", "metrics.yaml"}) {
      ASSERT_TRUE(AddFile(file,
                          ReadAll(absl::StrCat(FLYBALL_SOURCE_DIR "/test/data/decide/", file)),
                          snapshot_)
                      .ok());
    }
    CaseOptions options;
    options.now = kNow;
    options.now_source = "--at";
    given_ = DecideGiven(snapshot_, snapshot_.autoscalers[0], options);
    auto managed = std::make_shared<Managed>();
    managed->autoscaler = given_.autoscaler;
    managed->key = {.kind = AutoscalerKind::kHpa, .ns = "shop", .name = "checkout"};
    pods_.table = &given_.table;
    record_.managed = managed;
    record_.mode = Mode::kAct;
    record_.scale = &given_.scale;
    record_.pods = &pods_;
    record_.readings = given_.readings;
    record_.newest_sample = kNow - absl::Milliseconds(800);
    record_.decision = &given_.decision;
    record_.time = kNow;
    record_.took = absl::Milliseconds(3);
    record_.scale_written = true;
  }

  std::string Explain(DecisionLogOptions options = {}) {
    DecisionLog log(options);
    log.OnDecision(record_);
    std::vector<LoggedDecision> last = log.Last(record_.managed->key);
    EXPECT_EQ(last.size(), 1u);
    return ExplainText(CaseFromLog(std::move(last[0])));
  }

  ClusterSnapshot snapshot_;
  GivenCase given_;
  PodsAnswer pods_;
  DecisionRecord record_;
};

TEST_F(LoggedCaseTest, IsExplainedAsDecideExplainsIt) {
  for (Proposal& proposal : given_.decision.proposals) proposal.pod_groups.clear();
  std::string want = ExplainText(given_);
  // Only the sources of the inputs and the notes differ.
  std::vector<std::string> want_lines, got_lines;
  for (absl::string_view line : absl::StrSplit(want, '\n')) {
    if (!absl::StartsWith(line, "note") && !absl::StartsWith(line, "time")) {
      want_lines.emplace_back(line);
    }
  }
  const std::string got = Explain();
  for (absl::string_view line : absl::StrSplit(got, '\n')) {
    if (!absl::StartsWith(line, "note") && !absl::StartsWith(line, "time")) {
      got_lines.emplace_back(line);
    }
  }
  EXPECT_EQ(got_lines, want_lines);
  EXPECT_THAT(got, HasSubstr("note        the scale was written\n"));
  EXPECT_THAT(got, HasSubstr("took 3ms, the newest sample was 800ms old"));
  EXPECT_THAT(got, HasSubstr("3 ready, 1 not ready"));
}

TEST_F(LoggedCaseTest, TheTraceIsTheSame) {
  for (Proposal& proposal : given_.decision.proposals) proposal.pod_groups.clear();
  DecisionLog log;
  log.OnDecision(record_);
  const GivenCase logged = CaseFromLog(log.Last(record_.managed->key)[0]);
  std::string want = ExplainJson(given_);
  std::string got = ExplainJson(logged);
  want.resize(want.find("\"state\""));  // of which the log keeps only a part
  got.resize(got.find("\"state\""));
  EXPECT_EQ(got, want);
}

TEST_F(LoggedCaseTest, TellsOfGrowthThatWaitsForPods) {
  Decision& decision = given_.decision;
  decision.pending = {.loading = 2, .settling = 1, .before = 8, .after = 4};
  decision.limiting->by = LimitedBy::kNothing;
  decision.rescale = false;
  const std::string text = Explain();
  EXPECT_THAT(text, HasSubstr("Why 4 and not 5: the metrics ask for 8, but growing waits for the "
                              "pods that were asked for: 2 not ready yet, 1 ready for less time "
                              "than they took to be."));
  EXPECT_THAT(text, HasSubstr("pending     8 becomes 4 (2 loading and 1 settling pods"));
  EXPECT_THAT(ExplainJson(given_), HasSubstr("\"pendingCapacity\""));
}

TEST_F(LoggedCaseTest, AScaleThatIsNotKnownIsNotZero) {
  given_.decision = Decision();
  given_.decision.outcome = Outcome::kScaleUnknown;
  given_.decision.now = kNow;
  given_.decision.min_replicas = 1;
  given_.decision.max_replicas = 9;
  given_.scale.failure = ScaleAnswer::Failure::kRead;
  given_.scale.error = "the server timed out";
  record_.pods = nullptr;
  record_.readings = absl::Span<const Reading>();
  record_.scale_written = false;
  const std::string text = Explain();
  EXPECT_THAT(text, HasSubstr(": Deployment checkout stays as it is\n"
                              "Why: the scale of the target is not known: the server timed out."));
  EXPECT_THAT(text, HasSubstr("scale       not known, min 1, max 9 "));
  EXPECT_THAT(ExplainJson(given_), testing::Not(HasSubstr("Replicas\": 0")));
}

TEST_F(LoggedCaseTest, OfManyPodsTheNumberOfAllIsShown) {
  const std::string text = Explain({.samples = 2});
  EXPECT_THAT(text, HasSubstr("pods        4 with app=checkout"));
  EXPECT_THAT(text, HasSubstr("  read      4 samples, "));
  EXPECT_THAT(text, HasSubstr("of 4 pods the first 2 and their samples are kept in the log"));
}

TEST_F(LoggedCaseTest, MetricsOfTriggersAreKeptBesideTheSpec) {
  auto without = std::make_shared<Managed>(*record_.managed);
  ASSERT_EQ(without->autoscaler.metrics[2].metric.name, "orders_waiting");
  without->autoscaler.metrics.pop_back();
  record_.managed = without;
  record_.decided_on = &given_.autoscaler;
  const std::string text = Explain();
  EXPECT_THAT(text, HasSubstr("metric 3    External orders_waiting, target 30 for each replica"));
  EXPECT_THAT(text, HasSubstr("8: 229 / 30 = 7.6333"));
}

TEST_F(LoggedCaseTest, SaysWhatBecameOfIt) {
  record_.scale_written = false;
  record_.mode = Mode::kShadow;
  EXPECT_THAT(Explain(), HasSubstr("mode shadow: the scale is not written, the count "));
  record_.mode = Mode::kAct;
  record_.scale_error = "conflict";
  EXPECT_THAT(Explain(), HasSubstr("the scale could not be written: conflict"));
  record_.mode = Mode::kAdvise;
  record_.scale_error = "the watch fails";
  EXPECT_THAT(Explain(), HasSubstr("the smaller count is not published: the watch fails"));
}

}  // namespace
}  // namespace flyball::scaler
