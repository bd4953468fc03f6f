#include "kube/metadata_json.h"

#include <cstdint>
#include <string_view>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "base/status_macros.h"
#include "kube/json_fields.h"
#include "simdjson.h"

namespace flyball::kube {
namespace {

namespace ondemand = simdjson::ondemand;

absl::Status Bad(absl::string_view what, simdjson::error_code error) {
  return absl::InvalidArgumentError(
      absl::StrCat("the answer is no ", what, ": ", simdjson::error_message(error)));
}

struct ReadMeta {
  ObjectMeta meta;
  std::string resource_version;
};

simdjson::error_code ReadMetadata(ondemand::value value, ReadMeta* out) {
  return ForEachField(value, [&](std::string_view key, ondemand::value inner) {
    if (key == "name") return ReadText(inner, &out->meta.name);
    if (key == "namespace") return ReadText(inner, &out->meta.ns);
    if (key == "labels") return ReadTextMap(inner, &out->meta.labels);
    if (key == "resourceVersion") return ReadText(inner, &out->resource_version);
    return simdjson::SUCCESS;
  });
}

simdjson::error_code ReadItems(ondemand::value value, std::vector<ObjectPtr>* objects) {
  ondemand::array items;
  bool null = false;
  if (const auto error = value.is_null().get(null)) return error;
  if (null) return simdjson::SUCCESS;
  if (const auto error = value.get_array().get(items)) return error;
  for (auto item : items) {
    ondemand::value object;
    if (const auto error = item.get(object)) return error;
    ReadMeta read;
    const auto error = ForEachField(object, [&](std::string_view key, ondemand::value inner) {
      return key == "metadata" ? ReadMetadata(inner, &read) : simdjson::SUCCESS;
    });
    if (error) return error;
    if (read.meta.name.empty()) return simdjson::NO_SUCH_FIELD;
    objects->push_back(std::make_shared<const ObjectMeta>(std::move(read.meta)));
  }
  return simdjson::SUCCESS;
}

simdjson::error_code ReadPage(ondemand::value root, MetadataPage* page, bool* has_items) {
  return ForEachRootField(root, [&](std::string_view key, ondemand::value value) {
    if (key == "items") {
      *has_items = true;
      return ReadItems(value, &page->objects);
    }
    if (key != "metadata") return simdjson::SUCCESS;
    return ForEachField(value, [&](std::string_view inner_key, ondemand::value inner) {
      if (inner_key == "resourceVersion") return ReadText(inner, &page->resource_version);
      if (inner_key == "continue") return ReadText(inner, &page->continue_token);
      return simdjson::SUCCESS;
    });
  });
}

struct ReadObject {
  ReadMeta meta;
  int64_t code = 0;     // of a Status
  std::string message;  // of a Status
};

simdjson::error_code ReadEventObject(ondemand::value value, ReadObject* out) {
  return ForEachField(value, [&](std::string_view key, ondemand::value inner) {
    if (key == "metadata") return ReadMetadata(inner, &out->meta);
    // Other kinds may have such fields with another meaning and type: no error if so.
    if (key == "code" && inner.get_int64().get(out->code)) out->code = 0;
    if (key == "message" && ReadText(inner, &out->message)) out->message.clear();
    return simdjson::SUCCESS;
  });
}

}  // namespace

struct MetadataReader::Parser {
  ondemand::parser parser;
  std::string line;  // an event with the room behind it that the parser wants
};

MetadataReader::MetadataReader() : parser_(std::make_unique<Parser>()) {}
MetadataReader::~MetadataReader() = default;

absl::StatusOr<MetadataPage> MetadataReader::ReadList(std::string& body) {
  body.reserve(body.size() + simdjson::SIMDJSON_PADDING);
  MetadataPage page;
  bool has_items = false;
  ondemand::document document;
  ondemand::value root;
  auto error = parser_->parser.iterate(body.data(), body.size(), body.capacity()).get(document);
  if (!error) error = document.get_value().get(root);
  if (!error) error = ReadPage(root, &page, &has_items);
  if (error) return Bad("list of objects", error);
  if (!has_items) return Bad("list of objects", simdjson::NO_SUCH_FIELD);
  return page;
}

absl::StatusOr<WatchEvent> MetadataReader::ReadEvent(absl::string_view line) {
  parser_->line.assign(line.data(), line.size());
  parser_->line.reserve(line.size() + simdjson::SIMDJSON_PADDING);
  std::string type;
  ReadObject object;
  ondemand::document document;
  ondemand::value root;
  auto error =
      parser_->parser.iterate(parser_->line.data(), parser_->line.size(), parser_->line.capacity())
          .get(document);
  if (!error) error = document.get_value().get(root);
  if (!error) {
    error = ForEachRootField(root, [&](std::string_view key, ondemand::value value) {
      if (key == "type") return ReadText(value, &type);
      if (key == "object") return ReadEventObject(value, &object);
      return simdjson::SUCCESS;
    });
  }
  if (error) return Bad("watch event", error);
  WatchEvent event;
  event.resource_version = std::move(object.meta.resource_version);
  if (type == "ERROR") {
    event.error_code = static_cast<int>(object.code);
    event.error_message = std::move(object.message);
    return event;
  }
  if (type == "BOOKMARK") {
    event.type = WatchEvent::Type::kBookmark;
    return event;
  }
  if ((type != "ADDED" && type != "MODIFIED" && type != "DELETED") ||
      object.meta.meta.name.empty()) {
    return Bad("watch event", simdjson::NO_SUCH_FIELD);
  }
  event.type = type == "DELETED" ? WatchEvent::Type::kDeleted : WatchEvent::Type::kChanged;
  event.object = std::make_shared<const ObjectMeta>(std::move(object.meta.meta));
  return event;
}

}  // namespace flyball::kube
