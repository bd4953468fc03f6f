#include "apiservice/requests/url.h"

#include <algorithm>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "apiservice/wire/text.h"
#include "base/go/url.h"

namespace flyball::apiservice {
namespace {

// Whether well-formed `encoded` is `name` in a query; an encoding is three times as long at most.
bool DecodesTo(absl::string_view encoded, absl::string_view name) {
  if (encoded == name) return true;
  if (encoded.size() <= name.size() || encoded.size() > 3 * name.size()) return false;
  return go::Unescape(encoded, true) == name;
}

std::string ShownOf(absl::string_view encoded) {
  constexpr size_t kShownBytes = 2048;
  std::string value = go::Unescape(encoded, true);
  wire::Shorten(kShownBytes, &value);
  value.shrink_to_fit();
  return value;
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

Query::Query(absl::string_view raw) {
  for (const absl::string_view pair : absl::StrSplit(raw, '&', absl::SkipEmpty())) {
    if (pairs_.size() == kMaxParameters) return;
    if (absl::StrContains(pair, ';')) continue;
    const size_t equals = pair.find('=');
    const absl::string_view key = pair.substr(0, equals);
    const absl::string_view value =
        equals == absl::string_view::npos ? absl::string_view() : pair.substr(equals + 1);
    if (go::IsWellEscaped(key) && go::IsWellEscaped(value)) pairs_.emplace_back(key, value);
  }
}

Query::Pairs::const_iterator Query::Find(absl::string_view name) const {
  return std::find_if(pairs_.begin(), pairs_.end(),
                      [name](const auto& pair) { return DecodesTo(pair.first, name); });
}

std::optional<std::string> Query::Get(absl::string_view name) const {
  const auto found = Find(name);
  if (found == pairs_.end()) return std::nullopt;
  return go::Unescape(found->second, true);
}

std::string Query::Shown(absl::string_view name) const {
  const auto found = Find(name);
  return found == pairs_.end() ? "" : ShownOf(found->second);
}

std::vector<std::string> Query::AllShown(absl::string_view name) const {
  std::vector<std::string> values;
  for (const auto& [key, value] : pairs_) {
    if (values.size() == kMaxValues) break;
    if (DecodesTo(key, name)) values.push_back(ShownOf(value));
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
    if (!go::IsWellEscaped(segment)) return malformed;
    target.segments.push_back(go::Unescape(segment, false));
    absl::StrAppend(&target.path, "/", target.segments.back());
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

}  // namespace flyball::apiservice
