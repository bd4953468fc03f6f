// Any bytes as a query template: parsing and running end within their limits, give the same each
// time, and a template that is said to keep objects apart fills in the matchers.
// links: rules
#include <cstdint>
#include <cstdlib>
#include <string>

#include "rules/query_shape.h"
#include "rules/query_template.h"
#include "rules/template/evaluator.h"

namespace {

using namespace flyball::rules;

void Expect(bool condition) {
  if (!condition) std::abort();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size > 1 << 12) return 0;
  const std::string text(reinterpret_cast<const char*>(data), size);
  const auto query = QueryTemplate::ParseQuery(text);
  const bool plain = text.find("<<") == std::string::npos;
  Expect(query.ok() || !plain);
  if (!query.ok()) return 0;
  const QueryData filled = {"series_name", "pod=\"x\"", {{"pod", "x"}}, {"pod", "container"}};
  const auto out = query->Execute(filled);
  const auto again = query->Execute(filled);
  Expect(out.status() == again.status() && out.value_or("") == again.value_or(""));
  Expect(!out.ok() || out->size() <= tmpl::kMaxOutput);
  if (plain) Expect(out.value_or("") == text);
  if (ShapeOf(*query, "namespace").separates_objects) {
    Expect(out.ok() && out->find("pod=\"x\"") != std::string::npos);
  }
  return 0;
}
