#include "scaler/loop/question_board.h"

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
  AnswerPtr answer ABSL_GUARDED_BY(mutex);
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

AnswerPtr QuestionBoard::AnswerOf(const Asked& question) {
  absl::MutexLock lock(&question.mutex);
  return question.answer;
}

Question& QuestionBoard::QuestionOf(const Asked& question) { return *question.question; }

bool QuestionBoard::Join(const Handle& question, MonotonicTime not_before, AnswerWaiter& waiter) {
  {
    absl::MutexLock lock(&question->mutex);
    const Answer* answer = question->answer.get();
    if (!question->under_way && answer != nullptr && answer->asked_at >= not_before &&
        question->question->Covers(*answer)) {
      return true;
    }
    question->waiters.push_back(&waiter);
    if (question->under_way) return false;
    question->under_way = true;
  }
  ++under_way_;
  question->run([this, question] { Ask(question); });
  return false;
}

void QuestionBoard::Ask(const Handle& question) {
  std::vector<AnswerWaiter*> waiters;
  while (true) {
    auto answer = std::make_shared<Answer>();
    answer->asked_at = clock_.MonotonicNow();
    ++count_;
    question->question->Ask(*context_.Get(), *answer);
    const AnswerPtr last = AnswerOf(*question);
    answer->version =
        last != nullptr && SameContent(*last, *answer) ? last->version : ++last_version_;
    absl::MutexLock lock(&question->mutex);
    const bool covers = question->question->Covers(*answer);
    question->answer = std::move(answer);
    if (!covers) continue;  // somebody who asks for more has come meanwhile
    question->under_way = false;
    waiters.swap(question->waiters);
    break;
  }
  --under_way_;
  waiters.erase(std::remove_if(waiters.begin(), waiters.end(),
                               [](AnswerWaiter* waiter) { return !waiter->Answered(); }),
                waiters.end());
  if (!waiters.empty()) on_ready_(waiters);
}

}  // namespace flyball::scaler
