#include "apiservice/requests/field_selector.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "base/go/text.h"
#include "base/status_macros.h"

namespace flyball::apiservice {
namespace {

// Cuts at commas that no backslash precedes; the backslashes stay.
std::vector<absl::string_view> SplitTerms(absl::string_view text) {
  std::vector<absl::string_view> terms;
  size_t start = 0;
  bool escaped = false;
  for (size_t i = 0; i < text.size(); ++i) {
    if (escaped) {
      escaped = false;
    } else if (text[i] == '\\') {
      escaped = true;
    } else if (text[i] == ',') {
      terms.push_back(text.substr(start, i - start));
      start = i + 1;
    }
  }
  terms.push_back(text.substr(start));
  return terms;
}

absl::StatusOr<std::string> Unescape(absl::string_view text) {
  std::string out;
  for (size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (c == ',' || c == '=') {
      return absl::InvalidArgumentError(absl::StrCat(
          "invalid field selector: unescaped character in value: ", static_cast<int>(c)));
    }
    if (c != '\\') {
      out.push_back(c);
      continue;
    }
    const char next = i + 1 < text.size() ? text[i + 1] : '\0';
    if (next != '\\' && next != ',' && next != '=') {
      const auto length = static_cast<size_t>(go::DecodeRune(text.substr(i + 1)).length);
      return absl::InvalidArgumentError(absl::StrCat(
          "invalid field selector: invalid escape sequence: ", text.substr(i, 1 + length)));
    }
    out.push_back(next);
    ++i;
  }
  return out;
}

}  // namespace

absl::StatusOr<FieldSelector> FieldSelector::Parse(absl::string_view text) {
  FieldSelector selector;
  std::vector<absl::string_view> parts = SplitTerms(text);
  std::sort(parts.begin(), parts.end());
  for (const absl::string_view part : parts) {
    if (part.empty()) continue;
    const size_t at = part.find('=');
    if (at == absl::string_view::npos) {
      return absl::InvalidArgumentError(
          absl::StrCat("invalid selector: '", text, "'; can't understand '", part, "'"));
    }
    Term term;
    term.equal = at == 0 || part[at - 1] != '!';
    absl::string_view value = part.substr(at + 1);
    if (term.equal) absl::ConsumePrefix(&value, "=");
    const absl::string_view field = part.substr(0, term.equal ? at : at - 1);
    ASSIGN_OR_RETURN(term.value, Unescape(value));
    term.is_name = field == "metadata.name";
    if (term.is_name || field == "metadata.namespace") {
      selector.terms_.push_back(std::move(term));
    } else if (!selector.unknown_field_.has_value()) {
      selector.unknown_field_ = std::string(field);
    }
  }
  return selector;
}

absl::Status FieldSelector::CheckFields() const {
  if (!unknown_field_.has_value()) return absl::OkStatus();
  return absl::InvalidArgumentError(
      absl::StrCat(go::Quote(*unknown_field_),
                   " is not a known field selector: only \"metadata.name\", "
                   "\"metadata.namespace\""));
}

std::optional<std::string> FieldSelector::ExactName() const {
  for (const Term& term : terms_) {
    if (term.is_name && term.equal) return term.value;
  }
  return std::nullopt;
}

bool FieldSelector::Matches(absl::string_view ns, absl::string_view name) const {
  return std::all_of(terms_.begin(), terms_.end(), [&](const Term& term) {
    return ((term.is_name ? name : ns) == term.value) == term.equal;
  });
}

}  // namespace flyball::apiservice
