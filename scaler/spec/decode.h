// The shape of an API object: its fields and their types. Conform makes a document fit a shape as
// Go's decoders do.
//
// Pure. A conformed Node holds only what the shape names, under the names of the shape, without
// nulls and without repeated keys, each value of its stated type; so reading it cannot fail.
//
// Source: sigs.k8s.io/json (fields by exact name) and, for the JSON that v1 annotations carry,
// encoding/json (names without regard to case): unknown fields are ignored, null leaves a field
// alone or empties it, repeated keys merge, integers take no fraction and no exponent, a quantity
// is read from the bytes between the quotes.
#pragma once

#include <cstdint>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "scaler/spec/document.h"

namespace flyball::scaler {

struct Shape;

struct Field {
  absl::string_view name;
  const Shape* shape;
  bool nullable = false;  // a pointer in Go: null empties it; otherwise null leaves it alone
};

struct Shape {
  enum class Type : uint8_t {
    kString,
    kBool,
    kInt32,
    kInt64,
    kQuantity,   // becomes a string node, trimmed
    kTime,       // RFC 3339
    kAny,        // not looked into
    kStringMap,  // string to string
    kList,       // of `item`
    kStruct      // of `fields`
  };

  Type type = Type::kStruct;
  std::vector<Field> fields = {};
  const Shape* item = nullptr;
};

inline const Shape kStringShape{Shape::Type::kString};
inline const Shape kBoolShape{Shape::Type::kBool};
inline const Shape kInt32Shape{Shape::Type::kInt32};
inline const Shape kInt64Shape{Shape::Type::kInt64};
inline const Shape kQuantityShape{Shape::Type::kQuantity};
inline const Shape kTimeShape{Shape::Type::kTime};
inline const Shape kAnyShape{Shape::Type::kAny};
inline const Shape kStringMapShape{Shape::Type::kStringMap};

enum class KeyMatch { kExact, kIgnoreCase };

// kInvalidArgument "PATH: expected …, got …", with "line N: " before it where known. `path` is
// what the message calls the root: "" for a whole object.
absl::StatusOr<Node> Conform(const Node& from, const Shape& shape, KeyMatch match,
                             absl::string_view path = "");

// RFC 3339 as Go's time.Parse takes it.
bool IsRfc3339(absl::string_view text);

}  // namespace flyball::scaler
