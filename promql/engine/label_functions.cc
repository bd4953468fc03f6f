// label_replace and label_join of functions.h.
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "base/go/text.h"
#include "promql/engine/functions.h"
#include "promql/matcher.h"
#include "promql/text.h"

namespace flyball::promql {
namespace {

bool IsUtf8(absl::string_view text) {
  while (!text.empty()) {
    const go::Rune rune = go::DecodeRune(text);
    if (!rune.valid) return false;
    text.remove_prefix(static_cast<size_t>(rune.length));
  }
  return true;
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

absl::Status LabelReplace(absl::Span<const std::string> args, Dialect dialect, Vector* vector) {
  const std::string &target = args[0], &replacement = args[1], &source = args[2];
  const auto regex = CompileAnchored(args[3], dialect == Dialect::k3);
  if (!regex.ok()) {
    return absl::FailedPreconditionError(
        absl::StrCat("invalid regular expression in label_replace(): ", args[3]));
  }
  if (!IsLabelName(target, dialect)) return BadName("destination", "label_replace", target);
  for (Element& element : *vector) {
    const auto value = regex->Expand(element.labels.Get(source), replacement);
    if (value) element.labels = WithLabel(element.labels, target, *value);
  }
  return absl::OkStatus();
}

absl::Status LabelJoin(absl::Span<const std::string> args, Dialect dialect, Vector* vector) {
  const std::string &target = args[0], &separator = args[1];
  const absl::Span<const std::string> sources = args.subspan(2);
  for (const std::string& source : sources) {
    if (!IsLabelName(source, dialect)) return BadName("source", "label_join", source);
  }
  if (!IsLabelName(target, dialect)) return BadName("destination", "label_join", target);
  for (Element& element : *vector) {
    const std::string joined =
        absl::StrJoin(sources, separator, [&element](std::string* out, const std::string& source) {
          absl::StrAppend(out, element.labels.Get(source));
        });
    element.labels = WithLabel(element.labels, target, joined);
  }
  return absl::OkStatus();
}

}  // namespace flyball::promql
