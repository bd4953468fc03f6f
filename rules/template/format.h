// Values as text: Go's fmt.Sprint, Sprintln and Sprintf over template values.
//
// Pure. Verbs: v (with + and #), T, t, s, q, x, X, d, b, o, O, c, U, e, E, f, F, g, G, with flags,
// widths, precisions, `*` and argument indexes; mistakes come out as Go's `%!d(string=x)`. Widths
// and precisions are limited to kMaxWidth.
//
// Not here: %b and %x of floats and complex numbers, which give `%!`, and # with them.
#pragma once

#include <string>

#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "rules/template/value.h"

namespace flyball::rules::tmpl {

inline constexpr int kMaxWidth = 10000;

std::string Sprint(absl::Span<const Value> values);
std::string Sprintln(absl::Span<const Value> values);
std::string Sprintf(absl::string_view format, absl::Span<const Value> values);

}  // namespace flyball::rules::tmpl
