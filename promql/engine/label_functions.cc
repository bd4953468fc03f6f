// label_replace and label_join of functions.h.
#include "absl/strings/str_cat.h"
#include "base/go/text.h"
#include "base/status_macros.h"
#include "promql/engine/functions.h"
#include "promql/text.h"

namespace flyball::promql {
namespace {

absl::Status BadName(absl::string_view which, absl::string_view function, absl::string_view name) {
  return absl::FailedPreconditionError(
      absl::StrCat("invalid ", which, " label name in ", function, "(): ", name));
}

absl::Status TooLong(absl::string_view function, absl::string_view label) {
  return absl::FailedPreconditionError(absl::StrCat("label ", Quote(label), " made by ", function,
                                                    "() would be longer than ", kMaxLabelValueBytes,
                                                    " bytes"));
}

absl::Status SetLabel(absl::string_view name, absl::string_view value, Element& element,
                      QueryMemory& memory, size_t* grown_by) {
  const size_t before = element.labels.encoded().size();
  element.labels = WithLabel(element.labels, name, value);
  const size_t after = element.labels.encoded().size();
  if (after > before) *grown_by += after - before;
  return memory.Use(element.labels.bytes_alone());
}

}  // namespace

bool IsLabelName(absl::string_view name, Dialect dialect) {
  if (dialect == Dialect::k2) return IsIdentifier(name, false);
  return !name.empty() && go::IsUtf8(name);
}

absl::Status LabelReplace(absl::Span<const std::string> args, const go::Regexp& regex,
                          Dialect dialect, WorkMeter& work, QueryMemory& memory, Vector* vector,
                          size_t* grown_by) {
  const std::string &target = args[0], &replacement = args[1], &source = args[2];
  if (!IsLabelName(target, dialect)) return BadName("destination", "label_replace", target);
  for (Element& element : *vector) {
    const absl::string_view text = element.labels.Get(source);
    // A group in the replacement may have a name, which is compared with those of all groups.
    const size_t to_expand = replacement.size() * (1 + regex.program_size() / 64);
    const size_t to_match = (1 + text.size() / 64) * regex.program_size() / 16;
    RETURN_IF_ERROR(work.Count(1 + to_match + to_expand));
    const auto value = regex.Expand(text, replacement, kMaxLabelValueBytes);
    if (!value) continue;
    if (value->size() > kMaxLabelValueBytes) return TooLong("label_replace", target);
    RETURN_IF_ERROR(SetLabel(target, *value, element, memory, grown_by));
  }
  return absl::OkStatus();
}

absl::Status LabelJoin(absl::Span<const std::string> args, Dialect dialect, WorkMeter& work,
                       QueryMemory& memory, Vector* vector, size_t* grown_by) {
  const std::string &target = args[0], &separator = args[1];
  const absl::Span<const std::string> sources = args.subspan(2);
  for (const std::string& source : sources) {
    if (!IsLabelName(source, dialect)) return BadName("source", "label_join", source);
  }
  if (!IsLabelName(target, dialect)) return BadName("destination", "label_join", target);
  std::string joined;
  for (Element& element : *vector) {
    RETURN_IF_ERROR(work.Count(sources.size() + StepsOfNames(element.labels, sources.size())));
    joined.clear();
    for (const std::string& source : sources) {
      absl::StrAppend(&joined, &source == &sources.front() ? "" : separator,
                      element.labels.Get(source));
      if (joined.size() > kMaxLabelValueBytes) return TooLong("label_join", target);
    }
    RETURN_IF_ERROR(SetLabel(target, joined, element, memory, grown_by));
  }
  return absl::OkStatus();
}

}  // namespace flyball::promql
