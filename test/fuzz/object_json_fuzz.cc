// links: kube_watch
// What is taken out of a page or an event is an object's text that is taken out again unchanged; a
// page that comes in pieces says the same as the whole, if it is JSON: what is none, within an item
// that is not looked at, either of them may refuse.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "kube/objects/list_splitter.h"
#include "kube/objects/object_json.h"

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

void CheckPieces(absl::string_view text, std::vector<std::string> objects,
                 const flyball::kube::PageEnd& expected) {
  std::vector<std::string> found;
  const auto take = [&found](absl::string_view object) { found.emplace_back(object); };
  flyball::kube::ListSplitter splitter(text.size() + 1);
  for (size_t at = 0, size = 1; at < text.size(); at += size, size = size % 7 + 1) {
    Require(splitter.Feed(text.substr(at, size), take).ok());
  }
  std::string rest = splitter.TakeRest();
  flyball::kube::ObjectReader reader;
  const auto end = reader.ReadPage(rest, take);
  Require(end.ok() && end->resource_version == expected.resource_version &&
          end->continue_token == expected.continue_token);
  std::sort(found.begin(), found.end());  // of two fields "items" one may be written with escapes
  std::sort(objects.begin(), objects.end());
  Require(found == objects);
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
    // For that library a NUL ends the text.
    if (!absl::StrContains(bytes, '\0') && nlohmann::json::accept(bytes)) {
      CheckPieces(bytes, objects, *page);
    }
  }
  return 0;
}
