#include "scaler/spec/autoscaler.h"

#include <cmath>
#include <utility>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "kube/objects/selector.h"

namespace flyball::scaler {
namespace {

// Go's %+v of a *metav1.LabelSelector (a generated String method).
std::string GoText(const std::optional<LabelSelector>& selector) {
  if (!selector.has_value()) return "nil";
  std::string out = "&LabelSelector{MatchLabels:map[string]string{";
  for (const auto& [key, value] : selector->match_labels)
    absl::StrAppend(&out, key, ": ", value, ",");
  out += "},MatchExpressions:[]LabelSelectorRequirement{";
  for (const LabelSelector::Expression& r : selector->match_expressions) {
    absl::StrAppend(&out, "LabelSelectorRequirement{Key:", r.key, ",Operator:", r.op, ",Values:[",
                    absl::StrJoin(r.values, " "), "],},");
  }
  return out + "},}";
}

// Splits a quantity in canonical form into its number and the decimal exponent of its suffix. False
// for a binary suffix.
bool SplitCanonical(absl::string_view text, int64_t& mantissa, int& exponent) {
  const size_t end = text.find_first_not_of("+-0123456789");
  const absl::string_view suffix = end == absl::string_view::npos ? "" : text.substr(end);
  if (!absl::SimpleAtoi(text.substr(0, end), &mantissa)) return false;
  static constexpr absl::string_view kDecimal[] = {"n", "u", "m", "", "k", "M", "G", "T", "P", "E"};
  for (size_t i = 0; i < std::size(kDecimal); ++i) {
    if (suffix == kDecimal[i]) {
      exponent = 3 * (static_cast<int>(i) - 3);
      return true;
    }
  }
  return suffix.size() > 1 && suffix[0] == 'e' && absl::SimpleAtoi(suffix.substr(1), &exponent);
}

}  // namespace

MetricIdentifier MakeMetricIdentifier(std::string name, std::optional<LabelSelector> selector) {
  MetricIdentifier out;
  out.name = std::move(name);
  out.selector_go = GoText(selector);
  if (selector.has_value()) {
    const absl::StatusOr<kube::Selector> compiled = selector->ToSelector();
    if (compiled.ok()) {
      out.selector_text = compiled->ToString();
    } else {
      out.selector_error = std::string(compiled.status().message());
    }
  }
  out.selector = std::move(selector);
  return out;
}

TargetAmount MakeTargetAmount(const kube::Quantity& quantity) {
  return {.quantity = quantity, .milli = quantity.MilliValue()};
}

bool IsBeyond(const kube::Quantity& amount) {
  return amount.Compare(kube::Quantity::FromMilli(kMaxMetricMilli)) > 0 ||
         amount.Compare(kube::Quantity::FromMilli(-kMaxMetricMilli)) < 0;
}

RuleTolerance MakeRuleTolerance(const kube::Quantity& quantity) {
  RuleTolerance out{.quantity = quantity, .ratio = quantity.ToDouble()};
  int64_t mantissa = 0;
  int exponent = 0;
  if (SplitCanonical(quantity.ToString(), mantissa, exponent)) {
    out.ratio = static_cast<double>(mantissa);
    // Go takes the power from a table of correctly rounded values; std::pow gives the same ones for
    // these small exponents.
    if (exponent != 0) out.ratio *= std::pow(10.0, exponent);
  }
  return out;
}

absl::string_view MetricTypeName(MetricType type) {
  static constexpr absl::string_view kNames[] = {"Resource", "ContainerResource", "Pods",
                                                 "Object",   "External",          ""};
  return kNames[static_cast<size_t>(type)];
}

}  // namespace flyball::scaler
