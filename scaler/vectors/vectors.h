// Reads lines with scenarios and writes lines with decisions, for `flyball decide --vectors`.
//
// Each line is read, answered and written before the next one, in order.
// Limits: 64 MiB a line (document.h).
#pragma once

#include <cstddef>
#include <istream>
#include <ostream>
#include <string>

#include "absl/strings/string_view.h"
#include "scaler/spec/dialect.h"

namespace flyball::scaler {

// The answer to one line, without a line end. A line has `{"scenario": …}` for the replica math, or
// `{"in": …}` for scaling by requests (requests/request_vectors.h), whose answer is
// `{"id": …, "out": …}`; other members are ignored. The answer to a line without a scenario is
// `{"error": …, "line": number}`, and `ok` is then false.
struct LineAnswer {
  bool ok = true;
  std::string text;
};
// `otherwise` is that of ReadScenario (scenario.h).
LineAnswer AnswerLine(absl::string_view line, size_t number, const DialectChoice& otherwise = {});

// Answers all lines of `in`; empty ones are skipped. Returns the number of lines that were wrong.
size_t AnswerLines(std::istream& in, std::ostream& out, const DialectChoice& otherwise = {});

}  // namespace flyball::scaler
