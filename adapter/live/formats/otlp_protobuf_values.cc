#include <string>

#include "adapter/live/formats/otlp_protobuf.h"
#include "adapter/live/formats/wire_reader.h"

namespace flyball::formats {
namespace {

// Field numbers.
namespace any_value {
constexpr int kString = 1, kBool = 2, kInt = 3, kDouble = 4, kList = 5, kMap = 6, kBytes = 7;
}

bool ReadAnyValue(absl::string_view message, Place place, OtlpValue& value);

bool ReadKeyValue(absl::string_view message, Place place, absl::string_view& key,
                  OtlpValue& value) {
  return ReadFields(message, [&](WireReader& reader, int field) {
    absl::string_view part;
    if (field == 1) return reader.ReadBytes(&key);
    if (field == 2) return reader.ReadBytes(&part) && ReadAnyValue(part, place, value);
    return reader.Skip();
  });
}

bool ReadList(absl::string_view message, Place place, OtlpList& list) {
  return ReadFields(message, [&](WireReader& reader, int field) {
    absl::string_view part;
    if (field != 1 || !place.TakeItem()) return reader.Skip();
    return reader.ReadBytes(&part) && ReadAnyValue(part, place, list.emplace_back());
  });
}

bool ReadMap(absl::string_view message, Place place, OtlpMap& map) {
  return ReadFields(message, [&](WireReader& reader, int field) {
    absl::string_view part, key;
    if (field != 1 || !place.TakeItem()) return reader.Skip();
    OtlpEntry& entry = map.emplace_back();
    if (!reader.ReadBytes(&part) || !ReadKeyValue(part, place, key, entry.value)) return false;
    if (place.TakeText(key)) entry.key = std::string(key);
    return true;
  });
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
  return ReadFields(message, [&](WireReader& reader, int field) {
    absl::string_view part;
    if (field == any_value::kBool || field == any_value::kInt || field == any_value::kDouble) {
      return ReadNumber(reader, field, value);
    }
    if (field < any_value::kString || field > any_value::kBytes) return reader.Skip();
    if (!reader.ReadBytes(&part)) return false;
    if (field == any_value::kList) {
      return ReadList(part, place.Within(), value.value.emplace<OtlpList>());
    }
    if (field == any_value::kMap) {
      return ReadMap(part, place.Within(), value.value.emplace<OtlpMap>());
    }
    if (!place.TakeText(part)) return true;
    if (field == any_value::kString) value.value = std::string(part);
    if (field == any_value::kBytes) value.value = OtlpBytes{std::string(part)};
    return true;
  });
}

}  // namespace

bool ReadAttribute(WireReader& reader, OtlpAttributes& attributes) {
  if (attributes.size() > kMaxAttributes) return reader.Skip();
  absl::string_view part, key;
  OtlpValue value;
  ValueSize size;
  if (!reader.ReadBytes(&part) || !ReadKeyValue(part, {1, size}, key, value)) return false;
  SetAttribute(key, value, size, attributes.emplace_back());
  return true;
}

}  // namespace flyball::formats
