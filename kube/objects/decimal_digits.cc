#include "kube/objects/decimal_digits.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"

namespace flyball::kube {
namespace {

void AddOne(std::string& digits) {
  for (auto digit = digits.rbegin(); digit != digits.rend(); ++digit) {
    if (*digit != '9') {
      ++*digit;
      return;
    }
    *digit = '0';
  }
  digits.insert(0, "1");
}

}  // namespace

void StripLeadingZeros(std::string& digits) {
  digits.erase(0, std::min(digits.find_first_not_of('0'), digits.size()));
}

void TimesSmall(std::string& digits, int factor) {
  int carry = 0;
  for (auto digit = digits.rbegin(); digit != digits.rend(); ++digit) {
    carry += (*digit - '0') * factor;
    *digit = static_cast<char>('0' + carry % 10);
    carry /= 10;
  }
  if (carry > 0) digits.insert(0, absl::StrCat(carry));
}

int DivideBySmall(std::string& digits, int divisor) {
  int rest = 0;
  for (char& digit : digits) {
    rest = rest * 10 + (digit - '0');
    digit = static_cast<char>('0' + rest / divisor);
    rest %= divisor;
  }
  StripLeadingZeros(digits);
  return rest;
}

void RoundUpTo(std::string& digits, int64_t& scale, int lowest) {
  if (scale >= lowest) return;
  const auto dropped = static_cast<size_t>(lowest - scale);
  scale = lowest;
  if (dropped >= digits.size()) {
    digits = "1";
    return;
  }
  const bool exact = digits.find_last_not_of('0') < digits.size() - dropped;
  digits.resize(digits.size() - dropped);
  if (!exact) AddOne(digits);
}

int CompareMagnitude(absl::string_view a, int64_t a_scale, absl::string_view b, int64_t b_scale) {
  const int64_t a_top = static_cast<int64_t>(a.size()) + a_scale;
  const int64_t b_top = static_cast<int64_t>(b.size()) + b_scale;
  if (a_top != b_top) return a_top < b_top ? -1 : 1;
  for (size_t i = 0; i < std::max(a.size(), b.size()); ++i) {
    const char a_digit = i < a.size() ? a[i] : '0';
    const char b_digit = i < b.size() ? b[i] : '0';
    if (a_digit != b_digit) return a_digit < b_digit ? -1 : 1;
  }
  return 0;
}

std::string AddDigits(std::string a, std::string b) {
  if (a.size() < b.size()) std::swap(a, b);
  a.insert(0, 1, '0');
  int carry = 0;
  for (size_t i = 0; i < a.size() && (i < b.size() || carry > 0); ++i) {
    char& digit = a[a.size() - 1 - i];
    carry += (digit - '0') + (i < b.size() ? b[b.size() - 1 - i] - '0' : 0);
    digit = static_cast<char>('0' + carry % 10);
    carry /= 10;
  }
  StripLeadingZeros(a);
  return a;
}

std::string SubtractDigits(std::string a, absl::string_view b) {
  int borrow = 0;
  for (size_t i = 0; i < a.size() && (i < b.size() || borrow > 0); ++i) {
    char& digit = a[a.size() - 1 - i];
    const int rest = (digit - '0') - borrow - (i < b.size() ? b[b.size() - 1 - i] - '0' : 0);
    borrow = rest < 0 ? 1 : 0;
    digit = static_cast<char>('0' + rest + 10 * borrow);
  }
  StripLeadingZeros(a);
  return a;
}

uint64_t Low64(absl::string_view digits, int64_t zeros) {
  uint64_t low = 0;
  for (const char digit : digits) low = low * 10 + static_cast<uint64_t>(digit - '0');
  // 10^64 is a multiple of 2^64.
  for (int64_t i = 0; i < std::min<int64_t>(zeros, 64); ++i) low *= 10;
  return low;
}

}  // namespace flyball::kube
