#include "scaler/questions/question_board.h"

#include <algorithm>
#include <utility>

namespace flyball::scaler {

class QuestionBoard::Asked {
 public:
  Asked(std::shared_ptr<Question> asked_question, Run asked_run)
      : question(std::move(asked_question)), run(std::move(asked_run)) {}

  const std::shared_ptr<Question> question;
  const Run run;
  mutable absl::Mutex mutex;
  LastAnswer last ABSL_GUARDED_BY(mutex);
  bool under_way ABSL_GUARDED_BY(mutex) = false;
  std::vector<AnswerWaiter*> waiters ABSL_GUARDED_BY(mutex);
};

void QuestionBoard::SetContext(AskContext context) {
  context_.Set(std::make_shared<const AskContext>(std::move(context)));
}

QuestionBoard::Handle QuestionBoard::Get(const std::string& key, const Run& run,
                                         const std::function<std::shared_ptr<Question>()>& make) {
  absl::MutexLock lock(&mutex_);
  std::weak_ptr<Asked>& known = shared_[key];
  if (Handle handle = known.lock()) return handle;
  Handle handle = std::make_shared<Asked>(make(), run);
  known = handle;
  if (shared_.size() >= sweep_at_) {
    absl::erase_if(shared_, [](const auto& item) { return item.second.expired(); });
    sweep_at_ = 1024 + 2 * shared_.size();
  }
  return handle;
}

QuestionBoard::Handle QuestionBoard::Own(std::shared_ptr<Question> question, Run run) const {
  return std::make_shared<Asked>(std::move(question), std::move(run));
}

LastAnswer QuestionBoard::LastAnswerOf(const Asked& question) {
  absl::MutexLock lock(&question.mutex);
  return question.last;
}

std::optional<adapter::Repeated> QuestionBoard::Again(const Asked& question,
                                                      const adapter::OriginPtr& origin) {
  ++count_;
  return question.question->Again(*context_.Get(), origin);
}

Question& QuestionBoard::QuestionOf(const Asked& question) { return *question.question; }

bool QuestionBoard::Join(const Handle& question, MonotonicTime not_before, AnswerWaiter& waiter) {
  std::vector<Handle> to_ask;
  const bool there = Join(question, not_before, waiter, to_ask);
  AskAll(std::move(to_ask));
  return there;
}

bool QuestionBoard::Join(const Handle& question, MonotonicTime not_before, AnswerWaiter& waiter,
                         std::vector<Handle>& to_ask) {
  {
    absl::MutexLock lock(&question->mutex);
    const LastAnswer& last = question->last;
    if (!question->under_way && last.answer != nullptr && last.asked_at >= not_before &&
        question->question->Covers(*last.answer)) {
      return true;
    }
    question->waiters.push_back(&waiter);
    if (question->under_way) return false;
    question->under_way = true;
  }
  ++under_way_;
  to_ask.push_back(question);
  return false;
}

void QuestionBoard::AskAll(std::vector<Handle> questions) { AskAll(std::move(questions), nullptr); }

void QuestionBoard::AskAllHere(std::vector<Handle> questions) {
  const Run here = [](const std::function<void()>& task) { task(); };
  AskAll(std::move(questions), &here);
}

// In the way of each, or all in that one.
void QuestionBoard::AskAll(std::vector<Handle> questions, const Run* one_run) {
  absl::flat_hash_map<absl::string_view, std::vector<Handle>> kinds;
  for (Handle& question : questions) {
    const absl::string_view kind = question->question->together();
    if (!kind.empty()) {
      kinds[kind].push_back(std::move(question));
      continue;
    }
    // The question may be gone before it returns.
    const Run run = one_run != nullptr ? *one_run : question->run;
    run([this, one = std::move(question)] { Ask({one}); });
  }
  for (auto& [kind, together] : kinds) {
    const Run run = one_run != nullptr ? *one_run : together[0]->run;
    run([this, all = std::move(together)]() mutable { Ask(std::move(all)); });
  }
}

void QuestionBoard::Ask(std::vector<Handle> questions) {
  // Empty ones: most questions learn that nothing changed, and leave theirs as it was.
  constexpr size_t kSpareAnswers = 128;
  thread_local std::vector<std::shared_ptr<Answer>> spare;
  const size_t count = questions.size();
  std::vector<AnswerWaiter*> waiters;
  while (!questions.empty()) {
    const MonotonicTime asked_at = clock_.MonotonicNow();
    count_ += questions.size();
    std::vector<std::shared_ptr<Answer>> answers;
    std::vector<Answer*> answers_of;
    std::vector<Question*> asked;
    for (const Handle& question : questions) {
      if (spare.empty()) spare.push_back(std::make_shared<Answer>());
      answers.push_back(std::move(spare.back()));
      spare.pop_back();
      {
        absl::MutexLock lock(&question->mutex);
        const AnswerPtr& last = question->last.answer;
        if (last != nullptr) answers.back()->repeated.origin = last->repeated.origin;
      }
      answers_of.push_back(answers.back().get());
      asked.push_back(question->question.get());
    }
    asked[0]->AskTogether(*context_.Get(), asked, answers_of);
    std::vector<Handle> again;
    for (size_t i = 0; i < questions.size(); ++i) {
      if (!Settle(questions[i], answers[i], asked_at, waiters)) {
        again.push_back(std::move(questions[i]));
      }
      if (answers[i] == nullptr || spare.size() == kSpareAnswers) continue;
      answers[i]->repeated = {};
      answers[i]->whole_namespace = false;
      spare.push_back(std::move(answers[i]));
    }
    questions = std::move(again);
  }
  under_way_ -= static_cast<int>(count);
  waiters.erase(std::remove_if(waiters.begin(), waiters.end(),
                               [](AnswerWaiter* waiter) { return !waiter->Answered(); }),
                waiters.end());
  if (!waiters.empty()) on_ready_(waiters);
}

bool QuestionBoard::Settle(const Handle& question, std::shared_ptr<Answer>& answer,
                           MonotonicTime asked_at, std::vector<AnswerWaiter*>& waiters) {
  if (!answer->error.empty()) answer->repeated = {};  // an error has no origin
  AnswerPtr last;                                     // ends outside the lock
  if (!answer->repeated.same) {
    last = AnswerOf(*question);
    answer->version =
        last != nullptr && SameContent(*last, *answer) ? last->version : ++last_version_;
  }
  absl::MutexLock lock(&question->mutex);
  question->last.asked_at = asked_at;
  question->last.time = answer->repeated.time;
  if (!answer->repeated.same) question->last.answer = std::move(answer);
  if (!question->question->Covers(*question->last.answer)) return false;
  question->under_way = false;
  waiters.insert(waiters.end(), question->waiters.begin(), question->waiters.end());
  question->waiters.clear();
  return true;
}

}  // namespace flyball::scaler
