#include "scaler/questions/question_board.h"

#include <algorithm>
#include <iterator>
#include <optional>

namespace flyball::scaler {
namespace {

// How many questions that are answered from memory one task asks. Such an answer takes some ten
// microseconds, about as much as waking a thread; a push to a thousand series wakes hundreds of
// autoscalers at once. The number is small enough that all cores have work.
constexpr size_t kQuickBatch = 16;

}  // namespace

class QuestionBoard::Asked {
 public:
  Asked(std::shared_ptr<Question> asked_question, Run asked_run)
      : question(std::move(asked_question)), run(std::move(asked_run)) {}

  const std::shared_ptr<Question> question;
  const Run run;
  mutable absl::Mutex mutex;
  absl::flat_hash_map<Question::PartId, LastAnswer> last ABSL_GUARDED_BY(mutex);  // of each part
  std::optional<MonotonicTime> asked_at ABSL_GUARDED_BY(mutex);  // when the last answers were
  bool under_way ABSL_GUARDED_BY(mutex) = false;
  std::vector<AnswerWaiter*> waiters ABSL_GUARDED_BY(mutex);
  std::atomic<uint64_t> newest_version = 0;
  std::vector<const Part*> listeners ABSL_GUARDED_BY(mutex);  // parts that have an on_news
  std::atomic<bool> tells_of_news = false;

  // Calls on_news of all listeners.
  void TellNews();

  // Used only by the thread that asks. The samples of the last answers are held, since the source
  // reports samples only as long as they are. These members come last, so that the followings end
  // before anything that TellNews uses is destroyed.
  SamplesRead read;
  std::vector<VersionFollowing> followings;
};

class QuestionBoard::Part {
 public:
  Part(std::shared_ptr<Asked> its_question, const MetricSpec& metric,
       std::function<void()> its_news = nullptr)
      : question(std::move(its_question)),
        id(Add(*question, metric)),
        on_news(std::move(its_news)) {
    if (!on_news) return;
    absl::MutexLock lock(&question->mutex);
    question->listeners.push_back(this);
  }
  Part(const Part&) = delete;
  ~Part() {
    if (on_news) {
      absl::MutexLock lock(&question->mutex);
      std::erase(question->listeners, this);
    }
    absl::MutexLock lock(&question->mutex);
    if (selector.has_value()) question->question->ForgetSelector(*selector);
    if (!question->question->RemovePart(id)) return;
    question->last.erase(id);
  }

  const std::shared_ptr<Asked> question;
  const Question::PartId id;
  const std::function<void()> on_news;
  // The text of the selector that was noted last.
  mutable std::optional<std::string> selector ABSL_GUARDED_BY(question->mutex);

