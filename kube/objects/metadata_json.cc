#include "kube/objects/metadata_json.h"

#include <string>
#include <string_view>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "kube/objects/json_fields.h"
#include "simdjson.h"

namespace flyball::kube {
namespace {

namespace ondemand = simdjson::ondemand;

simdjson::error_code ReadMetadata(ondemand::value value, ObjectMeta* meta) {
  return ForEachField(value, [meta](std::string_view key, ondemand::value inner) {
    if (key == "name") return ReadText(inner, &meta->name);
    if (key == "namespace") return ReadText(inner, &meta->ns);
    if (key == "labels") return ReadTextMap(inner, &meta->labels);
    return simdjson::SUCCESS;
  });
}

}  // namespace

MetadataReader::MetadataReader() : parser_(std::make_unique<JsonParser>()) {}
MetadataReader::~MetadataReader() = default;

absl::StatusOr<ObjectPtr> MetadataReader::Read(absl::string_view object_json) {
  ObjectMeta meta;
  auto error = parser_->Read(object_json, [&meta](ondemand::value root) {
    return ForEachRootField(root, [&meta](std::string_view key, ondemand::value value) {
      return key == "metadata" ? ReadMetadata(value, &meta) : simdjson::SUCCESS;
    });
  });
  if (!error && meta.name.empty()) error = simdjson::NO_SUCH_FIELD;
  if (error) {
    return absl::InvalidArgumentError(
        absl::StrCat("this is no object with a name: ", simdjson::error_message(error)));
  }
  return std::make_shared<const ObjectMeta>(std::move(meta));
}

}  // namespace flyball::kube
