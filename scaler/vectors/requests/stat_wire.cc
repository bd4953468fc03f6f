#include "scaler/vectors/requests/stat_wire.h"

#include <bit>
#include <cstdint>

#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"

namespace flyball::scaler {
namespace {

constexpr unsigned kEightBytes = 1;
constexpr unsigned kLengthAndBytes = 2;

void AppendVarint(uint64_t value, std::string& out) {
  for (; value >= 0x80; value >>= 7) out.push_back(static_cast<char>(value | 0x80));
  out.push_back(static_cast<char>(value));
}

void AppendBytes(unsigned field, absl::string_view bytes, std::string& out) {
  AppendVarint(field << 3 | kLengthAndBytes, out);
  AppendVarint(bytes.size(), out);
  absl::StrAppend(&out, bytes);
}

void AppendText(unsigned field, absl::string_view text, std::string& out) {
  if (!text.empty()) AppendBytes(field, text, out);
}

void AppendDouble(unsigned field, double value, std::string& out) {
  if (value == 0) return;
  AppendVarint(field << 3 | kEightBytes, out);
  uint64_t bits = std::bit_cast<uint64_t>(value);
  for (int i = 0; i < 8; ++i, bits >>= 8) out.push_back(static_cast<char>(bits));
}

std::string StatBytes(const WireStat& stat) {
  std::string bytes;
  AppendText(1, stat.pod_name, bytes);
  AppendDouble(2, stat.concurrency, bytes);
  AppendDouble(3, stat.proxied_concurrency, bytes);
  AppendDouble(4, stat.requests, bytes);
  AppendDouble(5, stat.proxied_requests, bytes);
  AppendDouble(6, stat.uptime_seconds, bytes);
  return bytes;
}

}  // namespace

std::string StatHex(const WireStat& stat) { return absl::BytesToHexString(StatBytes(stat)); }

std::string MessagesHex(const std::vector<WireMessage>& messages) {
  std::string all;
  for (const WireMessage& message : messages) {
    std::string bytes;
    AppendText(1, message.ns, bytes);
    AppendText(2, message.revision, bytes);
    AppendBytes(3, StatBytes(message.stat), bytes);
    AppendBytes(1, bytes, all);
  }
  return absl::BytesToHexString(all);
}

}  // namespace flyball::scaler
