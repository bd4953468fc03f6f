#include "scaler/views/otlp_record.h"

#include <cstdint>
#include <nlohmann/json.hpp>
#include <utility>

#include "absl/strings/str_cat.h"

namespace flyball::scaler {
namespace {

using Json = nlohmann::ordered_json;

constexpr int kInfo = 9;  // a severity number
constexpr int kWarn = 13;

Json Attribute(const std::string& key, Json value) {
  return {{"key", key}, {"value", std::move(value)}};
}

Json ValueOf(const Json& field) {
  if (field.is_boolean()) return {{"boolValue", field}};
  if (field.is_number_integer()) return {{"intValue", absl::StrCat(field.get<int64_t>())}};
  if (field.is_number()) return {{"doubleValue", field}};
  return {{"stringValue", field.is_string() ? field : Json(field.dump())}};
}

Json Record(const TimedLine& timed) {
  const Json line = Json::parse(timed.line, nullptr, /*allow_exceptions=*/false);
  Json attributes = Json::array();
  bool failed = false;
  if (line.is_object()) {
    for (const auto& [key, field] : line.items()) {
      if (key != "time") attributes.push_back(Attribute("flyball." + key, ValueOf(field)));
    }
    failed = line.contains("error");
  }
  return {{"timeUnixNano", absl::StrCat(absl::ToUnixNanos(timed.time))},
          {"severityNumber", failed ? kWarn : kInfo},
          {"severityText", failed ? "WARN" : "INFO"},
          {"body", {{"stringValue", "decision"}}},
          {"attributes", std::move(attributes)}};
}

}  // namespace

std::string OtlpLogs(absl::Span<const TimedLine> lines) {
  Json records = Json::array();
  for (const TimedLine& line : lines) records.push_back(Record(line));
  const Json resource = {
      {"attributes", Json::array({Attribute("service.name", {{"stringValue", "flyball"}})})}};
  const Json scope = {{"scope", {{"name", "flyball.decisions"}}},
                      {"logRecords", std::move(records)}};
  const Json all = {{"resourceLogs",
                     Json::array({{{"resource", resource}, {"scopeLogs", Json::array({scope})}}})}};
  return all.dump(-1, ' ', false, Json::error_handler_t::replace);
}

}  // namespace flyball::scaler
