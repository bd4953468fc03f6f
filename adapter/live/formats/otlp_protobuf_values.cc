#include <string>
#include <utility>

#include "adapter/live/formats/otlp_protobuf.h"
#include "adapter/live/formats/wire_reader.h"

namespace flyball::formats {
namespace {

// Field numbers.
namespace any_value {
constexpr int kString = 1, kBool = 2, kInt = 3, kDouble = 4, kList = 5, kBytes = 7;  // 6: a map
}

// Where in an attribute a value is.
struct Place {
  int nesting;
  size_t& items;  // of lists and maps so far; of what is beyond the limit nothing is read

  Place Within() const { return {nesting + 1, items}; }
  bool TakeItem() const { return ++items <= kMaxAttributeItems; }
};

bool ReadAnyValue(absl::string_view message, Place place, OtlpValue& value);

bool ReadKeyValue(absl::string_view message, Place place, std::string& key, OtlpValue& value) {
  WireReader reader(message);
  while (const int field = reader.Next()) {
    absl::string_view part;
    if (field == 1) {
      if (!reader.ReadText(&key)) return false;
    } else if (field == 2) {
      if (!reader.ReadBytes(&part) || !ReadAnyValue(part, place, value)) return false;
    } else if (!reader.Skip()) {
      return false;
    }
  }
  return reader.AtEnd();
}

bool ReadList(absl::string_view message, Place place, OtlpList& list) {
  WireReader reader(message);
  while (const int field = reader.Next()) {
    absl::string_view part;
    if (field != 1 || !place.TakeItem()) {
      if (!reader.Skip()) return false;
    } else if (!reader.ReadBytes(&part) || !ReadAnyValue(part, place, list.emplace_back())) {
      return false;
    }
  }
  return reader.AtEnd();
}

bool ReadMap(absl::string_view message, Place place, OtlpMap& map) {
  WireReader reader(message);
  while (const int field = reader.Next()) {
    absl::string_view part;
    if (field != 1 || !place.TakeItem()) {
      if (!reader.Skip()) return false;
      continue;
    }
    auto& [key, value] = map.emplace_back();
    if (!reader.ReadBytes(&part) || !ReadKeyValue(part, place, key, value)) return false;
  }
  return reader.AtEnd();
}

bool ReadNumber(WireReader& reader, int field, OtlpValue& value) {
  uint64_t number = 0;
  double real = 0;
  if (field == any_value::kDouble) {
    if (!reader.ReadDouble(&real)) return false;
    value.value = real;
    return true;
  }
  if (!reader.ReadVarint(&number)) return false;
  if (field == any_value::kBool) {
    value.value = number != 0;
  } else {
    value.value = static_cast<int64_t>(number);
  }
  return true;
}

bool ReadAnyValue(absl::string_view message, Place place, OtlpValue& value) {
  if (place.nesting > kMaxAttributeNesting) return false;
  WireReader reader(message);
  while (const int field = reader.Next()) {
    absl::string_view part;
    if (field == any_value::kBool || field == any_value::kInt || field == any_value::kDouble) {
      if (!ReadNumber(reader, field, value)) return false;
    } else if (field < any_value::kString || field > any_value::kBytes) {
      if (!reader.Skip()) return false;
    } else if (!reader.ReadBytes(&part)) {
      return false;
    } else if (field == any_value::kString) {
      value.value = std::string(part);
    } else if (field == any_value::kBytes) {
      value.value = OtlpBytes{std::string(part)};
    } else if (field == any_value::kList) {
      if (!ReadList(part, place.Within(), value.value.emplace<OtlpList>())) return false;
    } else if (!ReadMap(part, place.Within(), value.value.emplace<OtlpMap>())) {
      return false;
    }
  }
  return reader.AtEnd();
}

}  // namespace

bool ReadAttribute(WireReader& reader, OtlpAttributes& attributes) {
  if (attributes.size() > kMaxAttributes) return reader.Skip();
  absl::string_view part;
  OtlpAttribute attribute;
  OtlpValue value;
  size_t items = 0;
  if (!reader.ReadBytes(&part) || !ReadKeyValue(part, {1, items}, attribute.key, value)) {
    return false;
  }
  SetAttributeText(value, items, attribute);
  attributes.push_back(std::move(attribute));
  return true;
}

}  // namespace flyball::formats
