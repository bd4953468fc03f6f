// For tests and benchmarks: protobuf messages, written field by field.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <string>
#include <utility>
#include <vector>

#include "absl/base/casts.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"

namespace flyball::formats {

class Message {
 public:
  Message& Varint(int field, uint64_t number) {
    PutVarint(static_cast<uint64_t>(field) << 3);
    PutVarint(number);
    return *this;
  }
  Message& Double(int field, double number) {
    return Bits(field, absl::bit_cast<uint64_t>(number));
  }
  Message& Bits(int field, uint64_t bits) {
    PutVarint(static_cast<uint64_t>(field) << 3 | 1);
    for (int i = 0; i < 8; ++i) bytes_.push_back(static_cast<char>(bits >> (8 * i)));
    return *this;
  }
  Message& Bytes(int field, absl::string_view bytes) {
    PutVarint(static_cast<uint64_t>(field) << 3 | 2);
    PutVarint(bytes.size());
    absl::StrAppend(&bytes_, bytes);
    return *this;
  }
  Message& Add(int field, const Message& message) { return Bytes(field, message.bytes_); }
  Message& Packed(int field, std::initializer_list<uint64_t> numbers) {
    Message packed;
    for (const uint64_t number : numbers) packed.PutVarint(number);
    return Bytes(field, packed.bytes_);
  }
  const std::string& bytes() const { return bytes_; }

 private:
  void PutVarint(uint64_t number) {
    for (; number >= 0x80; number >>= 7) bytes_.push_back(static_cast<char>(number | 0x80));
    bytes_.push_back(static_cast<char>(number));
  }

  std::string bytes_;
};

using TextLabels = std::vector<std::pair<std::string, std::string>>;

// A series of remote write 1.0.
inline Message SeriesMessage(const TextLabels& labels,
                             const std::vector<std::pair<int64_t, double>>& samples) {
  Message series;
  for (const auto& [name, value] : labels) {
    series.Add(1, Message().Bytes(1, name).Bytes(2, value));
  }
  for (const auto& [time_ms, value] : samples) {
    series.Add(2, Message().Double(1, value).Varint(2, static_cast<uint64_t>(time_ms)));
  }
  return series;
}

}  // namespace flyball::formats
