#include "adapter/prometheus/answer_mark.h"

#include <algorithm>
#include <cstring>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/strip.h"
#include "adapter/prometheus/json.h"
#include "adapter/queries/answer_digest.h"

namespace flyball::adapter::prometheus {
namespace {

// What comes before the time of each sample. A JSON string cannot contain it, since its quotes
// would be escaped there.
constexpr absl::string_view kPoint = R"("value":[)";
constexpr size_t kLongestTime = 32;

// Whether the text is a JSON number without an exponent. Other texts are not handled.
bool IsPlainNumber(absl::string_view text) {
  const auto digits = [&text] {
    size_t count = 0;
    while (count < text.size() && absl::ascii_isdigit(static_cast<unsigned char>(text[count]))) {
      ++count;
    }
    text.remove_prefix(count);
    return count;
  };
  absl::ConsumePrefix(&text, "-");
  const bool zero = absl::StartsWith(text, "0");
  const size_t whole = digits();
  if (whole == 0 || (zero && whole > 1)) return false;
  if (absl::ConsumePrefix(&text, ".") && digits() == 0) return false;
  return text.empty();
}

// The next point's time from `begin` on; npos: there is none.
size_t NextTime(absl::string_view body, size_t begin) {
  begin = std::max(begin, kPoint.size() - 1);
  while (begin < body.size()) {
    // Brackets are rare, quotes are not.
    const void* found = std::memchr(body.data() + begin, kPoint.back(), body.size() - begin);
    if (found == nullptr) break;
    const char* const end = static_cast<const char*>(found) + 1;
    begin = static_cast<size_t>(end - body.data());
    // With a size known at compile time this is inlined.
    if (std::memcmp(end - kPoint.size(), kPoint.data(), kPoint.size()) == 0) return begin;
  }
  return absl::string_view::npos;
}

// The time at each point. It is mostly no longer than two machine words, which are compared without
// a call.
class Times {
 public:
  explicit Times(absl::string_view text) : text_(text) {
    if (text_.size() < kWord || text_.size() > 2 * kWord) return;
    first_ = Word(text_.data());
    last_ = Word(text_.data() + text_.size() - kWord);
    two_words_ = true;
  }
  bool StandsAt(absl::string_view body, size_t at) const {
    if (!two_words_) return absl::StartsWith(body.substr(at), text_);
    const char* const begin = body.data() + at;
    return body.size() - at >= text_.size() && Word(begin) == first_ &&
           Word(begin + text_.size() - kWord) == last_;
  }

 private:
  static constexpr size_t kWord = sizeof(uint64_t);
  static uint64_t Word(const char* text) {
    uint64_t word = 0;
    std::memcpy(&word, text, kWord);
    return word;
  }

  const absl::string_view text_;
  bool two_words_ = false;
  uint64_t first_ = 0, last_ = 0;  // they overlap
};

}  // namespace

std::optional<MarkedAnswer> MarkAnswer(absl::string_view body) {
  const size_t first = NextTime(body, 0);
  if (first == absl::string_view::npos) return std::nullopt;
  // Including the comma, so that it is not the beginning of a longer time.
  const size_t comma = body.substr(first, kLongestTime).find(',');
  if (comma == absl::string_view::npos) return std::nullopt;
  const absl::string_view text = body.substr(first, comma + 1);
  if (!IsPlainNumber(text.substr(0, comma))) return std::nullopt;
  const std::optional<absl::Time> time = TimeOfText(text.substr(0, comma));
  if (!time.has_value()) return std::nullopt;

  const Times times(text);
  AnswerDigest digest;
  MarkedAnswer answer{.mark = {}, .time = *time, .points = 0};
  size_t done = 0;
  for (size_t at = first; at != absl::string_view::npos; at = NextTime(body, done)) {
    if (!times.StandsAt(body, at)) return std::nullopt;
    digest.Add(body.substr(done, at - done));
    done = at + comma;
    ++answer.points;
  }
  digest.Add(body.substr(done));
  const std::optional<AnswerMark> mark = digest.End();
  if (!mark.has_value()) return std::nullopt;
  answer.mark = *mark;
  return answer;
}

}  // namespace flyball::adapter::prometheus
