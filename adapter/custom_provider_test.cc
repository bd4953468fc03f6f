#include "adapter/custom_provider.h"

#include <limits>

#include "adapter/testing/floor.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace flyball::adapter {
namespace {

// Without its notes.
absl::Status Bare(const absl::Status& status) {
  return absl::Status(status.code(), status.message());
}

using testing::SizeIs;

constexpr char kRules[] = R"(
rules:
- {seriesQuery: m, resources: {overrides: {ns: {resource: namespace}, po: {resource: pod}}},
   metricsQuery: 'sum by (<<.GroupBy>>) (<<.Series>>{<<.LabelMatchers>>})'}
)";

class CustomProviderTest : public testing::Test {
 protected:
  explicit CustomProviderTest(NanValue nan_value = NanValue::kZero)
      : floor_({.nan_value = nan_value}) {
    floor_.source.OnSeries([](const std::string&) {
      return std::vector<SeriesName>{{"m", {"ns", "po"}}};
    });
    floor_.directory.Add("pods", "web", "a");
    floor_.directory.Add("pods", "web", "b");
    floor_.Load(CompileOrDie(kRules));
    Answer(1);
  }

  void Answer(double value) {
    floor_.source.OnQuery([value](const std::string&) {
      return VectorOf({{.labels = {{"po", "a"}}, .time = absl::UnixEpoch(), .value = value}});
    });
  }
  absl::StatusOr<CustomMetricList> Get(const std::string& name) {
    CustomMetricRequest request;
    request.resource = "pods";
    request.ns = "web";
    request.name = name;
    request.metric = "m";
    return floor_.custom().Get(request);
  }

  TestFloor floor_;
};

TEST_F(CustomProviderTest, AnAnswerIsFreshForTheAgeOfItsQuery) {
  const auto first = Get("a");
  ASSERT_TRUE(first.ok()) << first.status();
  EXPECT_EQ(first->freshness.fresh_until, floor_.clock.MonotonicNow() + absl::Seconds(1));
  EXPECT_EQ(first->freshness.epoch, floor_.custom().Epoch());
  floor_.clock.Advance(absl::Milliseconds(600));
  const auto second = Get("a");
  EXPECT_EQ(second->freshness.fresh_until, first->freshness.fresh_until);
  // The time shown is that of the answer, not of the query.
  EXPECT_EQ(second->timestamp, absl::FromUnixSeconds(1700000001));
}

TEST_F(CustomProviderTest, TheRuleRemembersItsLastAnswer) {
  ASSERT_TRUE(Get("a").ok());
  const auto last = floor_.relister().Statuses()[0].last_answer;
  ASSERT_TRUE(last.has_value());
  EXPECT_EQ(last->promql, R"(sum by (po) (m{ns="web",po="a"}))");
  EXPECT_EQ(last->values, 1u);
  EXPECT_EQ(last->at, floor_.clock.WallNow());
}

TEST_F(CustomProviderTest, TheEpochChangesWithObjectsAndRules) {
  const uint64_t before = floor_.custom().Epoch();
  floor_.directory.Add("pods", "web", "c");
  const uint64_t with_pod = floor_.custom().Epoch();
  EXPECT_NE(with_pod, before);
  floor_.Load(CompileOrDie(std::string(kRules) + "externalRules: []\n"));
  EXPECT_NE(floor_.custom().Epoch(), with_pod);
}

TEST_F(CustomProviderTest, AFailingSourceIsNotExplainedToTheClient) {
  floor_.source.OnQuery([](const std::string&) { return absl::UnavailableError("10.1.2.3 down"); });
  EXPECT_EQ(Bare(Get("a").status()), absl::InternalError("unable to fetch metrics"));
  EXPECT_EQ(Bare(Get("*").status()), absl::InternalError("unable to fetch metrics"));
}

TEST_F(CustomProviderTest, ARefusedQueryReadsTheSame) {
  floor_.source.OnQuery([](const std::string&) { return absl::InvalidArgumentError("bad_data"); });
  EXPECT_EQ(Bare(Get("a").status()), absl::InternalError("unable to fetch metrics"));
}

TEST_F(CustomProviderTest, OutOfTimeKeepsItsCode) {
  floor_.source.OnQuery([](const std::string&) { return absl::DeadlineExceededError("slow"); });
  EXPECT_EQ(Get("a").status().code(), absl::StatusCode::kDeadlineExceeded);
}

// As prometheus-adapter 0.12.0, whose client refuses to put such a name into a path.
TEST_F(CustomProviderTest, ANamespaceThatNoPathCanHoldIsNotListed) {
  CustomMetricRequest request;
  request.resource = "pods";
  request.name = "*";
  request.metric = "m";
  for (const char* ns : {"a%b", ".", "..", "a/b"}) {
    request.ns = ns;
    EXPECT_EQ(floor_.custom().Get(request).status(),
              absl::InternalError("unable to list matching resources"))
        << ns;
  }
  request.ns = "a b";
  EXPECT_EQ(floor_.custom().Get(request).status(),
            absl::NotFoundError("the server could not find the metric m for pods"));
}

