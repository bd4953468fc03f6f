#include "rules/template/value.h"

namespace flyball::rules::tmpl {

const Value* Record::Find(absl::string_view name) const {
  for (const auto* entries : {&methods, &fields}) {
    for (const auto& [key, value] : *entries) {
      if (key == name) return &value;
    }
  }
  return nullptr;
}

bool Value::Truth() const {
  if (const auto* v = As<bool>()) return *v;
  if (const auto* v = As<int64_t>()) return *v != 0;
  if (const auto* v = As<uint8_t>()) return *v != 0;
  if (const auto* v = As<double>()) return *v != 0;
  if (const auto* v = As<std::complex<double>>()) return *v != 0.0;
  if (const auto* v = As<std::string>()) return !v->empty();
  if (const auto* v = As<List>()) return v->size > 0;
  if (const auto* v = As<const StringMap*>()) return !(*v)->empty();
  return As<const Record*>() != nullptr;
}

absl::string_view Value::TypeName() const {
  if (As<bool>() != nullptr) return "bool";
  if (As<int64_t>() != nullptr) return "int";
  if (As<uint8_t>() != nullptr) return "uint8";
  if (As<double>() != nullptr) return "float64";
  if (As<std::complex<double>>() != nullptr) return "complex128";
  if (As<std::string>() != nullptr) return "string";
  if (As<List>() != nullptr) return "[]string";
  if (As<const StringMap*>() != nullptr) return "map[string]string";
  if (const auto* v = As<const Record*>()) return (*v)->type_name;
  return "<nil>";
}

}  // namespace flyball::rules::tmpl
