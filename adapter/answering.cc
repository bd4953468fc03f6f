#include "adapter/answering.h"

#include <string>

#include "spdlog/spdlog.h"

namespace flyball::adapter {

absl::Status FetchFailure(const Answering& answering, absl::string_view metric,
                          const absl::Status& cause) {
  if (answering.complaints.Due(metric)) {
    spdlog::error("unable to fetch metric {}: {}", std::string(metric),
                  std::string(cause.message()));
  }
  if (absl::IsDeadlineExceeded(cause)) {
    return absl::DeadlineExceededError("request did not complete within the allotted timeout");
  }
  return absl::InternalError("unable to fetch metrics");
}

absl::Time WholeSeconds(absl::Time time) {
  return absl::FromUnixSeconds(absl::ToUnixSeconds(time));
}

}  // namespace flyball::adapter
