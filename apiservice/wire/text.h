// Appends the scalar forms of Kubernetes JSON: strings as Go escapes them, timestamps, quantities.
//
// Pure. Everything appends to a caller's buffer: these run once for each item of each answer.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "base/go/text.h"

namespace flyball::apiservice::wire {

using go::AppendJsonString;

// Members and items are appended one after the other: these functions write the comma themselves,
// unless the object or list was opened right before. Names of members are not escaped.
inline void AppendComma(std::string* out) {
  if (out->back() != '{' && out->back() != '[') out->push_back(',');
}
void AppendKey(absl::string_view name, std::string* out);
// Writes nothing if the value is empty, like Go's `omitempty`.
void AppendField(absl::string_view name, absl::string_view value, std::string* out);

void AppendStrings(const std::vector<std::string>& values, std::string* out);

// An object of texts; `pairs` are names and values.
template <typename Pairs>
void AppendStringMap(const Pairs& pairs, std::string* out) {
  out->push_back('{');
  for (const auto& [name, value] : pairs) {
    AppendComma(out);
    AppendJsonString(name, out);
    out->push_back(':');
    AppendJsonString(value, out);
  }
  out->push_back('}');
}

// 0001-01-01T00:00:00Z, which Go treats as no time.
inline constexpr absl::Time kGoZeroTime = absl::FromUnixSeconds(-62135596800);

// `"2026-03-04T05:06:07Z"`: UTC, the fraction cut. kGoZeroTime is `null`.
void AppendJsonTime(absl::Time time, std::string* out);

enum class QuantityForm { kDecimal, kBinary };

// The canonical text of `milli` thousandths, like kube::Quantity::FromMilli(milli).ToString(), in
// one pass without arbitrary precision. No quotes.
void AppendMilliQuantity(int64_t milli, QuantityForm form, std::string* out);

// Cuts a text of more than `max` bytes, as Abridged does.
void Shorten(size_t max, std::string* text);

// Two-space indentation of compact JSON, as Go's json.Indent: escapes stay as they are. `compact`
// must be valid JSON; a final newline is kept.
std::string IndentJson(absl::string_view compact);

}  // namespace flyball::apiservice::wire
