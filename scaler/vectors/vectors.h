// Scenario lines in, decision lines out: what `flyball decide --vectors` does.
//
// Streaming: one line is read, answered and written before the next; order is kept.
// Limits: 64 MiB a line (document.h).
#pragma once

#include <cstddef>
#include <istream>
#include <ostream>
#include <string>

#include "absl/strings/string_view.h"
#include "scaler/spec/dialect.h"

namespace flyball::scaler {

// The answer to one line, without a line end. Its members tell what it is: `{"scenario": …}` for
// the replica math, `{"in": …}` for scaling by requests (requests/request_vectors.h), which is
// answered `{"id": …, "out": …}`; anything beside these members is ignored. A line that is no
// scenario is answered `{"error": …, "line": number}`; `ok` is then false.
struct LineAnswer {
  bool ok = true;
  std::string text;
};
// `otherwise`: as of ReadScenario (scenario.h).
LineAnswer AnswerLine(absl::string_view line, size_t number, const DialectChoice& otherwise = {});

// All lines of `in`; empty ones are skipped. Returns how many were bad.
size_t AnswerLines(std::istream& in, std::ostream& out, const DialectChoice& otherwise = {});

}  // namespace flyball::scaler
