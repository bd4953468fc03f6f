// Where questions meet: whoever asks the same at the same time shares one answer.
//
// Thread-safe. A question that is under way is joined, however long it takes: only those who asked
// it wait, and there is never more than one of it. Questions of one kind that are gathered before
// they are asked go out together (Question::together). Questions that nobody holds any more are
// forgotten.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
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

class AnswerWaiter {
 public:
  virtual ~AnswerWaiter() = default;
  // One of the questions joined has its answer. True: it was the last one that was waited for.
  virtual bool Answered() = 0;
};

class QuestionBoard {
 public:
  // Runs a task on some thread, or never when the program ends.
  using Run = std::function<void(std::function<void()>)>;

  class Asked;
  using Handle = std::shared_ptr<Asked>;

  // Told of waiters that have all their answers, by the thread that brought the last one.
  using OnReady = std::function<void(absl::Span<AnswerWaiter* const>)>;

  // The clock outlives the board.
  QuestionBoard(Clock& clock, OnReady on_ready) : clock_(clock), on_ready_(std::move(on_ready)) {}

  // What questions are asked with from now on.
  void SetContext(AskContext context);

  // The question of that key, made when nobody holds it yet.
  Handle Get(const std::string& key, const Run& run,
             const std::function<std::shared_ptr<Question>()>& make);
  // A question of one asker alone.
  Handle Own(std::shared_ptr<Question> question, Run run) const;

  // True: there is an answer that was asked for at `not_before` or later. False: the waiter's
  // Answered is called once when there is one.
  bool Join(const Handle& question, MonotonicTime not_before, AnswerWaiter& waiter);
  // The same, but what has to be asked is only noted, for AskAll.
  bool Join(const Handle& question, MonotonicTime not_before, AnswerWaiter& waiter,
            std::vector<Handle>& to_ask);
  void AskAll(std::vector<Handle> questions);
  // The same on this thread, one kind after the other.
  void AskAllHere(std::vector<Handle> questions);

  // Question::Again, now.
  std::optional<adapter::Repeated> Again(const Asked& question, const adapter::OriginPtr& origin);

  static Told ToldOf(const Asked& question);
  static AnswerPtr AnswerOf(const Asked& question) { return ToldOf(question).answer; }
  static Question& QuestionOf(const Asked& question);

  // How many were asked so far; how many are under way.
  uint64_t asked() const { return count_.load(); }
  int under_way() const { return under_way_.load(); }

 private:
  void AskAll(std::vector<Handle> questions, const Run* one_run);
  // Asks questions of one kind, until there is an answer to each.
  void Ask(std::vector<Handle> questions);
  // Takes `answer`, unless the last one still holds. False: somebody who asks for more has come
  // meanwhile.
  bool Settle(const Handle& question, std::shared_ptr<Answer>& answer, MonotonicTime asked_at,
              std::vector<AnswerWaiter*>& waiters);

  Clock& clock_;
  const OnReady on_ready_;
  Snapshot<AskContext> context_{std::make_shared<const AskContext>()};
  std::atomic<uint64_t> count_ = 0;
  std::atomic<uint64_t> last_version_ = 0;
  std::atomic<int> under_way_ = 0;
  absl::Mutex mutex_;
  absl::flat_hash_map<std::string, std::weak_ptr<Asked>> shared_ ABSL_GUARDED_BY(mutex_);
  size_t sweep_at_ ABSL_GUARDED_BY(mutex_) = 1024;
};

}  // namespace flyball::scaler
