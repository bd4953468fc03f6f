#include "scaler/triggers/metadata.h"

#include <algorithm>
#include <cmath>

#include "absl/strings/ascii.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "scaler/spec/document.h"
#include "scaler/triggers/metric_value.h"

namespace flyball::scaler {
namespace {

std::string Trimmed(const std::string& text) {
  return std::string(absl::StripAsciiWhitespace(text));
}

}  // namespace

const std::string* Metadata::Find(absl::string_view name) const {
  const auto found = spec_.metadata.find(std::string(name));
  if (found == spec_.metadata.end() || absl::StripAsciiWhitespace(found->second).empty()) {
    return nullptr;
  }
  return &found->second;
}

bool Metadata::Has(absl::string_view name) const { return Find(name) != nullptr; }

void Metadata::Wrong(absl::string_view name, absl::string_view problem) {
  problems_.push_back(absl::StrCat("triggers[", index_, "]", name.empty() ? "" : ".metadata.", name,
                                   ": ", problem));
}

std::string Metadata::Text(absl::string_view name, absl::string_view otherwise) {
  const std::string* text = Find(name);
  return text == nullptr ? std::string(otherwise) : *text;
}

double Metadata::Number(absl::string_view name, double otherwise) {
  const std::string* text = Find(name);
  if (text == nullptr) return otherwise;
  double number = 0;
  if (!IsJsonNumber(Trimmed(*text), /*integer=*/false) || !absl::SimpleAtod(*text, &number) ||
      !std::isfinite(number)) {
    Wrong(name, absl::StrCat("expected a number, got \"", *text, "\""));
    return otherwise;
  }
  return number;
}

int64_t Metadata::Integer(absl::string_view name, int64_t otherwise) {
  const std::string* text = Find(name);
  if (text == nullptr) return otherwise;
  int64_t number = 0;
  if (!IsJsonNumber(Trimmed(*text), /*integer=*/true) || !absl::SimpleAtoi(*text, &number)) {
    Wrong(name, absl::StrCat("expected a whole number, got \"", *text, "\""));
    return otherwise;
  }
  return number;
}

bool Metadata::Bool(absl::string_view name, bool otherwise) {
  const std::string* text = Find(name);
  if (text == nullptr) return otherwise;
  const std::string word = Trimmed(*text);
  for (const absl::string_view yes : {"1", "t", "T", "TRUE", "true", "True"}) {
    if (word == yes) return true;
  }
  for (const absl::string_view no : {"0", "f", "F", "FALSE", "false", "False"}) {
    if (word == no) return false;
  }
  Wrong(name, absl::StrCat("expected true or false, got \"", *text, "\""));
  return otherwise;
}

absl::Duration Metadata::Duration(absl::string_view name, absl::Duration otherwise) {
  const std::string* text = Find(name);
  if (text == nullptr) return otherwise;
  const std::string word = Trimmed(*text);
  absl::Duration duration;
  int64_t milliseconds = 0;
  if (IsJsonNumber(word, /*integer=*/true) && absl::SimpleAtoi(word, &milliseconds)) {
    duration = absl::Milliseconds(milliseconds);
  } else if (!absl::ParseDuration(word, &duration) || duration == absl::InfiniteDuration()) {
    Wrong(name, absl::StrCat("expected a duration like 30s, or milliseconds, got \"", *text, "\""));
    return otherwise;
  }
  if (duration <= absl::ZeroDuration()) {
    Wrong(name, "must be greater than 0");
    return otherwise;
  }
  return duration;
}

std::string Metadata::OneOf(absl::string_view name, const std::vector<absl::string_view>& words,
                            absl::string_view otherwise) {
  const std::string* text = Find(name);
  if (text == nullptr) return std::string(otherwise);
  std::string word = Trimmed(*text);
  if (std::find(words.begin(), words.end(), word) == words.end()) {
    Wrong(name,
          absl::StrCat("expected one of ", absl::StrJoin(words, ", "), ", got \"", *text, "\""));
    return std::string(otherwise);
  }
  return word;
}

std::vector<std::pair<std::string, std::string>> Metadata::Pairs(absl::string_view name) {
  std::vector<std::pair<std::string, std::string>> out;
  const std::string* text = Find(name);
  if (text == nullptr) return out;
  for (const absl::string_view item : absl::StrSplit(*text, ',')) {
    const std::vector<absl::string_view> sides = absl::StrSplit(item, '=');
    const absl::string_view key = absl::StripAsciiWhitespace(sides[0]);
    if (sides.size() != 2 || key.empty()) {
      // Values may be secret.
      Wrong(name, absl::StrCat("expected key=value,key=value; item ", out.size() + 1, " is none"));
      return {};
    }
    out.emplace_back(std::string(key), std::string(absl::StripAsciiWhitespace(sides[1])));
  }
  return out;
}

std::string Metadata::RequiredText(absl::string_view name) {
  if (!Has(name)) Wrong(name, "is required");
  return Text(name);
}

double Metadata::RequiredNumber(absl::string_view name) {
  if (!Has(name)) Wrong(name, "is required");
  return Number(name, 0);
}

int64_t Metadata::RequiredTarget(absl::string_view name) {
  const size_t before = problems_.size();
  const double number = RequiredNumber(name);
  if (problems_.size() > before) return 0;
  const absl::StatusOr<int64_t> milli = TargetMilli(number);
  if (!milli.ok()) Wrong(name, milli.status().message());
  return milli.value_or(0);
}

TargetType Metadata::MetricType() const {
  return spec_.metric_type == "Value" ? TargetType::kValue : TargetType::kAverageValue;
}

absl::Status Metadata::status() const {
  if (problems_.empty()) return absl::OkStatus();
  return absl::InvalidArgumentError(absl::StrJoin(problems_, "; "));
}

}  // namespace flyball::scaler
