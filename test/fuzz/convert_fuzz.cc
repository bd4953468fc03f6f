// links: convert
//
// Objects of other systems from any bytes: what comes out is YAML whose documents are objects of
// the kinds that a conversion makes, and a text of the input never becomes one of them.
#include <cstdint>
#include <cstdlib>
#include <set>
#include <string>

#include "convert/convert.h"
#include "scaler/spec/document.h"

namespace {

void Require(bool holds) {
  if (!holds) std::abort();
}

void Check(const flyball::convert::Conversion& got) {
  if (!got.errors.empty()) return;
  const auto documents = flyball::scaler::ParseDocuments(got.yaml, {});
  Require(documents.ok());
  static const std::set<std::string> kinds = {"Autoscaler", "Deployment", "Service"};
  for (const flyball::scaler::Node& document : *documents) {
    Require(document.is_map() && kinds.contains(std::string(document.FindText("kind"))));
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const absl::string_view text(reinterpret_cast<const char*>(data), size);
  Check(flyball::convert::ConvertKnativeServices("f", text, {}));
  Check(flyball::convert::ConvertHttpObjects("f", text, {}));
  Check(flyball::convert::ConvertScaledObjects("f", text, {}));
  return 0;
}
