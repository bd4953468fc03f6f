#include "scaler/views/targets_text.h"

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"

namespace flyball::scaler {
namespace {

constexpr size_t kShown = 2;
constexpr char kUnknown[] = "<unknown>";

std::string AmountText(const std::optional<kube::Quantity>& amount) {
  return amount.has_value() ? amount->ToString() : kUnknown;
}

std::string AverageText(const MetricTarget& target, const MetricStatus& current) {
  return absl::StrCat(AmountText(current.average_value), "/",
                      target.average_value->quantity.ToString());
}

std::string ValueText(const MetricTarget& target, const MetricStatus& current) {
  return absl::StrCat(AmountText(current.value), "/",
                      target.value.has_value() ? target.value->quantity.ToString() : kUnknown);
}

std::string UtilizationText(const MetricTarget& target, const MetricStatus& current) {
  const auto percent = [](const std::optional<int32_t>& value, const char* otherwise) {
    return value.has_value() ? absl::StrCat(*value, "%") : otherwise;
  };
  return absl::StrCat(percent(current.average_utilization, kUnknown), "/",
                      percent(target.average_utilization, "<auto>"));
}

std::string MetricText(const MetricSpec& spec, const MetricStatus& current) {
  const bool average = spec.target.average_value.has_value();
  switch (spec.type) {
    case MetricType::kResource:
    case MetricType::kContainerResource:
      return absl::StrCat(
          spec.resource, ": ",
          average ? AverageText(spec.target, current) : UtilizationText(spec.target, current));
    case MetricType::kPods:
      return average ? AverageText(spec.target, current) : ValueText(spec.target, current);
    case MetricType::kObject:
    case MetricType::kExternal:
      return average ? absl::StrCat(AverageText(spec.target, current), " (avg)")
                     : ValueText(spec.target, current);
    case MetricType::kUnknown: break;
  }
  return "<unknown type>";
}

}  // namespace

std::string TargetsText(const std::vector<MetricSpec>& specs,
                        const std::vector<MetricStatus>& current) {
  if (specs.empty()) return "<none>";
  std::vector<std::string> shown;
  for (size_t i = 0; i < specs.size() && i < kShown; ++i) {
    shown.push_back(MetricText(specs[i], i < current.size() ? current[i] : MetricStatus()));
  }
  const size_t more = specs.size() - shown.size();
  return absl::StrCat(absl::StrJoin(shown, ", "),
                      more == 0 ? "" : absl::StrCat(" + ", more, " more..."));
}

}  // namespace flyball::scaler
