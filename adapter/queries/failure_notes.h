// Notes that a failed status carries besides its message, since the message has to be the
// original's.
//
// Pure.
#pragma once

#include <string>

#include "absl/status/status.h"
#include "absl/strings/cord.h"
#include "absl/strings/string_view.h"

namespace flyball::adapter {

inline constexpr char kQueryNote[] = "flyball.dev/query";       // the PromQL that failed
inline constexpr char kTooLongNote[] = "flyball.dev/too-long";  // which limit the answer exceeds
inline constexpr char kWarningNote[] = "flyball.dev/warning";   // for the answer's Warning header

inline void SetNote(absl::Status& status, const char* note, absl::string_view text) {
  status.SetPayload(note, absl::Cord(text));  // no effect on OK
}

// "" if there is no such note.
inline std::string NoteOf(const absl::Status& status, const char* note) {
  const auto text = status.GetPayload(note);
  return text.has_value() ? std::string(*text) : "";
}

// The same failure in other words, with its notes.
inline absl::Status Reworded(const absl::Status& failure, absl::StatusCode code,
                             absl::string_view text) {
  absl::Status reworded(code, text);
  failure.ForEachPayload([&reworded](absl::string_view note, const absl::Cord& said) {
    reworded.SetPayload(note, said);
  });
  return reworded;
}

// The failure of a source whose answer is longer than is read.
inline absl::Status SourceAnswerTooLong(absl::string_view text) {
  absl::Status status = absl::UnavailableError(text);
  SetNote(status, kTooLongNote, text);
  return status;
}

}  // namespace flyball::adapter
