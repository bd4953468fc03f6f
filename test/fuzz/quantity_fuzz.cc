// links: kube_watch
// A text that parses prints a text that parses to an equal quantity, which prints the same if its
// format is the same; the roundings keep the sign of values that fit. Of two lines the sum is the
// same both ways.
#include <cstddef>
#include <cstdint>
#include <cstdlib>

#include "kube/objects/quantity.h"

using flyball::kube::Quantity;

namespace {

void CheckSum(absl::string_view text, absl::string_view other) {
  const auto a = Quantity::Parse(text);
  const auto b = Quantity::Parse(other);
  if (!a.ok() || !b.ok()) return;
  const auto sum = a->Plus(*b);
  const auto same = b->Plus(*a);
  if (sum.ok() != same.ok()) std::abort();
  if (!sum.ok()) return;
  if (sum->Compare(*same) != 0 || sum->MilliValue() != same->MilliValue()) std::abort();
  if (sum->Compare(*a) != b->Sign()) std::abort();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const absl::string_view input(reinterpret_cast<const char*>(data), size);
  if (const size_t end = input.find('\n'); end != absl::string_view::npos) {
    CheckSum(input.substr(0, end), input.substr(end + 1));
    return 0;
  }
  const auto quantity = Quantity::Parse(input);
  if (!quantity.ok()) return 0;
  const std::string text = quantity->ToString();
  // A canonical text may be longer than what is read, or its exponent larger.
  const auto again = Quantity::Parse(text);
  if (!again.ok()) {
    if (text.size() > Quantity::kMaxTextBytes || text.find("e19999") != std::string::npos ||
        text.find("e20") != std::string::npos) {
      return 0;
    }
    std::abort();
  }
  if (again->Compare(*quantity) != 0) std::abort();
  // A binary value without a binary suffix reads back as a decimal one: 1.953125Ki, 2000, 2k.
  if (again->format() == quantity->format() && again->ToString() != text) std::abort();
  if (again->Sign() != quantity->Sign()) std::abort();
  if (quantity->Compare(*Quantity::Parse("1P")) < 0 && quantity->Sign() > 0 &&
      (quantity->Value() < 1 || quantity->MilliValue() < quantity->Value())) {
    std::abort();
  }
  return 0;
}
