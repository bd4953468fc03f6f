// label_replace and label_join of instant_functions.h.
#include <re2/re2.h>

#include <memory>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "adapter/live/matcher.h"
#include "adapter/live/promql/instant_functions.h"
#include "adapter/live/promql/text.h"
#include "adapter/live/promql/utf8.h"

namespace flyball::adapter::promql {
namespace {

re2::StringPiece Piece(absl::string_view text) { return {text.data(), text.size()}; }

// One `$name` or `${name}` at the front of `rest`, which starts after the `$`. False: not one.
bool TakeReference(absl::string_view* rest, absl::string_view* name) {
  absl::string_view text = *rest;
  const bool braced = !text.empty() && text[0] == '{';
  if (braced) text.remove_prefix(1);
  size_t length = 0;
  while (length < text.size() && (absl::ascii_isalnum(text[length]) || text[length] == '_')) {
    ++length;
  }
  if (length == 0 || (braced && (length == text.size() || text[length] != '}'))) return false;
  *name = text.substr(0, length);
  *rest = text.substr(length + (braced ? 1 : 0));
  return true;
}

// The group's text; "" for a group that is not there or did not take part.
absl::string_view GroupText(const re2::RE2& regex, const std::vector<re2::StringPiece>& groups,
                            absl::string_view name) {
  size_t index = groups.size();
  int number = 0;
  // Go takes `01` for a name, not a number.
  const bool numeric = absl::ascii_isdigit(name[0]) && (name[0] != '0' || name.size() == 1);
  if (numeric && absl::SimpleAtoi(name, &number)) {
    index = static_cast<size_t>(number);
  } else {
    const auto named = regex.NamedCapturingGroups().find(std::string(name));
    if (named != regex.NamedCapturingGroups().end()) index = static_cast<size_t>(named->second);
  }
  if (index >= groups.size() || groups[index].data() == nullptr) return "";
  return {groups[index].data(), groups[index].size()};
}

// Go's Regexp.Expand: `$1x` is the group named "1x", `$$` a dollar, a lone `$` stays.
std::string Expand(absl::string_view replacement, const re2::RE2& regex,
                   const std::vector<re2::StringPiece>& groups) {
  std::string out;
  while (!replacement.empty()) {
    const size_t dollar = replacement.find('$');
    absl::StrAppend(&out, replacement.substr(0, dollar));
    if (dollar == absl::string_view::npos) break;
    replacement.remove_prefix(dollar + 1);
    absl::string_view name;
    if (!replacement.empty() && replacement[0] == '$') {
      out.push_back('$');
      replacement.remove_prefix(1);
    } else if (TakeReference(&replacement, &name)) {
      absl::StrAppend(&out, GroupText(regex, groups, name));
    } else {
      out.push_back('$');
    }
  }
  return out;
}

absl::Status BadName(absl::string_view which, absl::string_view function, absl::string_view name) {
  return absl::FailedPreconditionError(
      absl::StrCat("invalid ", which, " label name in ", function, "(): ", name));
}

}  // namespace

bool IsLabelName(absl::string_view name, Dialect dialect) {
  if (dialect == Dialect::k2) return IsIdentifier(name, false);
  return !name.empty() && IsUtf8(name);
}

absl::Status LabelReplace(const LabelReplaceArgs& args, Dialect dialect, Vector* vector) {
  const auto regex = CompileAnchored(args.pattern, dialect == Dialect::k3);
  if (!regex.ok()) {
    return absl::FailedPreconditionError(
        absl::StrCat("invalid regular expression in label_replace(): ", args.pattern));
  }
  if (!IsLabelName(args.target, dialect)) {
    return BadName("destination", "label_replace", args.target);
  }
  const re2::RE2& re = **regex;
  std::vector<re2::StringPiece> groups(static_cast<size_t>(re.NumberOfCapturingGroups()) + 1);
  for (Element& element : *vector) {
    const std::string source(GetLabel(element.labels, args.source));
    const re2::StringPiece text = Piece(source);
    if (!re.Match(text, 0, text.size(), re2::RE2::ANCHOR_BOTH, groups.data(),
                  static_cast<int>(groups.size()))) {
      continue;
    }
    SetLabel(&element.labels, args.target, Expand(args.replacement, re, groups));
  }
  return absl::OkStatus();
}

absl::Status LabelJoin(const LabelJoinArgs& args, Dialect dialect, Vector* vector) {
  for (const std::string& source : args.sources) {
    if (!IsLabelName(source, dialect)) return BadName("source", "label_join", source);
  }
  if (!IsLabelName(args.target, dialect)) {
    return BadName("destination", "label_join", args.target);
  }
  for (Element& element : *vector) {
    const std::string joined = absl::StrJoin(
        args.sources, args.separator, [&element](std::string* out, const std::string& source) {
          absl::StrAppend(out, GetLabel(element.labels, source));
        });
    SetLabel(&element.labels, args.target, joined);
  }
  return absl::OkStatus();
}

}  // namespace flyball::adapter::promql
