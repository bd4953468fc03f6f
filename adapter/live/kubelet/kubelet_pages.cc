#include "adapter/live/kubelet/kubelet_pages.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/status_macros.h"

namespace flyball::kubelet {
namespace {

constexpr char kJob[] = R"(scrape_configs:
- job_name: kubelets
  scheme: https
  metrics_path: /metrics/resource
  kubernetes_sd_configs: [{role: node}]
)";

// A page has about 1 KiB for each container. What is read of it takes several times as much.
constexpr uint64_t kMaxPageBytes = 8 << 20;

}  // namespace

scrape::Job KubeletJob(absl::Duration interval, http::TransportOptions http) {
  rules::Findings findings("kubelets");
  scrape::Job job = std::move(scrape::ReadScrapeConfig(kJob, findings).jobs.at(0));
  job.interval = interval;
  job.timeout = std::min(job.timeout, interval);
  job.limits.body_bytes = kMaxPageBytes;
  job.http = std::move(http);
  return job;
}

class KubeletPages::Fetcher : public scrape::PageFetcher {
 public:
  Fetcher(KubeletPages& pages, std::string node, std::unique_ptr<scrape::PageFetcher> inner)
      : pages_(pages), node_(std::move(node)), inner_(std::move(inner)), id_(pages_.Begin(node_)) {}
  ~Fetcher() override { pages_.End(node_, id_); }

  absl::StatusOr<scrape::Page> Fetch() override {
    const absl::StatusOr<scrape::Page> page = inner_->Fetch();
    pages_.Take(node_, id_, page);
    if (!page.ok()) return page.status();
    return scrape::Page();
  }
  void Shutdown() override { inner_->Shutdown(); }

 private:
  KubeletPages& pages_;
  const std::string node_;
  const std::unique_ptr<scrape::PageFetcher> inner_;
  const uint64_t id_;
};

KubeletPages::KubeletPages(Clock& clock, absl::Duration interval)
    : clock_(clock), interval_(interval), usage_(absl::ToInt64Milliseconds(interval)) {}

scrape::MakeFetcher KubeletPages::Reading(scrape::MakeFetcher inner) {
  return [this, inner = std::move(inner)](
             const scrape::Job& job,
             const scrape::Target& target) -> absl::StatusOr<std::unique_ptr<scrape::PageFetcher>> {
    ASSIGN_OR_RETURN(auto fetcher, inner(job, target));
    if (job.name != kKubeletJob) return fetcher;
    // Discovery gives the node's name as the instance.
    return std::make_unique<Fetcher>(
        *this, std::string(promql::LabelValue(target.labels, "instance")), std::move(fetcher));
  };
}

uint64_t KubeletPages::Begin(const std::string& node) {
  absl::MutexLock lock(&mutex_);
  takers_[node].id = ++last_id_;
  return last_id_;
}

void KubeletPages::End(const std::string& node, uint64_t id) {
  absl::MutexLock lock(&mutex_);
  const auto taker = takers_.find(node);
  if (taker == takers_.end() || taker->second.id != id) return;
  takers_.erase(taker);
  usage_.Remove(node);
}

void KubeletPages::Take(const std::string& node, uint64_t id,
                        const absl::StatusOr<scrape::Page>& page) {
  // The kubelet has its page as text in either form, with the same lines.
  absl::StatusOr<NodePoints> points =
      page.ok() ? ReadNodePoints(page->body) : absl::StatusOr<NodePoints>(page.status());
  const MonotonicTime now = clock_.MonotonicNow();
  absl::MutexLock lock(&mutex_);
  const auto found = takers_.find(node);
  if (found == takers_.end() || found->second.id != id) return;
  Taker& taker = found->second;
  if (points.ok()) {
    usage_.Replace(node, *std::move(points));
    taker.taken = now;
    taker.known = true;
    return;
  }
  last_failure_ = absl::Status(points.status().code(),
                               absl::StrCat("node ", node, ": ", points.status().message()));
  if (!taker.known || now - taker.taken < kForgetAfter * interval_) return;
  usage_.Remove(node);
  taker.known = false;
}

std::optional<TimedUsage> KubeletPages::Node(const std::string& node) const {
  absl::ReaderMutexLock lock(&mutex_);
  return usage_.Node(node);
}

std::optional<PodUsage> KubeletPages::Pod(const PodId& pod) const {
  absl::ReaderMutexLock lock(&mutex_);
  return usage_.Pod(pod);
}

absl::Status KubeletPages::Known() const {
  absl::ReaderMutexLock lock(&mutex_);
  const bool known = std::any_of(takers_.begin(), takers_.end(),
                                 [](const auto& taker) { return taker.second.known; });
  if (known) return absl::OkStatus();
  return last_failure_.ok() ? absl::UnavailableError("no kubelet has been scraped yet")
                            : last_failure_;
}

}  // namespace flyball::kubelet
