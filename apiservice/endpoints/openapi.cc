#include "apiservice/endpoints/openapi.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/str_split.h"
#include "apiservice/endpoints/openapi_schemas.h"

namespace flyball::apiservice {
namespace {

using Json = nlohmann::ordered_json;

std::string Text(absl::string_view text) { return std::string(text); }

// The two formats differ in where schemas live and where a type is written.
struct Format {
  absl::string_view schema_prefix;
  bool v3 = false;
};

constexpr Format kV2 = {"#/definitions/", false};
constexpr Format kV3 = {"#/components/schemas/", true};

Json Reference(const Format& format, absl::string_view schema) {
  return {{"$ref", absl::StrCat(format.schema_prefix, schema)}};
}

Json PropertyOf(const Format& format, const SchemaField& field) {
  const Json inner = field.of.empty() ? Json{{"type", "string"}} : Reference(format, field.of);
  Json property;
  switch (field.type) {
    case FieldType::kString: property = inner; break;
    case FieldType::kDateTime: property = {{"type", "string"}, {"format", "date-time"}}; break;
    case FieldType::kInteger: property = {{"type", "integer"}, {"format", "int64"}}; break;
    case FieldType::kObject:
      // Siblings of $ref are not read in 3.0.
      property = format.v3 ? Json{{"allOf", Json::array({inner})}} : inner;
      break;
    case FieldType::kArray: property = {{"type", "array"}, {"items", inner}}; break;
    case FieldType::kMap: property = {{"type", "object"}, {"additionalProperties", inner}}; break;
  }
  property["description"] = Text(field.description);
  return property;
}

Json KindOf(const SchemaPackage& package, absl::string_view kind) {
  return {{"group", Text(package.group)}, {"kind", Text(kind)}, {"version", Text(package.version)}};
}

Json SchemaJson(const Format& format, const Schema& schema) {
  Json out = {{"description", Text(schema.description)}};
  if (schema.fields.empty()) {
    out["type"] = "string";
    return out;
  }
  out["type"] = "object";
  Json required = Json::array();
  for (const SchemaField& field : schema.fields) {
    if (field.required) required.push_back(Text(field.name));
    out["properties"][Text(field.name)] = PropertyOf(format, field);
  }
  if (!required.empty()) out["required"] = std::move(required);
  if (!schema.kind.empty()) {
    out["x-kubernetes-group-version-kind"] = Json::array({KindOf(schema.package, schema.kind)});
  }
  return out;
}

bool Serves(const std::vector<GroupVersionName>& served, const SchemaPackage& package) {
  return std::any_of(served.begin(), served.end(), [&](const GroupVersionName& one) {
    return one.group == package.group && one.version == package.version;
  });
}

Json SchemasJson(const Format& format, const std::vector<GroupVersionName>& served) {
  Json out = Json::object();
  for (const Schema& schema : Schemas()) {
    if (schema.kind.empty() || Serves(served, schema.package)) {
      out[schema.name] = SchemaJson(format, schema);
    }
  }
  return out;
}

// Of the names in braces.
Json ParametersJson(const Format& format, absl::string_view path) {
  Json out = Json::array();
  for (const absl::string_view segment : absl::StrSplit(path, '/')) {
    if (segment.empty() || segment.front() != '{') continue;
    const std::string name(segment.substr(1, segment.size() - 2));
    Json parameter = {{"name", name}, {"in", "path"}, {"required", true}};
    if (format.v3) {
      parameter["schema"] = {{"type", "string"}, {"uniqueItems", true}};
    } else {
      parameter["type"] = "string";
      parameter["uniqueItems"] = true;
    }
    out.push_back(std::move(parameter));
  }
  return out;
}

Json OperationJson(const Format& format, const ServedPath& served) {
  const std::string scope = absl::StrReplaceAll(served.path, {{"/", "_"}, {"{", ""}, {"}", ""}});
  const std::string tag = absl::StrCat(served.package.group, "_", served.package.version);
  Json operation = {{"description", absl::StrCat(served.action, " objects of kind ", served.kind)},
                    {"operationId", absl::StrCat(served.action, "_", tag, scope)},
                    {"tags", Json::array({tag})}};
  const Json schema = Reference(format, absl::StrCat(served.package.prefix, served.answer));
  if (format.v3) {
    operation["responses"]["200"] = {{"description", "OK"},
                                     {"content", {{"application/json", {{"schema", schema}}}}}};
  } else {
    operation["produces"] = Json::array(
        {"application/json", "application/yaml", "application/vnd.kubernetes.protobuf"});
    operation["schemes"] = Json::array({"https"});
    operation["responses"]["200"] = {{"description", "OK"}, {"schema", schema}};
  }
  operation["x-kubernetes-action"] = Text(served.action);
  operation["x-kubernetes-group-version-kind"] = KindOf(served.package, served.kind);
  return operation;
}

Json PathsJson(const Format& format, const std::vector<GroupVersionName>& served) {
  Json out = Json::object();
  for (const ServedPath& path : ServedPaths()) {
    if (!Serves(served, path.package)) continue;
    Json item = {{"get", OperationJson(format, path)}};
    const Json parameters = ParametersJson(format, path.path);
    if (!parameters.empty()) item["parameters"] = parameters;
    out[absl::StrCat("/apis/", path.package.group, "/", path.package.version, path.path)] = item;
  }
  return out;
}

Json InfoJson() { return {{"title", "prometheus-metrics-adapter"}, {"version", "1.0.0"}}; }

}  // namespace

std::string OpenApiV2Json(const std::vector<GroupVersionName>& served) {
  const Json document = {{"swagger", "2.0"},
                         {"info", InfoJson()},
                         {"paths", PathsJson(kV2, served)},
                         {"definitions", SchemasJson(kV2, served)}};
  return document.dump();
}

std::string OpenApiV3Json(const GroupVersionName& served) {
  const std::vector<GroupVersionName> one = {served};
  const Json document = {{"openapi", "3.0.0"},
                         {"info", InfoJson()},
                         {"paths", PathsJson(kV3, one)},
                         {"components", {{"schemas", SchemasJson(kV3, one)}}}};
  return document.dump();
}

}  // namespace flyball::apiservice
