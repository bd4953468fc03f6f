#include "adapter/kept_answers.h"

#include <gtest/gtest.h>

#include "absl/strings/str_cat.h"

namespace flyball::adapter {
namespace {

constexpr absl::Duration kWindow = absl::Minutes(5);

ExternalMetricRequest Question(int number) {
  ExternalMetricRequest request;
  request.ns = "shop";
  request.metric = absl::StrCat("m", number);
  return request;
}

// One series, whose label takes so many bytes.
ExternalMetricList ListOf(size_t bytes) {
  ExternalMetricList list;
  list.items.push_back({.labels = LabelSet{{"l", std::string(bytes, 'x')}},
                        .timestamp = absl::UnixEpoch(),
                        .value_milli = 1000});
  return list;
}

class KeptAnswersTest : public testing::Test {
 protected:
  bool Keeps(int number, absl::Duration now) {
    return kept_.Find(Question(number), "q", kWindow, now, true).list != nullptr;
  }
  KeptAnswers kept_{absl::ZeroDuration()};
};

TEST_F(KeptAnswersTest, AllTogetherTakeNoMoreThanTheirBytes) {
  constexpr size_t kEach = KeptAnswers::kMaxAnswerBytes / 2;
  constexpr int kFit = KeptAnswers::kMaxBytes / kEach;
  absl::Duration now = absl::Seconds(1);
  for (int i = 0; i < 3 * kFit; ++i) {
    now += absl::Milliseconds(1);
    kept_.Keep(Question(i), "q", ListOf(kEach), kWindow, now);
  }
  int kept = 0;
  for (int i = 0; i < 3 * kFit; ++i) kept += Keeps(i, now) ? 1 : 0;
  EXPECT_LE(kept, kFit);
  EXPECT_GE(kept, kFit / 3);
  EXPECT_TRUE(Keeps(3 * kFit - 1, now)) << "the last one goes last";
}

TEST_F(KeptAnswersTest, ANamespaceWithManyQuestionsLeavesThoseOfOthers) {
  absl::Duration now = absl::Seconds(1);
  ExternalMetricRequest quiet = Question(0);
  quiet.ns = "bank";
  kept_.Keep(quiet, "q", ListOf(10), kWindow, now);
  for (size_t i = 0; i < 2 * KeptAnswers::kMaxQuestions; ++i) {
    now += absl::Milliseconds(1);
    kept_.Keep(Question(static_cast<int>(i)), "q", ListOf(10), kWindow, now);
  }
  EXPECT_NE(kept_.Find(quiet, "q", kWindow, now, true).list, nullptr);
}

TEST_F(KeptAnswersTest, WhatNobodyAsksForAnyMoreTakesNoRoomFromWhatIsAskedFor) {
  absl::Duration now = absl::Seconds(1);
  for (size_t i = 0; i < KeptAnswers::kMaxQuestions; ++i) {
    ExternalMetricRequest request = Question(0);
    request.ns = absl::StrCat("preview-", i);
    kept_.Keep(request, "q", ListOf(10), kWindow, now);
  }
  const auto failure = [&] { return kept_.Find(Question(100), "q", kWindow, now, true); };
  EXPECT_EQ(failure().silent_since, now) << "there is no room to remember when it began";
  now += kWindow + absl::Minutes(1);
  const absl::Duration began = now;
  EXPECT_EQ(failure().silent_since, began);
  for (int i = 0; i < 20; ++i) kept_.Keep(Question(i), "q", ListOf(10), kWindow, now);
  for (int i = 0; i < 20; ++i) EXPECT_TRUE(Keeps(i, now)) << i;
  now += absl::Seconds(10);
  EXPECT_EQ(failure().silent_since, began) << "the silence goes on";
}

TEST_F(KeptAnswersTest, WhatHasGoneMakesRoom) {
  constexpr size_t kEach = KeptAnswers::kMaxAnswerBytes / 2;
  absl::Duration now = absl::Seconds(1);
  kept_.Keep(Question(0), "q", ListOf(10), kWindow, now);
  // Far more than all may take, but never at once: a bucket holds one answer and leaves in time.
  for (int i = 0; i < 1000; ++i) {
    now += kWindow / 20;
    kept_.Keep(Question(0), "q", ListOf(10), kWindow, now);
    kept_.Keep(Question(1), "q", ListOf(kEach), kWindow, now);
  }
  EXPECT_TRUE(Keeps(0, now));
  EXPECT_TRUE(Keeps(1, now));
}

TEST_F(KeptAnswersTest, OfALargeAnswerOnlyTheTimeIsKept) {
  const MonotonicTime now = absl::Seconds(7);
  kept_.Keep(Question(1), "q", ListOf(KeptAnswers::kMaxAnswerBytes), kWindow, now);
  EXPECT_FALSE(Keeps(1, now));
  EXPECT_EQ(kept_.Find(Question(1), "q", kWindow, now + absl::Seconds(1), true).silent_since, now);
}

// Both limits, and both orders within a bucket and across buckets.
TEST_F(KeptAnswersTest, NothingLessThanAnAnswerThatWasTooLargeIsGiven) {
  ExternalMetricList many;
  many.items.resize(KeptAnswers::kMaxItems + 1,
                    {.labels = {}, .timestamp = {}, .value_milli = 1000});
  ExternalMetricList wide = ListOf(KeptAnswers::kMaxAnswerBytes);
  wide.items[0].value_milli = 2000;
  int question = 0;
  for (const ExternalMetricList& large : {many, wide}) {
    for (const absl::Duration apart : {absl::Seconds(1), kWindow / 5}) {
      for (const bool large_first : {false, true}) {
        SCOPED_TRACE(absl::StrCat(large.items.size(), " series, ", absl::FormatDuration(apart),
                                  large_first ? ", large first" : ", small first"));
        const MonotonicTime first = absl::Seconds(10);
        ++question;
        kept_.Keep(Question(question), "q", large_first ? large : ListOf(10), kWindow, first);
        kept_.Keep(Question(question), "q", large_first ? ListOf(10) : large, kWindow,
                   first + apart);
        EXPECT_FALSE(Keeps(question, first + apart + absl::Seconds(1)));
        // What is greater than that one is given, and what is left once it is too old.
        ExternalMetricList greatest = ListOf(10);
        greatest.items[0].value_milli = 1'000'000'000;
        kept_.Keep(Question(question), "q", greatest, kWindow, first + apart);
        EXPECT_TRUE(Keeps(question, first + apart + absl::Seconds(1)));
        kept_.Keep(Question(question), "q", ListOf(10), kWindow, first + 3 * kWindow);
        EXPECT_TRUE(Keeps(question, first + 3 * kWindow));
      }
    }
  }
}

// Otherwise the bytes of lists that have gone would push out what is kept for others.
TEST_F(KeptAnswersTest, AListThatMakesPlaceForALargerAnswerTakesNoBytes) {
  constexpr size_t kEach = KeptAnswers::kMaxAnswerBytes / 2;
  ExternalMetricList large = ListOf(KeptAnswers::kMaxAnswerBytes);
  large.items[0].value_milli = 2000;
  absl::Duration now = absl::Seconds(1);
  kept_.Keep(Question(0), "q", ListOf(10), kWindow, now);
  for (int i = 1; i < 1000; ++i) {
    now += absl::Milliseconds(1);
    kept_.Keep(Question(i), "q", ListOf(kEach), kWindow, now);
    kept_.Keep(Question(i), "q", large, kWindow, now);
  }
  EXPECT_TRUE(Keeps(0, now)) << "it would be the first to go";
}

// Whoever may ask can think of any number of long selectors.
TEST_F(KeptAnswersTest, QuestionsTakeTheirBytes) {
  constexpr size_t kEach = 60'000;
  constexpr size_t kFit = KeptAnswers::kMaxBytes / kEach;
  const auto question = [](size_t i) {
    ExternalMetricRequest request = Question(static_cast<int>(i));
    request.metric.append(kEach, 'x');
    return request;
  };
  const MonotonicTime began = absl::Seconds(1), later = absl::Seconds(2);
  size_t remembered = 0, kept = 0;
  for (size_t i = 0; i < 2 * kFit; ++i) kept_.Find(question(i), "q", kWindow, began, true);
  for (size_t i = 0; i < 2 * kFit; ++i) {
    const auto found = kept_.Find(question(i), "q", kWindow, later, true);
    if (found.silent_since == began) ++remembered;
  }
  EXPECT_LE(remembered, kFit);
  EXPECT_GE(remembered, kFit / 2);
  for (size_t i = 0; i < 2 * kFit; ++i) {
    kept_.Keep(question(i), "q", ListOf(10), kWindow, later + absl::Milliseconds(i));
  }
  for (size_t i = 0; i < 2 * kFit; ++i) {
    if (kept_.Find(question(i), "q", kWindow, absl::Seconds(3), true).list != nullptr) ++kept;
  }
  EXPECT_LE(kept, kFit);
  EXPECT_GE(kept, kFit / 3);
}

TEST_F(KeptAnswersTest, ManyQuestionsMakeRoomForNewOnes) {
  const auto request = [](size_t i) {
    return ExternalMetricRequest{.ns = "n", .metric = absl::StrCat("m", i), .selector = {}};
  };
  ExternalMetricList list;
  list.items.push_back({.labels = {}, .timestamp = {}, .value_milli = 1});
  for (size_t i = 0; i <= KeptAnswers::kMaxQuestions; ++i) {
    kept_.Keep(request(i), "", list, absl::Hours(1), absl::Milliseconds(i));
  }
  const absl::Duration now = absl::Minutes(1);
  EXPECT_EQ(kept_.Find(request(0), "", absl::Hours(1), now, true).list, nullptr);
  EXPECT_NE(kept_.Find(request(KeptAnswers::kMaxQuestions), "", absl::Hours(1), now, true).list,
            nullptr);
  list.items.resize(KeptAnswers::kMaxItems + 1);
  kept_.Keep({.ns = "n", .metric = "long", .selector = {}}, "", list, absl::Hours(1), now);
  EXPECT_EQ(
      kept_.Find({.ns = "n", .metric = "long", .selector = {}}, "", absl::Hours(1), now, true).list,
      nullptr);
}

}  // namespace
}  // namespace flyball::adapter
