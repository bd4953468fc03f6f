// An API object read for its name, namespace and labels only.
//
// Pure. Reads PartialObjectMetadata and full objects alike (only `metadata` is looked at); order of
// fields does not matter. One reader for each thread: it keeps its buffers.
#pragma once

#include <memory>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "kube/objects/object_directory.h"

namespace flyball::kube {

class JsonParser;

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
