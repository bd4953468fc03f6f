#include "apiservice/url.h"

#include <limits>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"

namespace flyball::apiservice {
namespace {

int HexDigit(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return -1;
}

struct Unit {
  absl::string_view name;
  uint64_t nanos;
};

constexpr Unit kUnits[] = {{"ns", 1},          {"us", 1000},        {"µs", 1000},
                           {"μs", 1000},       {"ms", 1000000},     {"s", 1000000000},
                           {"m", 60000000000}, {"h", 3600000000000}};

constexpr uint64_t kMaxNanos = std::numeric_limits<int64_t>::max();

// Reads digits off the front; false on overflow.
bool TakeInteger(absl::string_view* text, uint64_t* value) {
  *value = 0;
  while (!text->empty() && absl::ascii_isdigit(text->front())) {
    if (*value > kMaxNanos / 10) return false;
    *value = *value * 10 + static_cast<uint64_t>(text->front() - '0');
    if (*value > kMaxNanos) return false;
    text->remove_prefix(1);
  }
  return true;
}

// Digits after the point as numerator and power of ten; further ones than fit are dropped.
void TakeFraction(absl::string_view* text, uint64_t* numerator, double* scale) {
  *numerator = 0;
  *scale = 1;
  bool full = false;
  while (!text->empty() && absl::ascii_isdigit(text->front())) {
    full = full || *numerator > (kMaxNanos - 9) / 10;
    if (!full) {
      *numerator = *numerator * 10 + static_cast<uint64_t>(text->front() - '0');
      *scale *= 10;
    }
    text->remove_prefix(1);
  }
}

}  // namespace

std::optional<std::string> PercentDecode(absl::string_view text, bool plus_is_space) {
  std::string out;
  out.reserve(text.size());
  for (size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '%') {
      if (i + 2 >= text.size()) return std::nullopt;
      const int high = HexDigit(text[i + 1]);
      const int low = HexDigit(text[i + 2]);
      if (high < 0 || low < 0) return std::nullopt;
      out.push_back(static_cast<char>(high << 4 | low));
      i += 2;
    } else if (text[i] == '+' && plus_is_space) {
      out.push_back(' ');
    } else {
      out.push_back(text[i]);
    }
  }
  return out;
}

Query::Query(absl::string_view raw) {
  if (raw.empty()) return;
  for (const absl::string_view pair : absl::StrSplit(raw, '&', absl::SkipEmpty())) {
    if (absl::StrContains(pair, ';')) continue;
    const size_t equals = pair.find('=');
    const absl::string_view value =
        equals == absl::string_view::npos ? absl::string_view() : pair.substr(equals + 1);
    std::optional<std::string> key = PercentDecode(pair.substr(0, equals), true);
    std::optional<std::string> decoded = PercentDecode(value, true);
    if (key.has_value() && decoded.has_value()) {
      pairs_.emplace_back(*std::move(key), *std::move(decoded));
    }
  }
}

std::optional<absl::string_view> Query::Get(absl::string_view name) const {
  for (const auto& [key, value] : pairs_) {
    if (key == name) return value;
  }
  return std::nullopt;
}

std::vector<std::string> Query::All(absl::string_view name) const {
  std::vector<std::string> values;
  for (const auto& [key, value] : pairs_) {
    if (key == name) values.push_back(value);
  }
  return values;
}

bool Query::Flag(absl::string_view name) const {
  const std::optional<absl::string_view> value = Get(name);
  return value.has_value() && *value != "0" && !absl::EqualsIgnoreCase(*value, "false");
}

std::optional<Target> ParseTarget(absl::string_view raw) {
  raw = raw.substr(0, raw.find('#'));
  const size_t question = raw.find('?');
  const absl::string_view path = raw.substr(0, question);
  if (path.empty() || path.front() != '/') return std::nullopt;
  Target target;
  for (const absl::string_view segment : absl::StrSplit(path.substr(1), '/')) {
    std::optional<std::string> decoded = PercentDecode(segment, false);
    if (!decoded.has_value()) return std::nullopt;
    absl::StrAppend(&target.path, "/", *decoded);
    target.segments.push_back(*std::move(decoded));
  }
  if (question != absl::string_view::npos) target.query = Query(raw.substr(question + 1));
  return target;
}

absl::StatusOr<absl::Duration> ParseGoDuration(absl::string_view text) {
  const auto error = [&](absl::string_view what) {
    return absl::InvalidArgumentError(absl::StrCat("time: ", what, " \"", text, "\""));
  };
  absl::string_view rest = text;
  const bool negative = absl::ConsumePrefix(&rest, "-");
  if (!negative) absl::ConsumePrefix(&rest, "+");
  if (rest == "0") return absl::ZeroDuration();
  if (rest.empty()) return error("invalid duration");
  uint64_t total = 0;
  while (!rest.empty()) {
    if (rest.front() != '.' && !absl::ascii_isdigit(rest.front())) return error("invalid duration");
    const size_t before = rest.size();
    uint64_t whole = 0;
    uint64_t numerator = 0;
    double scale = 1;
    if (!TakeInteger(&rest, &whole)) return error("invalid duration");
    bool any_digit = rest.size() != before;
    if (absl::ConsumePrefix(&rest, ".")) {
      const size_t at_fraction = rest.size();
      TakeFraction(&rest, &numerator, &scale);
      any_digit = any_digit || rest.size() != at_fraction;
    }
    if (!any_digit) return error("invalid duration");
    size_t length = 0;
    while (length < rest.size() && rest[length] != '.' && !absl::ascii_isdigit(rest[length])) {
      ++length;
    }
    if (length == 0) return error("missing unit in duration");
    const absl::string_view name = rest.substr(0, length);
    const Unit* unit = nullptr;
    for (const Unit& candidate : kUnits) {
      if (candidate.name == name) unit = &candidate;
    }
    if (unit == nullptr) return error(absl::StrCat("unknown unit \"", name, "\" in duration"));
    rest.remove_prefix(length);
    if (whole > kMaxNanos / unit->nanos) return error("invalid duration");
    // As Go: the fraction is exact to a nanosecond of the unit.
    const auto fraction = static_cast<uint64_t>(static_cast<double>(numerator) *
                                                (static_cast<double>(unit->nanos) / scale));
    total += whole * unit->nanos + fraction;
    if (total > kMaxNanos) return error("invalid duration");
  }
  const absl::Duration duration = absl::Nanoseconds(static_cast<int64_t>(total));
  return negative ? -duration : duration;
}

}  // namespace flyball::apiservice
