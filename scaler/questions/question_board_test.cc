#include "scaler/questions/question_board.h"

#include <gtest/gtest.h>

#include <functional>
#include <thread>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/synchronization/mutex.h"
#include "absl/synchronization/notification.h"

namespace flyball::scaler {
namespace {

class Counting : public WholeQuestion {
 public:
  SamplesRead Ask(const AskContext& /*context*/, Answer& answer) override {
    ++asked;
    answer.series.push_back({.labels = {}, .timestamp = {}, .value_milli = value});
    if (samples == nullptr) return {};
    return SamplesRead({{samples, samples->Take()}});
  }
  std::shared_ptr<SampleVersion> samples;
  int asked = 0;
  int64_t value = 1;
};

class Waiter : public AnswerWaiter {
 public:
  bool Answered() override {
    ++answered;
    return true;
  }
  int answered = 0;
};

// A board whose questions run when the test says so.
class QuestionBoardTest : public testing::Test {
 protected:
  void RunAll() {
    for (auto& task : std::exchange(tasks_, {})) task();
  }

  SimulatedClock clock_{absl::FromUnixSeconds(0)};
  std::vector<AnswerWaiter*> ready_;
  std::vector<std::function<void()>> tasks_;
  const QuestionBoard::Run run_ = [this](std::function<void()> task) {
    tasks_.push_back(std::move(task));
  };
  QuestionBoard board_{clock_, [this](absl::Span<AnswerWaiter* const> ready) {
                         ready_.insert(ready_.end(), ready.begin(), ready.end());
                       }};
};

TEST_F(QuestionBoardTest, WhoAsksTheSameSharesOneAnswer) {
  auto question = std::make_shared<Counting>();
  const auto make = [&] { return question; };
  const QuestionBoard::Handle a = board_.Get("q", {}, run_, make);
  const QuestionBoard::Handle b = board_.Get("q", {}, run_, make);
  EXPECT_EQ(QuestionBoard::QuestionOf(*a), QuestionBoard::QuestionOf(*b));
  Waiter first, second;
  EXPECT_FALSE(board_.Join(a, clock_.MonotonicNow(), first));
  EXPECT_FALSE(board_.Join(b, clock_.MonotonicNow(), second));
  EXPECT_EQ(tasks_.size(), 1u);
  RunAll();
  EXPECT_EQ(question->asked, 1);
  EXPECT_EQ(ready_, (std::vector<AnswerWaiter*>{&first, &second}));
  EXPECT_EQ(QuestionBoard::LastAnswerOf(*a).answer->series[0].value_milli, 1);
}

TEST_F(QuestionBoardTest, AFreshAnswerCountsAndAnOldOneDoesNot) {
  auto question = std::make_shared<Counting>();
  const QuestionBoard::Handle handle = board_.Own(question, run_);
  Waiter waiter;
  const MonotonicTime asked_at = clock_.MonotonicNow();
  board_.Join(handle, asked_at, waiter);
  RunAll();
  clock_.Advance(absl::Seconds(1));
  EXPECT_TRUE(board_.Join(handle, asked_at, waiter));
  EXPECT_FALSE(board_.Join(handle, clock_.MonotonicNow(), waiter));
  RunAll();
  EXPECT_EQ(question->asked, 2);
}

TEST_F(QuestionBoardTest, TheVersionChangesWithTheContent) {
  auto question = std::make_shared<Counting>();
  const QuestionBoard::Handle handle = board_.Own(question, run_);
  Waiter waiter;
  const auto version_of = [&](int64_t value) {
    question->value = value;
    clock_.Advance(absl::Seconds(1));
    board_.Join(handle, clock_.MonotonicNow(), waiter);
    RunAll();
    return QuestionBoard::LastAnswerOf(*handle).version;
  };
  const uint64_t first = version_of(1);
  EXPECT_NE(first, 0u);
  EXPECT_EQ(version_of(1), first);
  EXPECT_NE(version_of(2), first);
  EXPECT_NE(version_of(1), first);  // versions never come again
}

TEST_F(QuestionBoardTest, ASlowQuestionDelaysOnlyThoseWhoAskedIt) {
  auto slow = std::make_shared<Counting>();
  auto quick = std::make_shared<Counting>();
  const QuestionBoard::Handle of_slow = board_.Own(slow, run_);
  const QuestionBoard::Handle of_quick = board_.Own(quick, run_);
  Waiter waits, goes_on;
  board_.Join(of_slow, clock_.MonotonicNow(), waits);
  std::vector<std::function<void()>> held = std::exchange(tasks_, {});
  board_.Join(of_quick, clock_.MonotonicNow(), goes_on);
  RunAll();
  EXPECT_EQ(ready_, std::vector<AnswerWaiter*>{&goes_on});
  // Later askers join the slow one; there is never a second of it.
  clock_.Advance(absl::Seconds(9));
  Waiter later;
  EXPECT_FALSE(board_.Join(of_slow, clock_.MonotonicNow(), later));
  EXPECT_TRUE(tasks_.empty());
  for (auto& task : held) task();
  EXPECT_EQ(waits.answered + later.answered, 2);
}

// Answers all parts that it has. While a part is added, something else may happen.
class Parted : public Question {
 public:
  std::vector<PartAnswer> Ask(const AskContext& /*context*/) override {
    absl::MutexLock lock(&mutex_);
    std::vector<PartAnswer> answers;
    for (PartId part = 1; part <= parts_; ++part) {
      answers.push_back({.part = part, .answer = std::make_shared<Answer>()});
    }
    return answers;
  }
  PartId AddPart(const MetricSpec& /*metric*/) override {
    PartId added = 0;
    {
      absl::MutexLock lock(&mutex_);
      added = ++parts_;
    }
    if (meanwhile) std::exchange(meanwhile, nullptr)();
    return added;
  }
  std::function<void()> meanwhile;

