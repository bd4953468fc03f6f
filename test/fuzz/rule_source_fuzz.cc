// Any bytes as a file with rules in some form: there is always an answer, every finding lies within
// the file, and rules come exactly without errors.
// links: rules
#include <cstdint>
#include <cstdlib>
#include <string>

#include "rules/rule_source.h"

namespace {

using namespace flyball::rules;

void Expect(bool condition) {
  if (!condition) std::abort();
}

void Look(const std::string& text, const std::vector<std::string>& path) {
  const std::vector<FoundRules> all = FindRules(text, "f", path);
  Expect(!all.empty() && all.size() <= kMaxRuleSources + 1);
  for (const FoundRules& found : all) {
    bool error = false;
    for (const Finding& finding : found.compiled.findings) {
      error |= finding.severity == Finding::Severity::kError;
      Expect(!finding.message.empty() && finding.line >= 0 && finding.column >= 0);
      Expect(static_cast<size_t>(finding.line) <= text.size() + 2);
    }
    Expect(error == (found.compiled.rules == nullptr));
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size > 1 << 14) return 0;  // larger files hold nothing new, only take longer
  const std::string text(reinterpret_cast<const char*>(data), size);
  Look(text, {});
  Look(text, {"flyball"});
  return 0;
}
