// Values of OpenTelemetry's attributes, and their texts in labels.
//
// Pure. Source: go.opentelemetry.io/collector/pdata 1.66.0 pcommon (AsString) and Go's
// encoding/json, whose texts these are.
#pragma once

#include <cstdint>
#include <string>
#include <variant>
#include <vector>

namespace flyball::formats {

struct OtlpValue;
struct OtlpBytes {
  std::string bytes;
};
using OtlpList = std::vector<OtlpValue>;
struct OtlpEntry;
using OtlpMap = std::vector<OtlpEntry>;

struct OtlpValue {
  std::variant<std::monostate, std::string, bool, int64_t, double, OtlpBytes, OtlpList, OtlpMap>
      value;
};

struct OtlpEntry {
  std::string key;
  OtlpValue value;
};

// A string unchanged, `true`, `12`, `1.5e-7`, `Infinity`, bytes in base64, `{"a":[1,null]}` with
// sorted keys; "" for no value, and for a list or map with a number that JSON does not have.
std::string OtlpValueText(const OtlpValue& value);

}  // namespace flyball::formats
