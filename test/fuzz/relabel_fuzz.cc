// Any rule, told as lines, on any labels: it is refused, or it does the same each time and leaves
// labels that are sorted, named and not empty.
// links: live_relabel
#include <cstdint>
#include <cstdlib>
#include <string>
#include <vector>

#include "absl/strings/str_split.h"
#include "adapter/live/relabel/relabel.h"

namespace {

using namespace flyball::relabel;

void Expect(bool condition) {
  if (!condition) std::abort();
}

std::string LineOf(const std::vector<std::string>& lines, size_t index) {
  return index < lines.size() ? lines[index] : "";
}

}  // namespace

// Lines: action, separator, regex, target label, replacement, source labels; then name and value in
// turns.
extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size > 1 << 12) return 0;  // RE2's work on larger patterns is its own
  const std::string text(reinterpret_cast<const char*>(data), size);
  const std::vector<std::string> lines = absl::StrSplit(text, '\n');
  RuleText rule_text;
  rule_text.action = LineOf(lines, 0);
  rule_text.separator = LineOf(lines, 1);
  rule_text.regex = LineOf(lines, 2);
  rule_text.target_label = LineOf(lines, 3);
  rule_text.replacement = LineOf(lines, 4);
  rule_text.source_labels = absl::StrSplit(LineOf(lines, 5), ',', absl::SkipEmpty());
  rule_text.modulus = size % 17;
  rule_text.legacy_names = size % 2 == 0;
  const auto rule = Rule::Compile(rule_text);
  if (!rule.ok()) {
    Expect(!rule.status().message().empty());
    return 0;
  }
  LabelEditor base;
  for (size_t i = 6; i + 1 < lines.size(); i += 2) base.Set(lines[i], lines[i + 1]);
  LabelEditor labels(base.Build()), again(base.Build());
  const bool keep = rule->Apply(labels);
  Expect(rule->Apply(again) == keep);
  const auto built = labels.Build();
  Expect(built == again.Build());
  for (size_t i = 0; i < built.size(); ++i) {
    Expect(!built[i].second.empty());
    Expect(i == 0 || built[i - 1].first < built[i].first);
  }
  return 0;
}
