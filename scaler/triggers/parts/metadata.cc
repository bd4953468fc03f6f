#include "scaler/triggers/parts/metadata.h"

#include <cmath>

#include "absl/algorithm/container.h"
#include "absl/strings/ascii.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/str_split.h"
#include "base/go/number.h"
#include "scaler/spec/document.h"
#include "scaler/triggers/parts/metric_value.h"

namespace flyball::scaler {
namespace {

bool ParseNumber(absl::string_view text, double& to) {
  return IsJsonNumber(text) && absl::SimpleAtod(text, &to) && std::isfinite(to);
}

bool ParseInteger(absl::string_view text, int64_t& to) {
  return IsJsonNumber(text, /*integer=*/true) && absl::SimpleAtoi(text, &to);
}

bool ParseBool(absl::string_view text, bool& to) {
  const std::optional<bool> value = go::ParseBool(text);
  to = value.value_or(false);
  return value.has_value();
}

bool ParseDuration(absl::string_view text, absl::Duration& to) {
  int64_t milliseconds = 0;
  if (!ParseInteger(text, milliseconds)) {
    return absl::ParseDuration(text, &to) && to != absl::InfiniteDuration();
  }
  to = absl::Milliseconds(milliseconds);
  return true;
}

}  // namespace

// Without white space around it; nullopt: it is absent or blank.
std::optional<absl::string_view> Metadata::Find(absl::string_view name) const {
  const auto found = spec_.metadata.find(std::string(name));
  if (found == spec_.metadata.end()) return std::nullopt;
  const absl::string_view text = absl::StripAsciiWhitespace(found->second);
  return text.empty() ? std::nullopt : std::optional(text);
}

const MetadataKey& Metadata::KeyOf(absl::string_view name, KeyKind kind) {
  static constexpr MetadataKey kNone{"", KeyKind::kText, "", ""};
  for (const absl::Span<const MetadataKey> keys : keys_) {
    for (const MetadataKey& key : keys) {
      if (key.name == name && key.kind == kind) return key;
    }
  }
  // A mistake in the program, which any test of the type shows.
  Wrong(name, "is read otherwise than the table of types has it");
  return kNone;
}

std::optional<absl::string_view> Metadata::FindOrNote(const MetadataKey& key) {
  const std::optional<absl::string_view> text = Find(key.name);
  if (!text.has_value() && key.otherwise == kRequired) Wrong(key.name, "is required");
  return text;
}

template <typename T, typename Parse>
T Metadata::Value(absl::string_view name, KeyKind kind, absl::string_view expected,
                  const Parse& parse) {
  const MetadataKey& key = KeyOf(name, kind);
  T otherwise{};
  (void)parse(key.otherwise, otherwise);
  const std::optional<absl::string_view> text = FindOrNote(key);
  if (!text.has_value()) return otherwise;
  T value{};
  if (parse(*text, value)) return value;
  Wrong(name, absl::StrCat("expected ", expected, ", got \"", *text, "\""));
  return otherwise;
}

bool Metadata::Has(absl::string_view name) const { return Find(name).has_value(); }

void Metadata::Wrong(absl::string_view name, absl::string_view problem) {
  problems_.push_back(absl::StrCat("triggers[", index_, "]", name.empty() ? "" : ".metadata.", name,
                                   ": ", problem));
}

void Metadata::Refuse() {
  for (const absl::Span<const MetadataKey> keys : keys_) {
    for (const MetadataKey& key : keys) {
      if (key.kind == KeyKind::kRefused && Has(key.name)) Wrong(key.name, key.says);
    }
  }
  for (const auto& [parameter, secret] : spec_.secrets) RefuseSecret(parameter);
}

void Metadata::RefuseSecret(const std::string& parameter) {
  absl::string_view problem = "is no parameter of this type";
  for (const absl::Span<const MetadataKey> keys : keys_) {
    for (const MetadataKey& key : keys) {
      if (key.name != parameter) continue;
      if (key.kind == KeyKind::kSecret) return;
      problem = "is read from the metadata alone";
    }
  }
  problems_.push_back(absl::StrCat("triggers[", index_, "].authenticationSecretRefs: \"", parameter,
                                   "\" ", problem));
}

std::string Metadata::Text(absl::string_view name, KeyKind kind) {
  return std::string(FindOrNote(KeyOf(name, kind)).value_or(""));
}

double Metadata::Number(absl::string_view name) {
  return Value<double>(name, KeyKind::kNumber, "a number", ParseNumber);
}

int64_t Metadata::Integer(absl::string_view name) {
  return Value<int64_t>(name, KeyKind::kInteger, "a whole number", ParseInteger);
}

int64_t Metadata::Target(absl::string_view name) {
  const size_t before = problems_.size();
  const double number = Value<double>(name, KeyKind::kTarget, "a number", ParseNumber);
  if (problems_.size() > before) return 0;
  const absl::StatusOr<int64_t> milli = TargetMilli(number);
  if (!milli.ok()) Wrong(name, milli.status().message());
  return milli.value_or(0);
}

bool Metadata::Bool(absl::string_view name) {
  return Value<bool>(name, KeyKind::kBool, "true or false", ParseBool);
}

absl::Duration Metadata::Duration(absl::string_view name) {
  const size_t before = problems_.size();
  const absl::Duration duration = Value<absl::Duration>(
      name, KeyKind::kDuration, "a duration like 30s, or milliseconds", ParseDuration);
  if (problems_.size() == before && duration <= absl::ZeroDuration()) {
    Wrong(name, "must be greater than 0");
  }
  return duration;
}

std::string Metadata::OneOf(absl::string_view name) {
  const absl::string_view words = KeyOf(name, KeyKind::kOneOf).words;
  return Value<std::string>(name, KeyKind::kOneOf, absl::StrCat("one of ", words),
                            [words](absl::string_view text, std::string& to) {
                              to = std::string(text);
                              return absl::c_linear_search(absl::StrSplit(words, ", "), text);
                            });
}
std::vector<std::pair<std::string, std::string>> Metadata::Pairs(absl::string_view name) {
  std::vector<std::pair<std::string, std::string>> out;
  const std::optional<absl::string_view> text = FindOrNote(KeyOf(name, KeyKind::kPairs));
  if (!text.has_value()) return out;
  size_t items = 0;
  for (const absl::string_view item : absl::StrSplit(*text, ',')) {
    ++items;
    const std::vector<absl::string_view> sides = absl::StrSplit(item, '=');
    const absl::string_view key = absl::StripAsciiWhitespace(sides[0]);
    if (sides.size() != 2 || key.empty()) {
      // The message does not repeat the item, since it may be a secret.
      Wrong(name, absl::StrCat("expected key=value,key=value; item ", items, " is none"));
      return {};
    }
    std::erase_if(out, [key](const auto& pair) { return pair.first == key; });
    out.emplace_back(std::string(key), std::string(absl::StripAsciiWhitespace(sides[1])));
  }
  return out;
}

TargetType Metadata::MetricType() const {
  return spec_.metric_type == "Value" ? TargetType::kValue : TargetType::kAverageValue;
}

absl::Status Metadata::status() const {
  if (problems_.empty()) return absl::OkStatus();
  return absl::InvalidArgumentError(absl::StrJoin(problems_, "; "));
}

std::string TriggerPlan::MetricName(absl::string_view part) const {
  return absl::StrCat(
      "s", context.index, "-",
      absl::StrReplaceAll(
          part, {{"/", "-"}, {".", "-"}, {":", "-"}, {"%", "-"}, {"(", "-"}, {")", "-"}}));
}

TriggerMetric TriggerPlan::Metric(absl::string_view part, absl::string_view target_key) const {
  return {.name = MetricName(part),
          .target_type = metadata.MetricType(),
          .target_milli = metadata.Target(target_key)};
}

}  // namespace flyball::scaler