TEST_F(CustomProviderTest, AListIsAskedForOnceItIsAdmitted) {
  CustomMetricRequest request;
  request.resource = "pods";
  request.ns = "web";
  request.name = "*";
  request.metric = "m";
  ListSize asked;
  request.admit = [&](const ListSize& size) {
    asked = size;
    return absl::ResourceExhaustedError("no room");
  };
  EXPECT_EQ(floor_.custom().Get(request).status(), absl::ResourceExhaustedError("no room"));
  EXPECT_EQ(asked.items, 2u);
  EXPECT_EQ(asked.text_bytes, std::string("webawebb").size());
  EXPECT_THAT(floor_.source.queries(), SizeIs(0));
  request.admit = [](const ListSize&) { return absl::OkStatus(); };
  EXPECT_THAT(floor_.custom().Get(request)->items, SizeIs(1));
}

TEST_F(CustomProviderTest, AScalarIsAFailure) {
  floor_.source.OnQuery([](const std::string&) {
    auto scalar = std::make_shared<QueryResult>();
    scalar->type = QueryResult::Type::kScalar;
    return FakeSource::Result(std::move(scalar));
  });
  EXPECT_EQ(Bare(Get("a").status()), absl::InternalError("unable to fetch metrics"));
}

TEST_F(CustomProviderTest, ANullResultIsAnEmptyOne) {
  floor_.source.OnQuery([](const std::string&) {
    auto null = std::make_shared<QueryResult>();
    null->null_result = true;
    return FakeSource::Result(std::move(null));
  });
  EXPECT_EQ(Get("a").status(),
            absl::NotFoundError("the server could not find the metric m for pods a"));
  EXPECT_THAT(Get("*")->items, SizeIs(0));
}

// A list starts a watch: a path that names any listable resource must not be enough for that. The
// original lists first.
TEST_F(CustomProviderTest, NothingIsListedForAMetricThatIsNone) {
  floor_.directory.FailLists(absl::UnavailableError("api server down"));
  CustomMetricRequest unknown;
  unknown.resource = "pods";
  unknown.ns = "web";
  unknown.name = "*";
  unknown.metric = "none";
  EXPECT_EQ(floor_.custom().Get(unknown).status(),
            absl::NotFoundError("the server could not find the metric none for pods"));
  EXPECT_EQ(floor_.directory.lists(), 0);
  EXPECT_EQ(Get("*").status(), absl::InternalError("unable to list matching resources"));
  EXPECT_EQ(floor_.directory.lists(), 1);
  // A named object needs no list.
  EXPECT_TRUE(Get("a").ok());
  EXPECT_EQ(floor_.directory.lists(), 1);
}

TEST_F(CustomProviderTest, AnEmptyGroupGoesUnsaid) {
  CustomMetricRequest request;
  request.ns = "web";
  request.name = "a";
  request.metric = "none";
  const auto told = [&](const char* resource) {
    request.resource = resource;
    return std::string(floor_.custom().Get(request).status().message());
  };
  EXPECT_EQ(told("pods."), "the server could not find the metric none for pods");
  EXPECT_EQ(told("pods.."), "the server could not find the metric none for pods..");
  EXPECT_EQ(told("x.y."), "the server could not find the metric none for x.y.");
}

TEST_F(CustomProviderTest, NanIsZero) {
  Answer(std::numeric_limits<double>::quiet_NaN());
  const auto got = Get("a");
  ASSERT_TRUE(got.ok()) << got.status();
  EXPECT_EQ(got->items[0].value_milli, 0);
}

class CustomProviderDropTest : public CustomProviderTest {
 protected:
  CustomProviderDropTest() : CustomProviderTest(NanValue::kDrop) {}
};

TEST_F(CustomProviderDropTest, NanIsNoSample) {
  Answer(std::numeric_limits<double>::quiet_NaN());
  EXPECT_EQ(Get("a").status(),
            absl::NotFoundError("the server could not find the metric m for pods a"));
  EXPECT_THAT(Get("*")->items, SizeIs(0));
}

// ---- value_guard.h ----

struct MilliRow {
  std::string name;
  double value;
  std::optional<int64_t> want;
};

class ToMilliTest : public testing::TestWithParam<MilliRow> {};

TEST_P(ToMilliTest, Row) {
  SimulatedClock clock(absl::UnixEpoch());
  ValueGuard guard(NanValue::kZero, clock, nullptr);
  EXPECT_EQ(guard.ToMilli(GetParam().value, "custom", "m"), GetParam().want);
}

INSTANTIATE_TEST_SUITE_P(
    Values, ToMilliTest,
    testing::Values(MilliRow{"BelowAMilli", 0.0009, 0},
                    MilliRow{"AsADoubleMultiplies", 1.005, 1004},
                    MilliRow{"TowardZeroFromBelow", -1.9999, -1999},
                    MilliRow{"Large", 9.2e15, 9200000000000000000},
                    MilliRow{"JustTooLarge", 9.3e15, std::nullopt},
                    MilliRow{"JustTooSmall", -9.3e15, std::nullopt},
                    MilliRow{"Infinite", std::numeric_limits<double>::infinity(), std::nullopt},
                    MilliRow{"MinusInfinite", -std::numeric_limits<double>::infinity(),
                             std::nullopt},
                    MilliRow{"NotANumber", std::numeric_limits<double>::quiet_NaN(), 0}),
    [](const auto& info) { return info.param.name; });

}  // namespace
}  // namespace flyball::adapter
