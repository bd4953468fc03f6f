#include "apiservice/requests/url.h"

#include <algorithm>
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

// Whether each percent sign begins an escape.
bool IsWellFormed(absl::string_view text) {
  for (size_t i = text.find('%'); i != absl::string_view::npos; i = text.find('%', i + 3)) {
    if (i + 2 >= text.size() || HexDigit(text[i + 1]) < 0 || HexDigit(text[i + 2]) < 0) {
      return false;
    }
  }
  return true;
}

// Whether well-formed `encoded` is `name` in a query; an encoding is three times as long at most.
bool DecodesTo(absl::string_view encoded, absl::string_view name) {
  if (encoded == name) return true;
  if (encoded.size() <= name.size() || encoded.size() > 3 * name.size()) return false;
  return PercentDecode(encoded, true) == name;
}

// What comes after `scheme://host`, if that is there.
absl::string_view WithoutOrigin(absl::string_view target) {
  const size_t slashes = target.find("://");
  if (slashes == absl::string_view::npos || slashes == 0) return target;
  for (const char c : target.substr(0, slashes)) {
    if (!absl::ascii_isalpha(c)) return target;
  }
  const size_t authority = slashes + 3;
  return target.substr(std::min(target.find_first_of("/?", authority), target.size()));
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
  for (const absl::string_view pair : absl::StrSplit(raw, '&', absl::SkipEmpty())) {
    if (pairs_.size() == kMaxParameters) return;
    if (absl::StrContains(pair, ';')) continue;
    const size_t equals = pair.find('=');
    const absl::string_view key = pair.substr(0, equals);
    const absl::string_view value =
        equals == absl::string_view::npos ? absl::string_view() : pair.substr(equals + 1);
    if (IsWellFormed(key) && IsWellFormed(value)) pairs_.emplace_back(key, value);
  }
}

Query::Pairs::const_iterator Query::Find(absl::string_view name) const {
  return std::find_if(pairs_.begin(), pairs_.end(),
                      [name](const auto& pair) { return DecodesTo(pair.first, name); });
}

std::optional<std::string> Query::Get(absl::string_view name) const {
  const auto found = Find(name);
  return found == pairs_.end() ? std::nullopt : PercentDecode(found->second, true);
}

std::vector<std::string> Query::All(absl::string_view name) const {
  std::vector<std::string> values;
  for (const auto& [key, value] : pairs_) {
    if (DecodesTo(key, name)) values.push_back(*PercentDecode(value, true));
  }
  return values;
}

bool Query::Flag(absl::string_view name) const {
  const std::optional<std::string> value = Get(name);
  return value.has_value() && *value != "0" && !absl::EqualsIgnoreCase(*value, "false");
}

size_t Query::BytesSent(absl::string_view name) const {
  const auto found = Find(name);
  return found == pairs_.end() ? 0 : found->second.size();
}

absl::StatusOr<Target> ParseTarget(absl::string_view raw) {
  const absl::Status malformed = absl::InvalidArgumentError("malformed request target");
  raw = raw.substr(0, raw.find('#'));
  const absl::string_view local = WithoutOrigin(raw);
  const size_t question = local.find('?');
  absl::string_view path = local.substr(0, question);
  // As RFC 9110 has it, a URL without a path means `/`.
  if (path.empty() && local.size() < raw.size()) path = "/";
  if (path.empty() || path.front() != '/') return malformed;
  if (path.size() > Target::kMaxPathBytes) {
    return absl::ResourceExhaustedError(
        absl::StrCat("the path of the request is longer than ", Target::kMaxPathBytes, " bytes"));
  }
  Target target;
  for (const absl::string_view segment : absl::StrSplit(path.substr(1), '/')) {
    std::optional<std::string> decoded = PercentDecode(segment, false);
    if (!decoded.has_value()) return malformed;
    absl::StrAppend(&target.path, "/", *decoded);
    target.segments.push_back(*std::move(decoded));
  }
  if (question == absl::string_view::npos) return target;
  const absl::string_view query = local.substr(question + 1);
  if (std::count(query.begin(), query.end(), '&') >=
      static_cast<ptrdiff_t>(Query::kMaxParameters)) {
    return absl::InvalidArgumentError(
        absl::StrCat("the request has more than ", Query::kMaxParameters, " parameters"));
  }
  target.query = Query(query);
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
