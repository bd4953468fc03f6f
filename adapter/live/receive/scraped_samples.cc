#include "adapter/live/receive/scraped_samples.h"

#include <utility>

#include "base/status_macros.h"

namespace flyball::live {
namespace {

// Scrapes of one target never overtake each other. So a stamp before the last one comes from a
// clock that was set back, and a counter's sample between earlier ones would look like a restart.
// Like Prometheus, this accepts none.
constexpr int64_t kWindowMs = 0;

class Opened : public scrape::OpenSeries {
 public:
  Opened(Store& store, SeriesHandle handle) : store_(store), handle_(std::move(handle)) {}

  absl::Status Append(int64_t time_ms, double value, int64_t now_ms) override {
    return store_.Append(handle_, {.time_ms = time_ms, .value = value}, now_ms, kWindowMs);
  }

 private:
  Store& store_;
  const SeriesHandle handle_;
};

}  // namespace

absl::StatusOr<std::unique_ptr<scrape::OpenSeries>> ScrapedSamples::Open(
    const promql::LabelSet& labels, bool asked_for_by_pods) {
  ASSIGN_OR_RETURN(
      SeriesHandle handle,
      store_.Open(promql::Labels(labels), asked_for_by_pods ? Sender::kAnybody : Sender::kTrusted));
  return std::make_unique<Opened>(store_, std::move(handle));
}

}  // namespace flyball::live
