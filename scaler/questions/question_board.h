// Holds the questions of all autoscalers, so that those which ask the same share one answer.
//
// Thread-safe. Whoever asks a question that is under way joins it, however long it takes: there is
// never more than one asking of it, and only autoscalers that asked it wait for it. Questions of
// one kind (Question::together) that are gathered before they are asked go out together. A question
// is forgotten once nobody holds its handle any more.
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

// Whoever waits for answers: one autoscaler's cycle, or a round of many at rest
// (steps/tracked_autoscaler.h).
class AnswerWaiter {
 public:
  virtual ~AnswerWaiter() = default;
  // Called when one of the questions it joined has its answer. Returns whether that was the last
  // one that it waits for.
  virtual bool Answered() = 0;
};

class QuestionBoard {
 public:
  // Hands a task to a pool of threads, which drops it when the program ends.
  using Run = std::function<void(std::function<void()>)>;

  class Asked;
  using Handle = std::shared_ptr<Asked>;

  // Called with the waiters that have all their answers, on the thread that brought the last one.
  using OnReady = std::function<void(absl::Span<AnswerWaiter* const>)>;

  // The clock outlives the board.
  QuestionBoard(Clock& clock, OnReady on_ready) : clock_(clock), on_ready_(std::move(on_ready)) {}

  // Sets what questions are asked with from now on.
  void SetContext(AskContext context);

  // The question of that key, made when nobody holds it yet.
  Handle Get(const std::string& key, const Run& run,
             const std::function<std::shared_ptr<Question>()>& make);
  // A handle of a question that one autoscaler asks alone.
  Handle Own(std::shared_ptr<Question> question, Run run) const;

  // True: there is an answer that was asked for at `not_before` or later. False: the question is
  // asked, or was being asked already, and the waiter's Answered is called once when it is
  // answered.
  bool Join(const Handle& question, MonotonicTime not_before, AnswerWaiter& waiter);
  // The same, but a question that has to be asked is only added to `to_ask`, for AskAll.
  bool Join(const Handle& question, MonotonicTime not_before, AnswerWaiter& waiter,
            std::vector<Handle>& to_ask);
  void AskAll(std::vector<Handle> questions);
  // AskAll on the calling thread, one kind of question after the other.
  void AskAllHere(std::vector<Handle> questions);

  // Calls Question::Again with the present context.
  std::optional<adapter::Repeated> Again(const Asked& question, const adapter::OriginPtr& origin);

  static LastAnswer LastAnswerOf(const Asked& question);
  static AnswerPtr AnswerOf(const Asked& question) { return LastAnswerOf(question).answer; }
  static Question& QuestionOf(const Asked& question);

  // How many questions were asked so far, and how many are under way.
  uint64_t asked() const { return count_.load(); }
  int under_way() const { return under_way_.load(); }

 private:
  void AskAll(std::vector<Handle> questions, const Run* one_run);
  // Asks questions of one kind, until there is an answer to each.
  void Ask(std::vector<Handle> questions);
  // Makes `answer` the question's last one, unless the source said that the one before still holds.
  // False: an autoscaler that needs more than it says has come meanwhile (Question::Covers), so the
  // question has to be asked again.
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
