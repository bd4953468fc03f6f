// Lists and watch events as an API server sends them, read for names and labels only.
//
// Pure. Reads PartialObjectMetadata and full objects alike (only `metadata` is looked at); order of
// fields does not matter. One reader for each thread: it keeps its buffers.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "kube/object_directory.h"

namespace flyball::kube {

struct MetadataPage {
  std::vector<ObjectPtr> objects;
  std::string resource_version;
  std::string continue_token;  // "" on the last page
};

struct WatchEvent {
  enum class Type { kChanged, kDeleted, kBookmark, kError };
  Type type = Type::kError;
  ObjectPtr object;              // of kChanged and kDeleted
  std::string resource_version;  // after this event; of kError ""
  int error_code = 0;            // of kError: the Status object's
  std::string error_message;
};

class MetadataReader {
 public:
  MetadataReader();
  ~MetadataReader();

  // kInvalidArgument if it is no list of objects with names. `body` may grow: the parser wants
  // room behind it.
  absl::StatusOr<MetadataPage> ReadList(std::string& body);

  // One line of a watch. kInvalidArgument if it is no event.
  absl::StatusOr<WatchEvent> ReadEvent(absl::string_view line);

 private:
  struct Parser;
  std::unique_ptr<Parser> parser_;
};

}  // namespace flyball::kube
