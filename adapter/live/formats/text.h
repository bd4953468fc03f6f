// The text formats that are scraped: Prometheus's 0.0.4 and OpenMetrics 1.0.
//
// Pure; safe on any thread. Source: Prometheus 3.15.0 model/textparse (promparse.go,
// openmetricsparse.go). Names in braces and quotes, `{"a.b",l="v"}`, are read in both.
// Different: blanks before a name are not part of it, and a NUL byte where no text may be is an
// error, not the end of the page. Limits: none of its own; work and memory are proportional to the
// page.
//
// Errors are kInvalidArgument, with line, column and the text there; the sink then has everything
// that came before.
#pragma once

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "adapter/live/formats/samples.h"

namespace flyball::formats {

// Stamps are milliseconds. Lines end in LF, the last one may lack it.
absl::Status ParseText(absl::string_view page, ScrapeSink& sink);

// Stamps are seconds, cut to milliseconds as a double's product with 1000. `# EOF` ends the page.
// Exemplars are checked and dropped.
absl::Status ParseOpenMetrics(absl::string_view page, ScrapeSink& sink);

}  // namespace flyball::formats
