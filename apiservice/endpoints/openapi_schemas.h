// Tables of the served kinds: names, fields, and their descriptions.
#pragma once

#include <string>
#include <vector>

#include "absl/strings/string_view.h"

namespace flyball::apiservice {

enum class FieldType { kString, kDateTime, kInteger, kObject, kArray, kMap };

struct SchemaField {
  absl::string_view name;
  absl::string_view description;
  bool required = false;
  FieldType type = FieldType::kString;
  std::string of = {};  // the schema of an object, of items or of values; "": strings
};

// A version of an API group, and the Go package that prefixes the names of its schemas.
struct SchemaPackage {
  absl::string_view prefix;
  absl::string_view group, version;
};

struct Schema {
  std::string name;  // io.k8s. …
  absl::string_view description;
  std::vector<SchemaField> fields;  // none: a plain string
  absl::string_view kind = {};      // "" unless it is a kind of its own
  SchemaPackage package = {};       // of its own kind; otherwise it belongs to every group
};

const std::vector<Schema>& Schemas();

// One served path below /apis/GROUP/VERSION.
struct ServedPath {
  SchemaPackage package;
  absl::string_view path;    // "/namespaces/{namespace}/pods"
  absl::string_view action;  // get or list
  absl::string_view kind;    // of the request's subject
  absl::string_view answer;  // the kind of the answer
};

const std::vector<ServedPath>& ServedPaths();

}  // namespace flyball::apiservice
