#include "serve/hpa_askers.h"

#include <algorithm>
#include <utility>

#include "absl/cleanup/cleanup.h"
#include "absl/strings/str_cat.h"
#include "base/joined_key.h"
#include "base/status_macros.h"
#include "kube/client/scale.h"
#include "kube/objects/api_version.h"
#include "kube/objects/builtin_resources.h"
#include "kube/objects/object_json.h"
#include "kube/watch/object_list.h"
#include "kube/watch/object_watch.h"
#include "scaler/spec/document.h"
#include "scaler/spec/hpa/admission.h"

namespace flyball::serve {
namespace {

absl::Status TooSlow() {
  return absl::DeadlineExceededError("the API server did not answer in time which HPAs ask for it");
}

// Other questions, or those who asked the same one before, had the time that this one had.
absl::Status NoTurn() {
  return absl::DeadlineExceededError(
      "the API server was not asked in time which HPAs ask for it: other questions came first");
}

}  // namespace

// Keeps the needed fields of each HPA.
class HpaAskers::Lister : public kube::WatchHandler {
 public:
  void ListStarted() override {
    hpas_.clear();
    unread_ = absl::OkStatus();
  }
  void Listed(absl::string_view json) override {
    const absl::StatusOr<scaler::Node> document = scaler::ParseJson(json);
    if (!document.ok()) {
      unread_ = document.status();
      return;
    }
    // The API server has admitted it.
    const scaler::AdmissionResult admitted =
        scaler::Admit(*document, {.dialect = {}, .skip_admission = true});
    if (!admitted.autoscaler.has_value()) {
      // An HPA that cannot be read may ask for more replicas than all others, so this is an error.
      unread_ = absl::InvalidArgumentError("one HPA cannot be read");
      return;
    }
    const scaler::Autoscaler& autoscaler = *admitted.autoscaler;
    Hpa hpa = {.name = autoscaler.name,
               .target = autoscaler.scale_target,
               .min = autoscaler.min_or_default(),
               .max = autoscaler.max_replicas,
               .external = {}};
    for (const scaler::MetricSpec& metric : autoscaler.metrics) {
      if (metric.type != scaler::MetricType::kExternal) continue;
      Hpa::Metric& kept = hpa.external.emplace_back();
      kept.name = metric.metric.name;
      kept.selector = metric.metric.selector_text;
      if (metric.target.average_value.has_value()) {
        kept.average_milli = metric.target.average_value->milli;
      }
      if (metric.target.value.has_value()) kept.value_milli = metric.target.value->milli;
    }
    if (!hpa.external.empty()) hpas_.push_back(std::move(hpa));
  }
  absl::Status Acceptable() override { return unread_; }
  std::vector<Hpa> Take() && { return std::move(hpas_); }

 private:
  absl::Status unread_;
  std::vector<Hpa> hpas_;
};

absl::StatusOr<std::vector<HpaAskers::Hpa>> HpaAskers::List(const std::string& ns) {
  kube::ObjectReader reader;
  Lister lister;
  kube::ObjectWatchOptions options;
  options.resource = kube::ResourceNamed("autoscaling", "v2", "horizontalpodautoscalers",
                                         "HorizontalPodAutoscaler");
  options.ns = ns;
  options.list_timeout = kTimeout;
  // Not from the API server's cache: the HPAs' controller may have seen a newer state than that.
  if (const auto version = kube::ListPages(*server_, options, reader, lister); !version.ok()) {
    return absl::Status(version.status().code(),
                        absl::StrCat("the HorizontalPodAutoscalers cannot be listed: ",
                                     version.status().message()));
  }
  return std::move(lister).Take();
}

absl::Status HpaAskers::Look(const std::string& ns, const Hpa& hpa, adapter::MetricAsker& asker) {
  const std::shared_ptr<const kube::RestMapper> kinds = kinds_();
  const kube::ResourceInfo* kind =
      kinds == nullptr
          ? nullptr
          : kinds->FindKind(kube::ApiVersion::GroupOf(hpa.target.api_version), hpa.target.kind);
  if (kind == nullptr) {
    return absl::NotFoundError(
        absl::StrCat("the kind ", hpa.target.kind, ", target of ", asker.name, ", is not known"));
  }
  const absl::StatusOr<kube::Scale> scale = kube::GetScale(client_, *kind, ns, hpa.target.name);
  if (!scale.ok()) {
    return absl::Status(scale.status().code(),
                        absl::StrCat("the scale of ", asker.name,
                                     "'s target cannot be read: ", scale.status().message()));
  }
  asker.spec_replicas = scale->spec_replicas;
  asker.status_replicas = scale->status_replicas;
  return absl::OkStatus();
}

HpaAskers::AskersOr HpaAskers::LookFor(const adapter::ExternalMetricRequest& request,
                                       MonotonicTime deadline) {
  const auto place = places_.Take(1, deadline);
  if (!place.ok()) return NoTurn();
  ASSIGN_OR_RETURN(const std::vector<Hpa> hpas, List(request.ns));
  const std::string selector = request.selector.ToString();
  std::vector<adapter::MetricAsker> askers;
  for (const Hpa& hpa : hpas) {
    for (const Hpa::Metric& metric : hpa.external) {
      if (metric.name != request.metric || metric.selector != selector) continue;
      if (askers.size() == kMaxAskers) {
        return absl::ResourceExhaustedError(
            absl::StrCat("more than ", kMaxAskers, " HorizontalPodAutoscalers ask for it"));
      }
      if (clock_.MonotonicNow() >= deadline) return TooSlow();
      adapter::MetricAsker& asker = askers.emplace_back();
      asker.name = absl::StrCat(request.ns, "/", hpa.name);
      asker.average_milli = metric.average_milli;
      asker.value_milli = metric.value_milli;
      asker.min = hpa.min;
      asker.max = hpa.max;
      RETURN_IF_ERROR(Look(request.ns, hpa, asker));
    }
  }
  return askers;
}

HpaAskers::AskersOr HpaAskers::Of(const adapter::ExternalMetricRequest& request) {
  const MonotonicTime deadline = clock_.MonotonicNow() + std::min(request.timeout, kTimeout);
  const std::string question = JoinedKey(request.ns, request.metric, request.selector.ToString());
  std::shared_ptr<Line> line;
  int64_t number = 0;  // of the look that has not begun yet
  {
    absl::MutexLock lock(&mutex_);
    std::shared_ptr<Line>& known = lines_[question];
    if (known == nullptr) known = std::make_shared<Line>();
    line = known;
    ++line->askers;
    number = line->looks + 1;
  }
  const absl::Cleanup leave = [&] {
    absl::MutexLock lock(&mutex_);
    if (--line->askers == 0) lines_.erase(question);
  };
  return looks_.Ask(JoinedKey(question, absl::StrCat(number)), deadline, [&]() -> AskersOr {
    {
      absl::MutexLock lock(&mutex_);
      if (!clock_.Await(mutex_, absl::Condition(&line->idle), deadline)) return NoTurn();
      line->idle = false;
      line->looks = number;
    }
    const absl::Cleanup end = [&] {
      absl::MutexLock lock(&mutex_);
      line->idle = true;
    };
    return LookFor(request, deadline);
  });
}

void HpaAskers::Shutdown() {
  client_.Shutdown();
  server_->Shutdown();
}

}  // namespace flyball::serve
