// The values that templates compute with.
//
// Plain values; lists, maps and records are borrowed from the data of one execution and must
// outlive it. Source: the Go types that text/template meets in prometheus-adapter's data.
#pragma once

#include <complex>
#include <cstdint>
#include <map>
#include <string>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

#include "absl/strings/string_view.h"

namespace flyball::rules::tmpl {

class Value;

// A Go slice of strings: `capacity` counts from `begin` and bounds what `slice` may reach.
struct List {
  const std::string* begin = nullptr;
  size_t size = 0;
  size_t capacity = 0;
};

using StringMap = std::map<std::string, std::string>;

// A Go struct: its fields in order, and the results of its methods without parameters.
struct Record {
  std::string type_name;
  std::vector<std::pair<std::string, Value>> fields;
  std::vector<std::pair<std::string, Value>> methods;

  const Value* Find(absl::string_view name) const;
};

// Nil stands for Go's nil and for the value of a key that a map does not have.
struct Nil {};

class Value {
 public:
  using Data = std::variant<Nil, bool, int64_t, uint8_t, double, std::complex<double>, std::string,
                            List, const StringMap*, const Record*>;

  Value() = default;
  // NOLINTNEXTLINE(google-explicit-constructor): a value is its content.
  template <typename T>
  requires std::is_constructible_v<Data, T> Value(T data) : data_(std::move(data)) {}

  template <typename T>
  const T* As() const {
    return std::get_if<T>(&data_);
  }
  bool IsNil() const { return As<Nil>() != nullptr; }

  // Go's truth: neither the zero of its type nor empty.
  bool Truth() const;
  // Go's name of the type: "string", "[]string"; "<nil>" for Nil.
  absl::string_view TypeName() const;

 private:
  Data data_;
};

}  // namespace flyball::rules::tmpl
