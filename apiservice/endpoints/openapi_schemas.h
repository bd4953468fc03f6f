// The kinds that are served, as tables: name, fields, what each means.
#pragma once

#include <vector>

#include "absl/strings/string_view.h"

namespace flyball::apiservice {

enum class FieldType {
  kString,
  kDateTime,
  kInteger,
  kObject,
  kArray,
  kMap,
  kStringArray,
  kStringMap
};

struct SchemaField {
  absl::string_view name;
  FieldType type = FieldType::kString;
  absl::string_view of;  // the schema that an object, the items or the values are of
  absl::string_view description;
  bool required = false;
};

struct Schema {
  absl::string_view name;  // io.k8s. …
  absl::string_view description;
  absl::string_view group, version, kind;  // "" unless it is a kind of its own
  std::vector<SchemaField> fields;         // none: a plain string
};

const std::vector<Schema>& Schemas();

// One served path below /apis/GROUP/VERSION.
struct ServedPath {
  absl::string_view group, version;
  absl::string_view path;    // "/namespaces/{namespace}/pods"
  absl::string_view action;  // get or list
  absl::string_view kind;    // of the request's subject
  absl::string_view schema;  // of the answer
};

const std::vector<ServedPath>& ServedPaths();

}  // namespace flyball::apiservice
