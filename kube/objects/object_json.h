// Splits lists and watch events of an API server into the text of each object, and reads the name,
// namespace and labels of objects.
//
// Pure. The order of fields does not matter. One reader for each thread: it keeps its buffers.
#pragma once

#include <memory>
#include <string>

#include "absl/functional/function_ref.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "kube/objects/object_directory.h"

namespace flyball::kube {

class JsonParser;

struct PageEnd {
  std::string resource_version;
  std::string continue_token;  // "" on the last page
};

struct ObjectEvent {
  enum class Type { kAdded, kModified, kDeleted, kBookmark, kError };
  Type type = Type::kError;
  absl::string_view object;      // lives until the reader's next call
  std::string resource_version;  // after this event; "" for kError
  int error_code = 0;            // for kError: that of the Status object
  std::string error_message;
};

// Does not parse the objects: within them it checks only brackets and strings.
class ObjectReader {
 public:
  ObjectReader();
  ~ObjectReader();

  // Passes on each item, in order. kInvalidArgument if the body is no list of objects; items before
  // the fault have been passed on then. `body` may grow: the parser needs room after it.
  absl::StatusOr<PageEnd> ReadPage(std::string& body,
                                   absl::FunctionRef<void(absl::string_view)> on_object);

  // One line of a watch. kInvalidArgument if it is no event.
  absl::StatusOr<ObjectEvent> ReadEvent(absl::string_view line);

 private:
  const std::unique_ptr<JsonParser> parser_;
};

// Reads PartialObjectMetadata and whole objects alike: only `metadata` is looked at.
class MetadataReader {
 public:
  MetadataReader();
  ~MetadataReader();

  // kInvalidArgument if it is no object with a name.
  absl::StatusOr<ObjectPtr> Read(absl::string_view object_json);

 private:
  const std::unique_ptr<JsonParser> parser_;
};

}  // namespace flyball::kube
