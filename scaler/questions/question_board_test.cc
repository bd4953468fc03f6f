#include "scaler/questions/question_board.h"

#include <gtest/gtest.h>

#include <functional>
#include <utility>
#include <vector>

namespace flyball::scaler {
namespace {

class Counting : public Question {
 public:
  void Ask(const AskContext& /*context*/, Answer& answer) override {
    ++asked;
    answer.series.push_back({.labels = {}, .timestamp = {}, .value_milli = value});
  }
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
  const QuestionBoard::Handle a = board_.Get("q", run_, make);
  const QuestionBoard::Handle b = board_.Get("q", run_, make);
  EXPECT_EQ(a, b);
  Waiter first, second;
  EXPECT_FALSE(board_.Join(a, clock_.MonotonicNow(), first));
  EXPECT_FALSE(board_.Join(b, clock_.MonotonicNow(), second));
  EXPECT_EQ(tasks_.size(), 1u);
  RunAll();
  EXPECT_EQ(question->asked, 1);
  EXPECT_EQ(ready_, (std::vector<AnswerWaiter*>{&first, &second}));
  EXPECT_EQ(QuestionBoard::AnswerOf(*a)->series[0].value_milli, 1);
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
    return QuestionBoard::AnswerOf(*handle)->version;
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
  EXPECT_EQ(board_.under_way(), 1);
  for (auto& task : held) task();
  EXPECT_EQ(waits.answered + later.answered, 2);
}

// Answers "the same as before" from the second time on, at its own time.
class Repeating : public Counting {
 public:
  explicit Repeating(std::vector<size_t>& rounds) : rounds_(rounds) {}
  absl::string_view together() const override { return "one kind"; }
  void Ask(const AskContext& /*context*/, Answer& answer) override {
    const adapter::OriginPtr last = std::exchange(answer.repeated.origin, origin);
    answer.repeated.same = last != nullptr && last == origin;
    if (answer.repeated.same) answer.repeated.time = absl::FromUnixSeconds(++asked);
    if (!answer.repeated.same) answer.series.push_back({.labels = {}, .timestamp = {}});
  }
  void AskTogether(const AskContext& context, absl::Span<Question* const> questions,
                   absl::Span<Answer* const> answers) override {
    rounds_.push_back(questions.size());
    Question::AskTogether(context, questions, answers);
  }
  adapter::OriginPtr origin = std::make_shared<adapter::Origin>();

 private:
  std::vector<size_t>& rounds_;
};

TEST_F(QuestionBoardTest, WhatIsGatheredIsAskedTogether) {
  std::vector<size_t> rounds;
  const QuestionBoard::Handle a = board_.Own(std::make_shared<Repeating>(rounds), run_);
  const QuestionBoard::Handle b = board_.Own(std::make_shared<Repeating>(rounds), run_);
  const QuestionBoard::Handle other = board_.Own(std::make_shared<Counting>(), run_);
  Waiter first, second, third;
  std::vector<QuestionBoard::Handle> to_ask;
  board_.Join(a, clock_.MonotonicNow(), first, to_ask);
  board_.Join(b, clock_.MonotonicNow(), second, to_ask);
  board_.Join(other, clock_.MonotonicNow(), third, to_ask);
  EXPECT_TRUE(tasks_.empty());
  board_.AskAll(std::move(to_ask));
  EXPECT_EQ(tasks_.size(), 2u);
  RunAll();
  EXPECT_EQ(rounds, std::vector<size_t>{2});
  EXPECT_EQ(ready_.size(), 3u);
  EXPECT_EQ(board_.under_way(), 0);
}

TEST_F(QuestionBoardTest, AnAnswerThatStillHoldsKeepsItsContentAndGetsANewTime) {
  std::vector<size_t> rounds;
  auto question = std::make_shared<Repeating>(rounds);
  const QuestionBoard::Handle handle = board_.Own(question, run_);
  Waiter waiter;
  const auto ask = [&] {
    clock_.Advance(absl::Seconds(1));
    EXPECT_FALSE(board_.Join(handle, clock_.MonotonicNow(), waiter));
    RunAll();
    return QuestionBoard::LastAnswerOf(*handle);
  };
  const LastAnswer first = ask();
  EXPECT_EQ(first.time, std::nullopt);
  const LastAnswer again = ask();
  EXPECT_EQ(again.answer, first.answer);
  EXPECT_EQ(again.time, absl::FromUnixSeconds(1));
  EXPECT_EQ(again.asked_at, absl::Seconds(2));
  EXPECT_TRUE(board_.Join(handle, absl::Seconds(2), waiter));
  question->origin = std::make_shared<adapter::Origin>();
  const LastAnswer other = ask();
  EXPECT_NE(other.answer, first.answer);
  EXPECT_EQ(other.answer->version, first.answer->version);  // the same content all the same
  EXPECT_EQ(other.time, std::nullopt);
}

TEST_F(QuestionBoardTest, AnErrorIsNeverWhatStillHolds) {
  // Forgets to say that an error has no origin.
  class Failing : public Question {
   public:
    void Ask(const AskContext& /*context*/, Answer& answer) override {
      const bool first = answer.repeated.origin == nullptr;
      answer.repeated.origin = origin_;
      answer.repeated.same = !first;
      if (fails) answer.error = "down";
    }
    bool fails = false;

   private:
    const adapter::OriginPtr origin_ = std::make_shared<adapter::Origin>();
  };
  auto question = std::make_shared<Failing>();
  const QuestionBoard::Handle handle = board_.Own(question, run_);
  Waiter waiter;
  for (const bool fails : {false, true, false}) {
    question->fails = fails;
    clock_.Advance(absl::Seconds(1));
    board_.Join(handle, clock_.MonotonicNow(), waiter);
    RunAll();
    EXPECT_EQ(QuestionBoard::AnswerOf(*handle)->error, fails ? "down" : "");
  }
}

TEST_F(QuestionBoardTest, WhoComesWithAnotherSelectorIsAnsweredToo) {
  class Pods : public PodsQuestion {
   public:
    void Ask(const AskContext&, Answer& answer) override {
      asked.push_back(SelectorToAsk(answer.whole_namespace).ToString());
      if (on_ask) std::exchange(on_ask, nullptr)();
    }
    std::vector<std::string> asked;
    std::function<void()> on_ask;
  };
  auto question = std::make_shared<Pods>();
  const QuestionBoard::Handle handle = board_.Own(question, run_);
  Waiter first, second;
  const auto note = [&](const char* text) {
    question->NoteSelector(text, *kube::Selector::Parse(text));
  };
  note("app=a");
  board_.Join(handle, clock_.MonotonicNow(), first);
  question->on_ask = [&] {  // while the first is being asked
    note("app=b");
    board_.Join(handle, clock_.MonotonicNow(), second);
  };
  RunAll();
  EXPECT_EQ(question->asked, (std::vector<std::string>{"app=a", ""}));
  EXPECT_TRUE(QuestionBoard::AnswerOf(*handle)->whole_namespace);
  EXPECT_EQ(ready_.size(), 2u);
}

}  // namespace
}  // namespace flyball::scaler
