// Holds the questions of all autoscalers, so that those that ask the same share one answer.
//
// Thread-safe. If a question is already being asked, further autoscalers join it, however long it
// takes: a question is never asked twice at once, and only autoscalers that joined it wait for it.
// A question is removed once nobody holds a part of it.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/container/flat_hash_map.h"
#include "absl/strings/string_view.h"
#include "absl/synchronization/mutex.h"
#include "absl/types/span.h"
#include "base/clock.h"
#include "base/snapshot.h"
#include "scaler/questions/question.h"

namespace flyball::scaler {

// Something that waits for answers: the cycle of one autoscaler, or a round of many steady ones
// (steps/tracked_autoscaler.h).
class AnswerWaiter {
 public:
  virtual ~AnswerWaiter() = default;
  // Called when one of the questions that it joined is answered. Returns whether that was the last
  // one.
  virtual bool Answered() = 0;
};

class QuestionBoard {
 public:
  // Hands a task to a pool of threads, which drops it when the program ends.
  using Run = std::function<void(std::function<void()>)>;

  // A question with its last answers.
  class Asked;
  // A part of a question. Whoever uses it keeps it alive.
  class Part;
  using Handle = std::shared_ptr<const Part>;

  // Called with the waiters that have all their answers, on the thread that got the last answer.
  using OnReady = std::function<void(absl::Span<AnswerWaiter* const>)>;

  // The clock outlives the board.
  QuestionBoard(Clock& clock, OnReady on_ready) : clock_(clock), on_ready_(std::move(on_ready)) {}

  // Sets the context of all questions that are asked from now on.
  void SetContext(AskContext context);

  // A part of the question with that key; `make` makes the question if nobody holds it yet. If its
  // source reports samples, `on_news` is called, while the part is held, soon after a sample
  // arrives that the last answers were not made of. `on_news` may be empty.
  Handle Get(const std::string& key, const MetricSpec& metric, const Run& run,
             const std::function<std::shared_ptr<Question>()>& make,
             std::function<void()> on_news = nullptr);
  // A question that is not shared.
  Handle Own(std::shared_ptr<Question> question, Run run) const;

  // True: there is an answer that was asked for at `not_before` or later. False: the question is
  // being asked, and the waiter's Answered is called once when it is answered; if the question
  // answers at once, that is before Join returns.
  bool Join(const Handle& part, MonotonicTime not_before, AnswerWaiter& waiter);
  // Does the same, but only adds a question that has to be asked to `to_ask`, for AskAll.
  using ToAsk = std::vector<std::shared_ptr<Asked>>;
  bool Join(const Handle& part, MonotonicTime not_before, AnswerWaiter& waiter, ToAsk& to_ask);
  // Asks the questions. Those that answer at once are answered before it returns; on_ready may be
  // called meanwhile.
  void AskAll(ToAsk questions);

  static LastAnswer LastAnswerOf(const Part& part);
  static uint64_t VersionOf(const Part& part);  // of the last answer
  // Whether on_news is called when the last answers are out of date, so that nobody has to ask in
  // order to find out.
  static bool TellsOfNews(const Part& part);
  // See Question::NoteSelector.
  static void NoteSelector(const Part& part, absl::string_view text,
                           const kube::Selector& selector);
  // The question of a part. Valid as long as any part of it is held.
  static const Asked* QuestionOf(const Part& part);
  // The highest version of any part of the question. While it stays the same, so do the answers of
  // all parts.
  static uint64_t NewestVersionOf(const Asked& question);

 private:
  // Asks until the answers cover all that wait, then calls on_ready_.
  void Ask(const std::shared_ptr<Asked>& question);
  // Does the same, but only adds the waiters that have all their answers to `answered`.
  void Ask(const std::shared_ptr<Asked>& question, std::vector<AnswerWaiter*>& answered);
  // Stores the answers as the last ones. False: they do not cover all that wait (Question::Covers),
  // so the question has to be asked again.
  bool Settle(Asked& question, std::vector<Question::PartAnswer> answers, MonotonicTime asked_at,
              std::vector<AnswerWaiter*>& waiters);
  // Arranges that on_news, where a part has one, is called when the answers are out of date.
  static void FollowSamples(Asked& question, const std::vector<Question::PartAnswer>& answers);

  Clock& clock_;
  const OnReady on_ready_;
  Snapshot<AskContext> context_{std::make_shared<const AskContext>()};
  std::atomic<uint64_t> last_version_ = 0;
  absl::Mutex mutex_;
  absl::flat_hash_map<std::string, std::weak_ptr<Asked>> shared_ ABSL_GUARDED_BY(mutex_);
  size_t sweep_at_ ABSL_GUARDED_BY(mutex_) = 1024;
};

}  // namespace flyball::scaler