 private:
  // The question may be asked at any moment, and the answer must find a place for the part. So both
  // are made under the lock that Settle takes.
  static Question::PartId Add(Asked& asked, const MetricSpec& metric) {
    absl::MutexLock lock(&asked.mutex);
    const Question::PartId part = asked.question->AddPart(metric);
    asked.last.try_emplace(part);
    return part;
  }
};

void QuestionBoard::Asked::TellNews() {
  std::vector<std::function<void()>> to_call;
  {
    absl::MutexLock lock(&mutex);
    for (const Part* listener : listeners) to_call.push_back(listener->on_news);
  }
  for (const std::function<void()>& call : to_call) call();
}

void QuestionBoard::SetContext(AskContext context) {
  context_.Set(std::make_shared<const AskContext>(std::move(context)));
}

QuestionBoard::Handle QuestionBoard::Get(const std::string& key, const MetricSpec& metric,
                                         const Run& run,
                                         const std::function<std::shared_ptr<Question>()>& make,
                                         std::function<void()> on_news) {
  absl::MutexLock lock(&mutex_);
  std::weak_ptr<Asked>& known = shared_[key];
  std::shared_ptr<Asked> question = known.lock();
  if (question == nullptr) known = question = std::make_shared<Asked>(make(), run);
  if (shared_.size() >= sweep_at_) {
    absl::erase_if(shared_, [](const auto& item) { return item.second.expired(); });
    sweep_at_ = 1024 + 2 * shared_.size();
  }
  return std::make_shared<const Part>(std::move(question), metric, std::move(on_news));
}

QuestionBoard::Handle QuestionBoard::Own(std::shared_ptr<Question> question, Run run) const {
  return std::make_shared<const Part>(std::make_shared<Asked>(std::move(question), std::move(run)),
                                      MetricSpec());
}

LastAnswer QuestionBoard::LastAnswerOf(const Part& part) {
  absl::MutexLock lock(&part.question->mutex);
  return part.question->last.find(part.id)->second;
}

uint64_t QuestionBoard::VersionOf(const Part& part) {
  absl::MutexLock lock(&part.question->mutex);
  return part.question->last.find(part.id)->second.version;
}

bool QuestionBoard::TellsOfNews(const Part& part) { return part.question->tells_of_news; }

void QuestionBoard::NoteSelector(const Part& part, absl::string_view text,
                                 const kube::Selector& selector) {
  Question& question = *part.question->question;
  absl::MutexLock lock(&part.question->mutex);
  if (part.selector == text) return;
  question.NoteSelector(text, selector);
  if (part.selector.has_value()) question.ForgetSelector(*part.selector);
  part.selector = std::string(text);
}

const QuestionBoard::Asked* QuestionBoard::QuestionOf(const Part& part) {
  return part.question.get();
}

uint64_t QuestionBoard::NewestVersionOf(const Asked& question) { return question.newest_version; }

bool QuestionBoard::Join(const Handle& part, MonotonicTime not_before, AnswerWaiter& waiter) {
  ToAsk to_ask;
  const bool there = Join(part, not_before, waiter, to_ask);
  AskAll(std::move(to_ask));
  return there;
}

bool QuestionBoard::Join(const Handle& part, MonotonicTime not_before, AnswerWaiter& waiter,
                         ToAsk& to_ask) {
  const std::shared_ptr<Asked>& asked = part->question;
  absl::MutexLock lock(&asked->mutex);
  if (!asked->under_way && asked->asked_at.has_value() && *asked->asked_at >= not_before &&
      asked->question->Covers()) {
    return true;
  }
  asked->waiters.push_back(&waiter);
  if (!std::exchange(asked->under_way, true)) to_ask.push_back(asked);
  return false;
}

void QuestionBoard::AskAll(ToAsk questions) {
  const auto here =
      std::stable_partition(questions.begin(), questions.end(),
                            [](const auto& asked) { return !asked->question->AnswersAtOnce(); });
  const ToAsk at_once(std::make_move_iterator(here), std::make_move_iterator(questions.end()));
  questions.erase(here, questions.end());
  // Questions whose source reports samples come last: the source has the samples in memory.
  const auto quick = std::stable_partition(questions.begin(), questions.end(),
                                           [](const auto& asked) { return !asked->tells_of_news; });
  for (auto at = questions.begin(); at != quick; ++at) {
    const Run run = (*at)->run;  // the question may be gone before it returns
    run([this, question = std::move(*at)] { Ask(question); });
  }
  for (auto at = quick; at != questions.end();) {
    const auto end = at + std::min<ptrdiff_t>(kQuickBatch, questions.end() - at);
    const Run run = (*at)->run;  // also for the others, which are no more work
    run([this, batch = ToAsk(std::make_move_iterator(at), std::make_move_iterator(end))] {
      bool quick = true;  // false once one was not answered from memory: the others may not be
      for (const std::shared_ptr<Asked>& question : batch) {
        if (!quick) {
          const Run run = question->run;  // the question may be gone before it returns
          run([this, question] { Ask(question); });
          continue;
        }
        Ask(question);
        absl::MutexLock lock(&question->mutex);
        quick = question->tells_of_news;
      }
    });
    at = end;
  }
  std::vector<AnswerWaiter*> answered;
  for (const std::shared_ptr<Asked>& question : at_once) Ask(question, answered);
  if (!answered.empty()) on_ready_(answered);
}

void QuestionBoard::Ask(const std::shared_ptr<Asked>& question) {
  std::vector<AnswerWaiter*> answered;
  Ask(question, answered);
  if (!answered.empty()) on_ready_(answered);
}

void QuestionBoard::Ask(const std::shared_ptr<Asked>& question,
                        std::vector<AnswerWaiter*>& answered) {
  std::vector<AnswerWaiter*> waiters;
  bool enough = false;
  while (!enough) {
    const MonotonicTime asked_at = clock_.MonotonicNow();
    std::vector<Question::PartAnswer> answers = question->question->Ask(*context_.Get());
    FollowSamples(*question, answers);
    enough = Settle(*question, std::move(answers), asked_at, waiters);
  }
  std::copy_if(waiters.begin(), waiters.end(), std::back_inserter(answered),
               [](AnswerWaiter* waiter) { return waiter->Answered(); });
}

void QuestionBoard::FollowSamples(Asked& question,
                                  const std::vector<Question::PartAnswer>& answers) {
  Freshness all = Freshness::Forever();
  for (const Question::PartAnswer& said : answers) all.samples.Add(said.read);
  question.followings.clear();
  question.read = SamplesRead();
  {
    absl::MutexLock lock(&question.mutex);
    const bool follows = all.samples.told() && !question.listeners.empty();
    question.tells_of_news = follows;
    if (!follows) return;
  }
  question.read = std::move(all.samples);
  for (const auto& [samples, number] : question.read.versions()) {
    question.followings.push_back(samples->Follow(number, [&question] { question.TellNews(); }));
  }
}

bool QuestionBoard::Settle(Asked& question, std::vector<Question::PartAnswer> answers,
                           MonotonicTime asked_at, std::vector<AnswerWaiter*>& waiters) {
  std::vector<AnswerPtr> before;  // destroyed outside the lock
  absl::MutexLock lock(&question.mutex);
  for (Question::PartAnswer& said : answers) {
    const auto part = question.last.find(said.part);
    if (part == question.last.end()) continue;  // nobody holds it any more
    LastAnswer& last = part->second;
    last.time = said.time;
    if (said.answer == nullptr) continue;
    if (last.answer == nullptr || !SameContent(*last.answer, *said.answer)) {
      question.newest_version = last.version = ++last_version_;
    }
    before.push_back(std::exchange(last.answer, std::move(said.answer)));
  }
  question.asked_at = asked_at;
  if (!question.question->Covers()) return false;
  question.under_way = false;
  waiters.swap(question.waiters);
  return true;
}

}  // namespace flyball::scaler
