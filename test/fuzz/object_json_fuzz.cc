// links: kube
// What is taken out of a page or an event is an object's text that is taken out again unchanged.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "kube/metadata_json.h"
#include "kube/object_json.h"

using flyball::kube::ObjectEvent;

namespace {

void Require(bool holds) {
  if (!holds) std::abort();
}

void CheckObject(absl::string_view object) {
  Require(object.size() >= 2 && object.front() == '{' && object.back() == '}');
  flyball::kube::ObjectReader reader;
  std::string page = absl::StrCat("{\"items\":[", object, " ]}");
  std::vector<std::string> again;
  const auto end =
      reader.ReadPage(page, [&](absl::string_view text) { again.emplace_back(std::string(text)); });
  Require(end.ok() && again.size() == 1 && again[0] == object);
  flyball::kube::MetadataReader metadata;
  const auto read = metadata.Read(object);
  Require(read.ok() ? !(*read)->name.empty() : !read.status().message().empty());
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const absl::string_view bytes(reinterpret_cast<const char*>(data), size);
  flyball::kube::ObjectReader reader;
  const auto event = reader.ReadEvent(bytes);
  if (event.ok()) {
    CheckObject(event->object);
    Require(event->type != ObjectEvent::Type::kError || event->resource_version.empty());
  } else {
    Require(!event.status().message().empty());
  }
  std::string body(bytes);
  std::vector<std::string> objects;
  const auto page = reader.ReadPage(
      body, [&](absl::string_view text) { objects.emplace_back(std::string(text)); });
  Require(page.ok() || !page.status().message().empty());
  if (page.ok()) {
    for (const std::string& object : objects) CheckObject(object);
  }
  return 0;
}
