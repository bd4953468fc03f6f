// Repeated requests of one holder for the pods of a namespace.
#include <algorithm>
#include <optional>
#include <utility>

#include "adapter/resource_provider.h"
#include "base/status_macros.h"

namespace flyball::adapter {

// The queries are kept as long as the pods and the way to ask for them stay the same.
class ResourceProvider::PodsStanding : public StandingPods {
 public:
  PodsStanding(ResourceProvider& provider, std::string ns, kube::Selector selector,
               PodAmounts wanted)
      : provider_(provider), ns_(std::move(ns)), selector_(std::move(selector)), wanted_(wanted) {}

  absl::StatusOr<StandingAnswer<ResourceMetricList<PodMetrics>>> Ask(
      absl::Duration timeout) override {
    const MonotonicTime deadline = provider_.deps_.answering.clock.MonotonicNow() + timeout;
    StandingAnswer<ResourceMetricList<PodMetrics>> answer;
    if (apart_until_.has_value() && deadline - timeout >= *apart_until_) {
      apart_until_.reset();
      batch_.objects = nullptr;  // which makes the queries anew
    }
    const absl::Status followed = FollowPods(timeout);
    if (!followed.ok()) {
      ForgetAnswers();
      return followed;
    }
    if (batch_.objects->empty()) return answer;
    AskQueries(deadline);
    const absl::Status failed = provider_.Settle(absl::MakeConstSpan(&batch_, 1), deadline,
                                                 answer.list.degraded, answer.list.freshness);
    if (!batch_.both.status.ok()) {
      ForgetAnswers();
      RETURN_IF_ERROR(failed);
      return answer;
    }
    answer.unchanged = IsUnchanged(answer.time);
    if (!answer.unchanged) provider_.AddPods(batch_, answer.list.items);
    return answer;
  }

 private:
  // After this the next answer is not "unchanged".
  void ForgetAnswers() { batch_.both = {}; }

  // Finds the pods anew when objects or rules have changed.
  absl::Status FollowPods(absl::Duration timeout) {
    const uint64_t epoch = provider_.Epoch();
    if (batch_.objects != nullptr && epoch == epoch_) return absl::OkStatus();
    std::shared_ptr<const kube::RestMapper> mapper =
        provider_.deps_.answering.relister.registry()->mapper();
    ASSIGN_OR_RETURN(
        std::vector<kube::ObjectPtr> pods,
        provider_.deps_.answering.directory.List({.resource = {.group = "", .resource = "pods"},
                                                  .ns = ns_,
                                                  .selector = selector_,
                                                  .running_only = true,
                                                  .timeout = timeout}));
    epoch_ = epoch;
    if (batch_.objects != nullptr && mapper == mapper_ && pods == *batch_.objects) {
      return absl::OkStatus();
    }
    mapper_ = std::move(mapper);
    batch_ = Batch();
    batch_.ns = ns_;
    batch_.standing = true;
    batch_.objects = std::make_shared<const std::vector<kube::ObjectPtr>>(std::move(pods));
    const bool apart = apart_until_.has_value();
    if (wanted_ != PodAmounts::kBoth && !apart && provider_.MayJoin()) batch_.asked = wanted_;
    return absl::OkStatus();
  }

  // Two queries that were quick the last time are asked by one thread.
  void AskQueries(MonotonicTime deadline) {
    const Answering& answering = provider_.deps_.answering;
    const absl::Duration given = deadline - answering.clock.MonotonicNow();
    const auto ask = [&] {
      batch_.both.status = absl::OkStatus();
      quick_ = provider_.AskAll(absl::MakeSpan(&batch_, 1), deadline, /*parallel=*/!quick_);
    };
    ask();
    const absl::Status& status = batch_.both.status;
    if (status.ok() || batch_.asked == PodAmounts::kBoth) return;
    // The source, or a proxy in front of it, may accept the two queries, which are shorter and
    // simpler, and are evaluated at the same time.
    const bool late = absl::IsDeadlineExceeded(status);
    if (late && !answering.batcher.MayBeForItsSize(status, given)) return;
    batch_.asked = PodAmounts::kBoth;
    apart_until_ = answering.clock.MonotonicNow() + QueryBatcher::kApart;
    if (late) return;  // the next time, then
    batch_.both = {};
    ask();
  }

  // Whether each query said "unchanged"; the time is that of the earliest sample.
  bool IsUnchanged(std::optional<absl::Time>& time) const {
    absl::Time earliest = absl::InfiniteFuture();
    for (const Amount& amount : provider_.AmountsOf(batch_)) {
      const Queried& queried = batch_.both.*amount.queried;
      if (queried.result != nullptr) return false;
      earliest = std::min(earliest, *queried.time);
    }
    time = WholeSeconds(earliest);
    return true;
  }

  ResourceProvider& provider_;
  const std::string ns_;
  const kube::Selector selector_;
  const PodAmounts wanted_;
  uint64_t epoch_ = 0;                              // of the provider, when the pods were found...
  std::shared_ptr<const kube::RestMapper> mapper_;  // ...and what the queries are made with
  Batch batch_;
  std::optional<MonotonicTime> apart_until_;  // until then the two queries are not joined
  bool quick_ = false;
};

std::unique_ptr<StandingPods> ResourceProvider::StandPods(std::string ns, kube::Selector selector,
                                                          PodAmounts wanted) {
  return std::make_unique<PodsStanding>(*this, std::move(ns), std::move(selector), wanted);
}

bool ResourceProvider::MayJoin() const {
  if (!deps_.merge || rules_.cpu->source != rules_.memory->source ||
      !rules_.cpu->container_shape.separates_objects ||
      !rules_.memory->container_shape.separates_objects) {
    return false;
  }
  const auto mapper = deps_.answering.relister.registry()->mapper();
  const kube::GroupResource pods = {.group = "", .resource = "pods"};
  const auto cpu = rules_.cpu->mapping.LabelOfResource(pods, *mapper);
  const auto memory = rules_.memory->mapping.LabelOfResource(pods, *mapper);
  return cpu.ok() && memory.ok() && *cpu == *memory;
}

}  // namespace flyball::adapter