 private:
  absl::Mutex mutex_;
  PartId parts_ ABSL_GUARDED_BY(mutex_) = 0;
};

TEST_F(QuestionBoardTest, TheAnswerToAPartThatIsBeingAddedIsKept) {
  auto question = std::make_shared<Parted>();
  const auto make = [&] { return question; };
  Waiter waiter;
  const QuestionBoard::Handle a = board_.Get("q", {}, run_, make);
  std::thread other;
  absl::Notification asked;
  question->meanwhile = [&] {
    other = std::thread([&] {
      board_.Join(a, clock_.MonotonicNow(), waiter);
      RunAll();
      asked.Notify();
    });
    // It may have to wait until the part is added.
    asked.WaitForNotificationWithTimeout(absl::Milliseconds(100));
  };
  const QuestionBoard::Handle b = board_.Get("q", {}, run_, make);
  other.join();
  if (!board_.Join(b, clock_.MonotonicNow(), waiter)) RunAll();
  EXPECT_NE(QuestionBoard::LastAnswerOf(*b).answer, nullptr);
}

class InMemory : public Counting {
 public:
  bool AnswersAtOnce() const override { return true; }
};

TEST_F(QuestionBoardTest, AQuestionThatAnswersAtOnceIsAnsweredWhereItIsNeeded) {
  auto outside = std::make_shared<Counting>();
  auto inside = std::make_shared<InMemory>(), another = std::make_shared<InMemory>();
  const QuestionBoard::Handle of_outside = board_.Own(outside, run_);
  const QuestionBoard::Handle of_inside = board_.Own(inside, run_);
  const QuestionBoard::Handle of_another = board_.Own(another, run_);
  Waiter first, second, third;
  QuestionBoard::ToAsk to_ask;
  board_.Join(of_inside, clock_.MonotonicNow(), first, to_ask);
  board_.Join(of_outside, clock_.MonotonicNow(), second, to_ask);
  board_.Join(of_another, clock_.MonotonicNow(), third, to_ask);
  EXPECT_EQ(inside->asked, 0);
  board_.AskAll(std::move(to_ask));
  EXPECT_EQ(ready_, (std::vector<AnswerWaiter*>{&first, &third}));
  EXPECT_EQ(tasks_.size(), 1u);
  EXPECT_EQ(outside->asked, 0);
  RunAll();
  EXPECT_EQ(ready_.back(), &second);
  EXPECT_TRUE(board_.Join(of_inside, clock_.MonotonicNow(), first));
  EXPECT_EQ(inside->asked, 1);
}

// A part for each metric; unchanged from the second time on, at its own time.
class OfParts : public Question {
 public:
  std::vector<PartAnswer> Ask(const AskContext& /*context*/) override {
    ++asked;
    std::vector<PartAnswer> answers;
    for (const PartId part : parts) {
      answers.push_back({.part = part, .answer = nullptr, .time = absl::FromUnixSeconds(asked)});
      if (unchanged) continue;
      answers.back().time.reset();
      answers.back().answer = std::make_shared<Answer>();
      answers.back().answer->series.push_back(
          {.labels = {}, .timestamp = {}, .value_milli = static_cast<int64_t>(part)});
    }
    covered = parts;
    if (on_ask) std::exchange(on_ask, nullptr)();
    return answers;
  }
  PartId AddPart(const MetricSpec& /*metric*/) override {
    parts.push_back(++last_);
    return last_;
  }
  bool RemovePart(PartId part) override {
    std::erase(parts, part);
    return true;
  }
  bool Covers() const override { return covered == parts; }

