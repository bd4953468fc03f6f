#include "adapter/answering.h"

#include <string>

#include "absl/strings/str_cat.h"
#include "adapter/queries/failure_notes.h"
#include "spdlog/spdlog.h"

namespace flyball::adapter {
namespace {

absl::Status ShownFailure(const absl::Status& cause) {
  if (absl::IsDeadlineExceeded(cause)) {
    return absl::DeadlineExceededError("request did not complete within the allotted timeout");
  }
  absl::Status shown = absl::InternalError("unable to fetch metrics");
  if (const std::string note = NoteOf(cause, kTooLongNote); !note.empty()) {
    SetNote(shown, kTooLongNote, note);
  }
  return shown;
}

}  // namespace

absl::Status FetchFailure(const Answering& answering, absl::string_view metric,
                          const absl::Status& cause) {
  if (answering.complaints.Due(metric)) {
    spdlog::error("unable to fetch metric {}: {}", std::string(metric),
                  std::string(cause.message()));
  }
  return ShownFailure(cause);
}

absl::Status FetchFailure(const Answering& answering, const RuleName& name,
                          const rules::CompiledRule& rule, absl::string_view metric,
                          const absl::Status& cause) {
  answering.failures.Failed(name, rule.where, metric, cause);
  absl::Status failure = ShownFailure(cause);
  SetNote(failure, kWarningNote,
          absl::StrCat("the query of ", name.list, "[", name.index, "] (", rule.where,
                       ") fails: Flyball's /debug/rules and its log say why"));
  return failure;
}

absl::Time WholeSeconds(absl::Time time) {
  return absl::FromUnixSeconds(absl::ToUnixSeconds(time));
}

}  // namespace flyball::adapter
