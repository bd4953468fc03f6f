// Reads the fields of a protobuf message one after the other from the wire: for messages that are
// many and large, of which protobuf's own classes would make a tree of objects first.
//
// Not thread-safe. Reads with protobuf's CodedInputStream; views point into the message. If a
// function that returns bool returns false, the bytes are no such message.
#pragma once

#include <cstdint>

#include <google/protobuf/io/coded_stream.h>
#include <google/protobuf/wire_format_lite.h>

#include "absl/base/casts.h"
#include "absl/strings/string_view.h"

namespace flyball::formats {

class WireReader {
 public:
  using WireFormat = google::protobuf::internal::WireFormatLite;

  explicit WireReader(absl::string_view message)
      : begin_(message.data()),
        stream_(reinterpret_cast<const uint8_t*>(message.data()),
                static_cast<int>(message.size())) {}

  // Moves to the next field and returns its number. 0 at the end, or at malformed bytes: see AtEnd.
  int Next() {
    start_ = stream_.CurrentPosition();
    tag_ = stream_.ReadTag();
    return WireFormat::GetTagFieldNumber(tag_);
  }
  bool AtEnd() { return stream_.ConsumedEntireMessage(); }

  // Where the current field begins and where the reader is, in bytes.
  int start() const { return start_; }
  int position() const { return stream_.CurrentPosition(); }
  absl::string_view Between(int begin, int end) const {
    return absl::string_view(begin_ + begin, static_cast<size_t>(end - begin));
  }

  bool ReadVarint(uint64_t* value) {
    return Is(WireFormat::WIRETYPE_VARINT) && stream_.ReadVarint64(value);
  }
  // A zigzag number of 32 bits.
  bool ReadSigned(int32_t* value) {
    uint64_t number = 0;
    if (!ReadVarint(&number)) return false;
    *value = WireFormat::ZigZagDecode32(static_cast<uint32_t>(number));
    return true;
  }
  bool ReadFixed64(uint64_t* bits) {
    return Is(WireFormat::WIRETYPE_FIXED64) && stream_.ReadLittleEndian64(bits);
  }
  bool ReadDouble(double* value) {
    uint64_t bits = 0;
    if (!ReadFixed64(&bits)) return false;
    *value = absl::bit_cast<double>(bits);
    return true;
  }
  // A string, bytes, a message, or packed numbers.
  bool ReadBytes(absl::string_view* bytes) {
    uint32_t size = 0;
    if (!Is(WireFormat::WIRETYPE_LENGTH_DELIMITED) || !stream_.ReadVarint32(&size)) return false;
    const int begin = stream_.CurrentPosition();
    if (size > INT32_MAX || !stream_.Skip(static_cast<int>(size))) return false;
    *bytes = Between(begin, begin + static_cast<int>(size));
    return true;
  }
  bool Skip() { return WireFormat::SkipField(&stream_, tag_); }
  // Whether the field is packed; else it has a single number.
  bool IsPacked() const { return Is(WireFormat::WIRETYPE_LENGTH_DELIMITED); }

 private:
  bool Is(WireFormat::WireType type) const { return WireFormat::GetTagWireType(tag_) == type; }

  const char* const begin_;
  google::protobuf::io::CodedInputStream stream_;
  int start_ = 0;
  uint32_t tag_ = 0;
};

// Calls `on_field(reader, field)` for each field of the message: it reads or skips the field, and
// returns false if it can't.
template <typename OnField>
bool ReadFields(absl::string_view message, OnField on_field) {
  WireReader reader(message);
  while (const int field = reader.Next()) {
    if (!on_field(reader, field)) return false;
  }
  return reader.AtEnd();
}

// Does the same with the message in the current field.
template <typename OnField>
bool ReadMessage(WireReader& reader, OnField on_field) {
  absl::string_view message;
  return reader.ReadBytes(&message) && ReadFields(message, on_field);
}

// Calls `on_part` with the bytes of each field of that number, and skips the others.
template <typename OnPart>
bool ForEachPart(absl::string_view message, int wanted, OnPart on_part) {
  return ReadFields(message, [&](WireReader& reader, int field) {
    absl::string_view part;
    return field == wanted ? reader.ReadBytes(&part) && on_part(part) : reader.Skip();
  });
}

// Calls `take` with each number of the field, packed or single.
template <typename Take>
bool ReadVarints(WireReader& reader, Take take) {
  uint64_t number = 0;
  absl::string_view packed;
  if (!reader.IsPacked()) {
    if (!reader.ReadVarint(&number)) return false;
    take(number);
    return true;
  }
  if (!reader.ReadBytes(&packed)) return false;
  google::protobuf::io::CodedInputStream stream(reinterpret_cast<const uint8_t*>(packed.data()),
                                                static_cast<int>(packed.size()));
  while (stream.CurrentPosition() < static_cast<int>(packed.size())) {
    if (!stream.ReadVarint64(&number)) return false;
    take(number);
  }
  return true;
}

}  // namespace flyball::formats
