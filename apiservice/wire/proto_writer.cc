#include "apiservice/wire/proto_writer.h"

#include "apiservice/wire/text.h"

namespace flyball::apiservice::wire {
namespace {

constexpr unsigned kVarintType = 0;
constexpr unsigned kBytesType = 2;

}  // namespace

void ProtoWriter::Varint(uint64_t value) {
  while (value >= 0x80) {
    bytes_.push_back(static_cast<char>((value & 0x7F) | 0x80));
    value >>= 7;
  }
  bytes_.push_back(static_cast<char>(value));
}

void ProtoWriter::String(int field, absl::string_view value) {
  Varint(static_cast<uint64_t>(field) << 3 | kBytesType);
  Varint(value.size());
  bytes_.append(value.data(), value.size());
}

void ProtoWriter::Int(int field, int64_t value) {
  Varint(static_cast<uint64_t>(field) << 3 | kVarintType);
  Varint(static_cast<uint64_t>(value));
}

void ProtoWriter::Time(int field, absl::Time time) {
  ProtoWriter message;
  if (time != kGoZeroTime) {
    message.Int(1, absl::ToUnixSeconds(time));
    message.Int(2, 0);  // whole seconds only, as in JSON
  }
  Message(field, message);
}

void ProtoWriter::Quantity(int field, absl::string_view text) {
  ProtoWriter message;
  message.String(1, text);
  Message(field, message);
}

void ProtoWriter::MapEntry(int field, absl::string_view key, absl::string_view value) {
  ProtoWriter message;
  message.String(1, key);
  message.String(2, value);
  Message(field, message);
}

ProtoWriter EmptyListMeta() {
  ProtoWriter meta;
  for (const int field : {1, 2, 3}) meta.String(field, "");
  return meta;
}

std::string ProtoEnvelope(absl::string_view api_version, absl::string_view kind,
                          const ProtoWriter& object) {
  ProtoWriter type_meta;
  type_meta.String(1, api_version);
  type_meta.String(2, kind);
  // The object may be long: no more than one copy of it is made.
  constexpr size_t kAround = 64;
  std::string magic("k8s\0", 4);
  magic.reserve(object.bytes().size() + type_meta.bytes().size() + kAround);
  ProtoWriter unknown(std::move(magic));
  unknown.Message(1, type_meta);
  unknown.Message(2, object);
  unknown.String(3, "");  // contentEncoding
  unknown.String(4, "");  // contentType
  return std::move(unknown).Take();
}

}  // namespace flyball::apiservice::wire
