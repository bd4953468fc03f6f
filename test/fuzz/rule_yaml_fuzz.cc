// Any bytes as a rule file: either rules or an error, every finding within the file; rules answer
// whatever they are asked, the same each time.
// links: rules
#include <cstdint>
#include <cstdlib>
#include <string>

#include "rules/compiled_rules.h"
#include "rules/test_resources.h"

namespace {

using namespace flyball::rules;
using flyball::kube::RestMapper;

void Expect(bool condition) {
  if (!condition) std::abort();
}

void Ask(const CompiledRule& rule, const RestMapper& mapper) {
  const ObjectQueryArgs args = {"a_total", {"", "pods"}, "ns", {"p.1", "p2"}, {}};
  const auto query = rule.ObjectQuery(args, mapper);
  const auto again = rule.ObjectQuery(args, mapper);
  Expect(query.status() == again.status() && query.value_or("") == again.value_or(""));
  Expect(!query.ok() || !query->empty());
  // What keeps objects apart holds the matchers of both.
  if (query.ok() && rule.shape.separates_objects) {
    Expect(query->find(R"(=~"p2|p\\.1")") != std::string::npos ||
           query->find(R"(=~"p\\.1|p2")") != std::string::npos);
  }
  if (rule.naming.Accepts("a_total")) rule.naming.ApiName("a_total");
  rule.mapping.ResourceOfLabel("pod", mapper);
  const auto external = rule.ExternalQuery("a_total", "ns", {}, mapper);
  Expect(!external.ok() || !external->empty());
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size > 1 << 14) return 0;  // larger files hold nothing new, only take longer
  const std::string text(reinterpret_cast<const char*>(data), size);
  const CompileResult result = CompileRules(text, "f");
  bool error = false;
  for (const Finding& finding : result.findings) {
    error |= finding.severity == Finding::Severity::kError;
    Expect(!finding.message.empty() && finding.line >= 0 && finding.column >= 0);
    Expect(static_cast<size_t>(finding.line) <= size + 1);
  }
  Expect(error == (result.rules == nullptr));
  if (result.rules == nullptr) return 0;
  const RestMapper& mapper = TestResources();
  for (const auto& rule : result.rules->custom) Ask(*rule, mapper);
  for (const auto& rule : result.rules->external) Ask(*rule, mapper);
  CheckResources(*result.rules, mapper);
  return 0;
}