  std::vector<PartId> parts, covered;
  bool unchanged = false;
  int asked = 0;
  std::function<void()> on_ask;

 private:
  PartId last_ = 0;
};

class PartsTest : public QuestionBoardTest {
 protected:
  QuestionBoard::Handle Get() {
    return board_.Get("parts", {}, run_, [this] { return question_; });
  }
  static int64_t ValueOf(const QuestionBoard::Handle& part) {
    return QuestionBoard::LastAnswerOf(*part).answer->series[0].value_milli;
  }
  const std::shared_ptr<OfParts> question_ = std::make_shared<OfParts>();
};

TEST_F(PartsTest, AllPartsAreAskedForAtOnce) {
  const QuestionBoard::Handle a = Get(), b = Get();
  Waiter first, second;
  QuestionBoard::ToAsk to_ask;
  EXPECT_FALSE(board_.Join(a, clock_.MonotonicNow(), first, to_ask));
  EXPECT_FALSE(board_.Join(b, clock_.MonotonicNow(), second, to_ask));
  EXPECT_TRUE(tasks_.empty());
  board_.AskAll(std::move(to_ask));
  RunAll();
  EXPECT_EQ(question_->asked, 1);
  EXPECT_EQ(ready_.size(), 2u);
  EXPECT_EQ(ValueOf(a), 1);
  EXPECT_EQ(ValueOf(b), 2);
}

// Whoever comes while others are asked for is not given an answer of theirs.
TEST_F(PartsTest, APartThatComesMeanwhileIsAskedForAtOnce) {
  const QuestionBoard::Handle a = Get();
  QuestionBoard::Handle b;
  Waiter first, second;
  board_.Join(a, clock_.MonotonicNow(), first);
  question_->on_ask = [&] {
    b = Get();
    EXPECT_FALSE(board_.Join(b, clock_.MonotonicNow(), second));
  };
  RunAll();
  EXPECT_EQ(question_->asked, 2);
  EXPECT_EQ(second.answered, 1);
  EXPECT_EQ(ValueOf(b), 2);
  // And one that comes later, however young the answers are.
  Waiter third;
  EXPECT_FALSE(board_.Join(Get(), absl::ZeroDuration(), third));
}

TEST_F(PartsTest, WhatIsHeldByNobodyIsNotAnswered) {
  const QuestionBoard::Handle a = Get();
  QuestionBoard::Handle b = Get();
  Waiter waiter;
  board_.Join(a, clock_.MonotonicNow(), waiter);
  question_->on_ask = [&] { b = nullptr; };
  RunAll();
  EXPECT_EQ(waiter.answered, 1);
  EXPECT_EQ(ValueOf(a), 1);
}

TEST_F(PartsTest, AnAnswerThatStillHoldsKeepsItsContentAndGetsANewTime) {
  const QuestionBoard::Handle part = Get();
  Waiter waiter;
  const auto ask = [&] {
    clock_.Advance(absl::Seconds(1));
    EXPECT_FALSE(board_.Join(part, clock_.MonotonicNow(), waiter));
    RunAll();
    return QuestionBoard::LastAnswerOf(*part);
  };
  const LastAnswer first = ask();
  EXPECT_EQ(first.time, std::nullopt);
  question_->unchanged = true;
  const LastAnswer again = ask();
  EXPECT_EQ(again.answer, first.answer);
  EXPECT_EQ(again.time, absl::FromUnixSeconds(2));
  EXPECT_TRUE(board_.Join(part, absl::Seconds(2), waiter));
  question_->unchanged = false;
  const LastAnswer other = ask();
  EXPECT_NE(other.answer, first.answer);
  EXPECT_EQ(other.version, first.version);  // the same content all the same
  EXPECT_EQ(other.time, std::nullopt);
}

class OfPods : public WholeQuestion {
 public:
  SamplesRead Ask(const AskContext&, Answer& answer) override {
    const AskedPods::Choice choice = pods.ToAsk();
    answer.whole_namespace = choice.whole_namespace;
    asked.push_back(choice.selector.ToString());
    if (on_ask) std::exchange(on_ask, nullptr)();
    return {};
  }
  void NoteSelector(absl::string_view text, const kube::Selector& selector) override {
    pods.Note(text, selector);
  }
  void ForgetSelector(absl::string_view text) override { pods.Forget(text); }
  bool Covers() const override { return pods.Covers(); }
  AskedPods pods;
  std::vector<std::string> asked;
  std::function<void()> on_ask;
};

void Note(const QuestionBoard::Handle& part, const char* selector) {
  QuestionBoard::NoteSelector(*part, selector, *kube::Selector::Parse(selector));
}

TEST_F(QuestionBoardTest, WhoComesWithAnotherSelectorIsAnsweredToo) {
  auto question = std::make_shared<OfPods>();
  const auto make = [&] { return question; };
  const QuestionBoard::Handle a = board_.Get("q", {}, run_, make);
  const QuestionBoard::Handle b = board_.Get("q", {}, run_, make);
  Waiter first, second;
  Note(a, "app=a");
  board_.Join(a, clock_.MonotonicNow(), first);
  question->on_ask = [&] {  // while the first is being asked
    Note(b, "app=b");
    board_.Join(b, clock_.MonotonicNow(), second);
  };
  RunAll();
  EXPECT_EQ(question->asked, (std::vector<std::string>{"app=a", ""}));
  EXPECT_TRUE(QuestionBoard::LastAnswerOf(*a).answer->whole_namespace);
  EXPECT_EQ(ready_.size(), 2u);
}

TEST_F(QuestionBoardTest, WhoGoesOrChangesTakesItsSelectorWithIt) {
  auto question = std::make_shared<OfPods>();
  const auto make = [&] { return question; };
  const QuestionBoard::Handle a = board_.Get("q", {}, run_, make);
  QuestionBoard::Handle b = board_.Get("q", {}, run_, make);
  Waiter waiter;
  const auto ask = [&] {
    clock_.Advance(absl::Seconds(1));
    board_.Join(a, clock_.MonotonicNow(), waiter);
    RunAll();
    return std::exchange(question->asked, {});
  };
  const auto asked = [](const char* text) { return std::vector<std::string>{text}; };
  Note(a, "app=a");
  Note(b, "app=b");
  EXPECT_EQ(ask(), asked(""));
  b = nullptr;
  EXPECT_EQ(ask(), asked("app=a"));
  EXPECT_FALSE(QuestionBoard::LastAnswerOf(*a).answer->whole_namespace);
  Note(a, "app=c");
  EXPECT_FALSE(board_.Join(a, clock_.MonotonicNow(), waiter));  // that answer was of other pods
  RunAll();
  EXPECT_EQ(std::exchange(question->asked, {}), asked("app=c"));
  Note(a, "app=c");
  EXPECT_EQ(ask(), asked("app=c"));
  EXPECT_FALSE(QuestionBoard::LastAnswerOf(*a).answer->whole_namespace);
}

TEST_F(QuestionBoardTest, TellsOfSamplesThatCameAfterTheAnswer) {
  auto question = std::make_shared<Counting>();
  question->samples = std::make_shared<SampleVersion>([] {});
  const auto make = [&] { return question; };
  int told = 0;
  QuestionBoard::Handle listening = board_.Get("q", {}, run_, make, [&] { ++told; });
  const QuestionBoard::Handle other = board_.Get("q", {}, run_, make);
  EXPECT_FALSE(QuestionBoard::TellsOfNews(*listening));
  Waiter waiter;
  const auto ask = [&] {
    clock_.Advance(absl::Seconds(1));
    board_.Join(other, clock_.MonotonicNow(), waiter);
    RunAll();
  };
  const auto sample = [&] {
    question->samples->Mark();
    question->samples->CallFollowers();
  };
  ask();
  EXPECT_TRUE(QuestionBoard::TellsOfNews(*listening));
  sample();
  sample();
  EXPECT_EQ(told, 1) << "until somebody has asked again";
  ask();
  sample();
  EXPECT_EQ(told, 2);
  ask();
  listening = nullptr;
  sample();
  EXPECT_EQ(told, 2);

  // A source tells as long as somebody holds what it said of an answer.
  listening = board_.Get("q", {}, run_, make, [&] { ++told; });
  ask();
  const std::weak_ptr<SampleVersion> held = std::exchange(question->samples, nullptr);
  EXPECT_FALSE(held.expired());
  ask();
  EXPECT_FALSE(QuestionBoard::TellsOfNews(*listening));
  EXPECT_TRUE(held.expired());
}

// A thread that is woken for each would cost more than the answers.
TEST_F(QuestionBoardTest, QuestionsThatMemoryAnswersShareATask) {
  constexpr size_t kMany = 40;
  std::vector<std::shared_ptr<Counting>> questions;
  std::vector<QuestionBoard::Handle> parts;
  std::vector<Waiter> waiters(kMany + 1);
  for (size_t i = 0; i <= kMany; ++i) {
    questions.push_back(std::make_shared<Counting>());
    // The last one's source tells nothing: it may be anywhere.
    if (i < kMany) questions[i]->samples = std::make_shared<SampleVersion>([] {});
    parts.push_back(board_.Get(
        absl::StrCat(i), {}, run_, [&] { return questions[i]; }, [] {}));
  }
  const auto ask_all = [&] {
    QuestionBoard::ToAsk to_ask;
    for (size_t i = 0; i <= kMany; ++i) {
      EXPECT_FALSE(board_.Join(parts[i], clock_.MonotonicNow(), waiters[i], to_ask));
    }
    board_.AskAll(std::move(to_ask));
  };
  ask_all();
  EXPECT_EQ(tasks_.size(), kMany + 1);  // nothing is known of their sources yet
  RunAll();

  clock_.Advance(absl::Seconds(1));
  ask_all();
  EXPECT_LE(tasks_.size(), 5u);
  RunAll();
  for (size_t i = 0; i <= kMany; ++i) {
    EXPECT_EQ(questions[i]->asked, 2) << i;
    EXPECT_EQ(waiters[i].answered, 2) << i;
  }
}

}  // namespace
}  // namespace flyball::scaler
