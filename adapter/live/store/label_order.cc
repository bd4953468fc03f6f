#include "adapter/live/store/label_order.h"

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <utility>

#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "base/status_macros.h"

namespace flyball::live {
namespace {

// A run this short is sorted by comparing.
constexpr size_t kFew = 8;

// The steps of a WorkMeter for each series of a run, whose labels have to be fetched from memory.
constexpr size_t kStepsPerSeries = 10;

// A series with its labels beside it, since with many series each access to one waits for memory.
struct Labelled {
  absl::string_view encoded;
  uint64_t key = 0;
  size_t place = 0;  // in the list
};

// The text that begins there, as Labels::encoded has it; `at` is then behind it.
absl::string_view TextAt(absl::string_view encoded, size_t& at) {
  constexpr unsigned char kLongText = 255;  // the four bytes that follow are the length
  uint32_t size = static_cast<unsigned char>(encoded[at++]);
  if (size == kLongText) {
    std::memcpy(&size, encoded.data() + at, sizeof size);
    at += sizeof size;
  }
  const absl::string_view text = encoded.substr(at, size);
  at += size;
  return text;
}

// The position of one text in the encoded labels.
struct TextPlace {
  size_t begin = 0;    // of its length
  size_t skipped = 0;  // how many of its bytes are the same in all
};

size_t CommonPrefix(absl::string_view a, absl::string_view b, size_t at, size_t end) {
  for (; at + sizeof(uint64_t) <= end; at += sizeof(uint64_t)) {
    if (std::memcmp(a.data() + at, b.data() + at, sizeof(uint64_t)) != 0) break;
  }
  while (at < end && a[at] == b[at]) ++at;
  return at;
}

// The bytes that all of a run begin with, of which `known` are known.
size_t CommonPrefix(absl::Span<const Labelled> run, size_t known) {
  const absl::string_view first = run.front().encoded;
  size_t common = first.size();
  for (const Labelled& one : run.subspan(1)) {
    common = CommonPrefix(first, one.encoded, known, std::min(common, one.encoded.size()));
  }
  return common;
}

// The bytes that one text of all of a run begins with.
size_t CommonTextPrefix(absl::Span<const Labelled> run, size_t text_begin) {
  const auto text_of = [text_begin](const Labelled& one) {
    size_t at = text_begin;
    return at < one.encoded.size() ? TextAt(one.encoded, at) : absl::string_view();
  };
  const absl::string_view first = text_of(run.front());
  size_t common = first.size();
  for (const Labelled& one : run.subspan(1)) {
    const absl::string_view text = text_of(one);
    common = CommonPrefix(first, text, 0, std::min(common, text.size()));
  }
  return common;
}

// The text in which that byte lies.
TextPlace TextWith(absl::string_view encoded, size_t byte) {
  TextPlace place;
  for (size_t at = 0; at <= byte && at < encoded.size();) {
    place.begin = at;
    const absl::string_view text = TextAt(encoded, at);
    const auto first = static_cast<size_t>(text.data() - encoded.data());
    place.skipped = byte > first ? byte - first : 0;
  }
  return place;
}

// The next eight bytes of the text, as a number of their order.
uint64_t KeyOf(absl::string_view encoded, TextPlace place) {
  if (place.begin >= encoded.size()) return 0;
  size_t at = place.begin;
  absl::string_view text = TextAt(encoded, at);
  text.remove_prefix(std::min(place.skipped, text.size()));
  uint64_t bytes = 0;
  std::memcpy(&bytes, text.data(), std::min(text.size(), sizeof bytes));
  return __builtin_bswap64(bytes);  // the first byte counts most
}

class Sorter {
 public:
  Sorter(const promql::SeriesList& series, const promql::Interrupted& interrupted)
      : series_(series), work_(interrupted) {}

  absl::Status Sort(absl::Span<Labelled> run, size_t known) {
    RETURN_IF_ERROR(work_.Count(kStepsPerSeries * run.size()));
    if (run.size() <= kFew) {
      Compare(run);
      return absl::OkStatus();
    }
    const size_t common = CommonPrefix(run, known);
    TextPlace place = TextWith(run.front().encoded, common);
    // If the texts differ in length, the lengths are compared first.
    if (place.skipped == 0) place.skipped = CommonTextPrefix(run, place.begin);
    for (Labelled& one : run) one.key = KeyOf(one.encoded, place);
    std::sort(run.begin(), run.end(),
              [](const Labelled& a, const Labelled& b) { return a.key < b.key; });
    for (size_t begin = 0; begin < run.size();) {
      size_t end = begin + 1;
      while (end < run.size() && run[end].key == run[begin].key) ++end;
      // All are equal so far: the texts end with zeros, which keys cannot distinguish.
      if (end - begin == run.size()) {
        Compare(run);
      } else if (end - begin > 1) {
        RETURN_IF_ERROR(Sort(run.subspan(begin, end - begin), common));
      }
      begin = end;
    }
    return absl::OkStatus();
  }

 private:
  void Compare(absl::Span<Labelled> run) const {
    std::sort(run.begin(), run.end(), [this](const Labelled& a, const Labelled& b) {
      return series_[a.place]->labels() < series_[b.place]->labels();
    });
  }

  const promql::SeriesList& series_;
  promql::WorkMeter work_;
};

}  // namespace

absl::Status SortByLabels(promql::SeriesList& series, const promql::Interrupted& interrupted) {
  std::vector<Labelled> labelled(series.size());
  for (size_t i = 0; i < series.size(); ++i) {
    labelled[i] = {.encoded = series[i]->labels().encoded(), .key = 0, .place = i};
  }
  RETURN_IF_ERROR(Sorter(series, interrupted).Sort(absl::MakeSpan(labelled), 0));
  promql::SeriesList sorted;
  sorted.reserve(series.size());
  for (const Labelled& one : labelled) sorted.push_back(std::move(series[one.place]));
  series = std::move(sorted);
  return absl::OkStatus();
}

}  // namespace flyball::live
