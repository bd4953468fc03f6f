#include "apiservice/wire/text.h"

#include <array>

#include "absl/strings/str_cat.h"
#include "absl/time/civil_time.h"
#include "base/one_line.h"

namespace flyball::apiservice::wire {
namespace {

void AppendTwoDigits(int value, std::string* out) {
  out->push_back(static_cast<char>('0' + value / 10));
  out->push_back(static_cast<char>('0' + value % 10));
}

}  // namespace

void AppendKey(absl::string_view name, std::string* out) {
  AppendComma(out);
  absl::StrAppend(out, "\"", name, "\":");
}

void AppendField(absl::string_view name, absl::string_view value, std::string* out) {
  if (value.empty()) return;
  AppendKey(name, out);
  AppendJsonString(value, out);
}

void AppendStrings(const std::vector<std::string>& values, std::string* out) {
  out->push_back('[');
  for (const std::string& value : values) {
    AppendComma(out);
    AppendJsonString(value, out);
  }
  out->push_back(']');
}

void AppendJsonTime(absl::Time time, std::string* out) {
  if (time == kGoZeroTime) {
    out->append("null");
    return;
  }
  // By hand: absl::FormatTime takes three times as long, for each item of each answer.
  const absl::CivilSecond civil = absl::ToCivilSecond(time, absl::UTCTimeZone());
  const auto year = civil.year();
  out->push_back('"');
  if (year >= 0 && year <= 9999) {
    AppendTwoDigits(static_cast<int>(year / 100), out);
    AppendTwoDigits(static_cast<int>(year % 100), out);
  } else {
    absl::StrAppend(out, year);
  }
  const std::array<std::pair<char, int>, 5> parts = {{{'-', civil.month()},
                                                      {'-', civil.day()},
                                                      {'T', civil.hour()},
                                                      {':', civil.minute()},
                                                      {':', civil.second()}}};
  for (const auto& [separator, value] : parts) {
    out->push_back(separator);
    AppendTwoDigits(value, out);
  }
  out->append("Z\"");
}

void AppendMilliQuantity(int64_t milli, QuantityForm form, std::string* out) {
  if (milli == 0) {
    out->push_back('0');
    return;
  }
  uint64_t magnitude = static_cast<uint64_t>(milli);
  if (milli < 0) {
    out->push_back('-');
    magnitude = 0 - magnitude;
  }
  // Below 1024, or with a fraction, a binary quantity is written as a decimal one.
  if (form == QuantityForm::kBinary && magnitude % 1000 == 0 && magnitude >= 1024 * 1000) {
    static constexpr absl::string_view kSuffixes[] = {"", "Ki", "Mi", "Gi", "Ti", "Pi", "Ei"};
    uint64_t units = magnitude / 1000;
    size_t power = 0;
    for (; power < 6 && units % 1024 == 0; ++power) units /= 1024;
    absl::StrAppend(out, units, kSuffixes[power]);
    return;
  }
  static constexpr absl::string_view kSuffixes[] = {"m", "", "k", "M", "G", "T", "P", "E"};
  size_t power = 0;
  for (; power < 7 && magnitude % 1000 == 0; ++power) magnitude /= 1000;
  absl::StrAppend(out, magnitude, kSuffixes[power]);
}

void Shorten(size_t max, std::string* text) {
  if (text->size() > max) *text = Abridged(*text, max);
}

std::string IndentJson(absl::string_view compact) {
  std::string out;
  out.reserve(compact.size() * 2);
  size_t depth = 0;
  bool in_string = false;
  const auto new_line = [&] {
    out.push_back('\n');
    out.append(2 * depth, ' ');
  };
  for (size_t i = 0; i < compact.size(); ++i) {
    const char c = compact[i];
    if (in_string) {
      out.push_back(c);
      if (c == '\\' && i + 1 < compact.size()) out.push_back(compact[++i]);
      if (c == '"') in_string = false;
      continue;
    }
    const char next = i + 1 < compact.size() ? compact[i + 1] : '\0';
    if (c == '}' || c == ']') {
      if (depth > 0) --depth;
      new_line();
    }
    out.push_back(c);
    if (c == '"') in_string = true;
    if (c == ':') out.push_back(' ');
    if (c == ',') new_line();
    if (c != '{' && c != '[') continue;
    if (next == '}' || next == ']') {  // what is empty stays on one line
      out.push_back(next);
      ++i;
    } else {
      ++depth;
      new_line();
    }
  }
  // Go's indenting encoder ends without the newline that the compact one has.
  while (!out.empty() && out.back() == '\n') out.pop_back();
  return out;
}

}  // namespace flyball::apiservice::wire
