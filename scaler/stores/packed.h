// Packs numbers and texts into few bytes, for data that is kept for many autoscalers, in memory and
// in the cluster.
//
// Pure. Integers are varints (seven bits a byte, low ones first), signed ones zigzag. The reader
// accepts any bytes: once something is missing or invalid, ok() is false and all further reads
// return zero.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>

#include "absl/strings/string_view.h"

namespace flyball::scaler {

class PackedWriter {
 public:
  // Appends to `out`, which outlives the writer.
  explicit PackedWriter(std::string& out) : out_(out) {}

  void Unsigned(uint64_t value) {
    for (; value >= 0x80; value >>= 7) out_.push_back(static_cast<char>(value | 0x80));
    out_.push_back(static_cast<char>(value));
  }
  void Signed(int64_t value) {
    Unsigned((static_cast<uint64_t>(value) << 1) ^ static_cast<uint64_t>(value >> 63));
  }
  void Bool(bool value) { out_.push_back(value ? 1 : 0); }
  void Double(double value) {
    char bytes[sizeof(value)];
    std::memcpy(bytes, &value, sizeof(value));
    out_.append(bytes, sizeof(value));
  }
  void Text(absl::string_view text) {
    Unsigned(text.size());
    out_.append(text.data(), text.size());
  }

 private:
  std::string& out_;
};

class PackedReader {
 public:
  // The bytes outlive the reader.
  explicit PackedReader(absl::string_view bytes) : rest_(bytes) {}

  bool ok() const { return ok_; }
  bool at_end() const { return rest_.empty(); }
  void Fail() { ok_ = false; }

  uint64_t Unsigned() {
    uint64_t value = 0;
    for (int shift = 0; ok_ && shift < 64; shift += 7) {
      const uint64_t byte = Byte();
      value |= (byte & 0x7F) << shift;
      if (byte < 0x80) return ok_ ? value : 0;
    }
    ok_ = false;
    return 0;
  }
  int64_t Signed() {
    const uint64_t value = Unsigned();
    return static_cast<int64_t>((value >> 1) ^ (~(value & 1) + 1));
  }
  // The number of items that follow, each of at least one byte; more items than remaining bytes are
  // an error.
  size_t Count() {
    const uint64_t value = Unsigned();
    if (value > rest_.size()) ok_ = false;
    return ok_ ? static_cast<size_t>(value) : 0;
  }
  int32_t Int32() {
    const int64_t value = Signed();
    if (value < INT32_MIN || value > INT32_MAX) ok_ = false;
    return ok_ ? static_cast<int32_t>(value) : 0;
  }
  bool Bool() { return Byte() != 0; }
  double Double() {
    double value = 0;
    if (rest_.size() < sizeof(value)) {
      ok_ = false;
    } else if (ok_) {
      std::memcpy(&value, rest_.data(), sizeof(value));
      rest_.remove_prefix(sizeof(value));
    }
    return value;
  }
  absl::string_view Text() {
    const size_t size = Count();
    if (!ok_) return "";
    const absl::string_view text = rest_.substr(0, size);
    rest_.remove_prefix(size);
    return text;
  }

 private:
  uint64_t Byte() {
    if (rest_.empty()) ok_ = false;
    if (!ok_) return 0;
    const auto byte = static_cast<unsigned char>(rest_.front());
    rest_.remove_prefix(1);
    return byte;
  }

  absl::string_view rest_;
  bool ok_ = true;
};

}  // namespace flyball::scaler
