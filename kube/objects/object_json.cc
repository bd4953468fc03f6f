#include "kube/objects/object_json.h"

#include <string_view>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "kube/objects/json_fields.h"
#include "simdjson.h"

namespace flyball::kube {
namespace {

namespace ondemand = simdjson::ondemand;

absl::Status Bad(absl::string_view what, simdjson::error_code error) {
  return absl::InvalidArgumentError(
      absl::StrCat("the answer is no ", what, ": ", simdjson::error_message(error)));
}

// `read_to`: how far the object was already read. If the object is malformed somewhere before that,
// the library leaves it, and would then read strings again without having room for them.
simdjson::error_code RawText(ondemand::object& object, const char* read_to,
                             absl::string_view* out) {
  std::string_view raw;
  if (const auto error = object.raw_json().get(raw)) return error;
  if (raw.data() + raw.size() < read_to) return simdjson::TAPE_ERROR;
  // The library's text reaches to the next token.
  *out = absl::StripTrailingAsciiWhitespace(absl::string_view(raw.data(), raw.size()));
  // It counts brackets without telling one kind from the other.
  return out->back() == '}' ? simdjson::SUCCESS : simdjson::TAPE_ERROR;
}

struct Page {
  PageEnd end;
  bool has_items = false;
};

simdjson::error_code ReadListMeta(ondemand::value value, PageEnd* end) {
  return ForEachField(value, [end](std::string_view key, ondemand::value inner) {
    if (key == "resourceVersion") return ReadText(inner, &end->resource_version);
    if (key == "continue") return ReadText(inner, &end->continue_token);
    return simdjson::SUCCESS;
  });
}

simdjson::error_code ReadListFields(ondemand::value root,
                                    absl::FunctionRef<void(absl::string_view)> on_object,
                                    Page* page) {
  return ForEachRootField(root, [&](std::string_view key, ondemand::value value) {
    if (key == "metadata") return ReadListMeta(value, &page->end);
    if (key != "items") return simdjson::SUCCESS;
    page->has_items = true;
    return ForEachItem(value, [&](ondemand::value item) {
      ondemand::object object;
      absl::string_view text;
      if (const auto error = item.get_object().get(object)) return error;
      if (const auto error = RawText(object, nullptr, &text)) return error;
      on_object(text);
      return simdjson::SUCCESS;
    });
  });
}

simdjson::error_code ReadVersion(ondemand::value value, std::string* out) {
  return ForEachField(value, [out](std::string_view key, ondemand::value inner) {
    return key == "resourceVersion" ? ReadText(inner, out) : simdjson::SUCCESS;
  });
}

// The object's version, or what a Status says; then the object's text.
simdjson::error_code ReadEventObject(ondemand::value value, ObjectEvent* event) {
  ondemand::object object;
  if (const auto error = value.get_object().get(object)) return error;
  for (auto field : object) {
    std::string_view key;
    ondemand::value inner;
    if (const auto error = field.unescaped_key().get(key)) return error;
    if (const auto error = field.value().get(inner)) return error;
    // Other kinds may have such fields with another meaning and type: no error if so.
    if (key == "code" && ReadInt32(inner, &event->error_code)) event->error_code = 0;
    if (key == "message" && ReadText(inner, &event->error_message)) event->error_message.clear();
    if (key != "metadata") continue;
    if (const auto error = ReadVersion(inner, &event->resource_version)) return error;
    if (!event->resource_version.empty()) break;  // no Status: nothing more to find
  }
  const char* read_to = nullptr;
  if (const auto error = value.current_location().get(read_to)) return error;
  if (const auto error = object.reset().error()) return error;
  return RawText(object, read_to, &event->object);
}

simdjson::error_code ReadMetadata(ondemand::value value, ObjectMeta* meta) {
  return ForEachField(value, [meta](std::string_view key, ondemand::value inner) {
    if (key == "name") return ReadText(inner, &meta->name);
    if (key == "namespace") return ReadText(inner, &meta->ns);
    if (key == "labels") return ReadTextMap(inner, &meta->labels);
    return simdjson::SUCCESS;
  });
}

}  // namespace

ObjectReader::ObjectReader() : parser_(std::make_unique<JsonParser>()) {}
ObjectReader::~ObjectReader() = default;

absl::StatusOr<PageEnd> ObjectReader::ReadPage(
    std::string& body, absl::FunctionRef<void(absl::string_view)> on_object) {
  Page page;
  const auto error = parser_->ReadInPlace(
      body, [&](ondemand::value root) { return ReadListFields(root, on_object, &page); });
  if (error) return Bad("list of objects", error);
  if (!page.has_items) return Bad("list of objects", simdjson::NO_SUCH_FIELD);
  return std::move(page.end);
}

absl::StatusOr<ObjectEvent> ObjectReader::ReadEvent(absl::string_view line) {
  ObjectEvent event;
  std::string type;
  const auto error = parser_->Read(line, [&](ondemand::value root) {
    return ForEachRootField(root, [&](std::string_view key, ondemand::value value) {
      if (key == "type") return ReadText(value, &type);
      return key == "object" ? ReadEventObject(value, &event) : simdjson::SUCCESS;
    });
  });
  if (error) return Bad("watch event", error);
  if (type == "ADDED")
    event.type = ObjectEvent::Type::kAdded;
  else if (type == "MODIFIED")
    event.type = ObjectEvent::Type::kModified;
  else if (type == "DELETED")
    event.type = ObjectEvent::Type::kDeleted;
  else if (type == "BOOKMARK")
    event.type = ObjectEvent::Type::kBookmark;
  else if (type != "ERROR")
    return Bad("watch event", simdjson::INCORRECT_TYPE);
  if (event.object.empty()) return Bad("watch event", simdjson::NO_SUCH_FIELD);
  if (event.type == ObjectEvent::Type::kError) event.resource_version.clear();
  return event;
}

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
        absl::StrCat("this object has no name: ", simdjson::error_message(error)));
  }
  return std::make_shared<const ObjectMeta>(std::move(meta));
}

}  // namespace flyball::kube
