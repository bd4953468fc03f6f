#include "adapter/live/formats/remote_write.h"

#include <snappy.h>

#include <algorithm>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "adapter/live/formats/text_scanner.h"
#include "adapter/live/formats/wire_reader.h"
#include "base/go/text.h"
#include "base/one_line.h"
#include "base/status_macros.h"
#include "promql/text.h"

namespace flyball::formats {
namespace {

absl::Status NotAMessage() {
  return absl::InvalidArgumentError("the body is no remote write request");
}

// Field numbers. Those of the two versions' series and samples overlap: 1.0 has labels, 2.0 their
// numbers.
namespace write1 {
constexpr int kSeries = 1, kMetadata = 3;
constexpr int kType = 1, kFamily = 2, kHelp = 4, kUnit = 5;
constexpr int kName = 1, kValue = 2;
constexpr int kLabel = 1, kSample = 2, kExemplar = 3, kHistogram = 4;
}  // namespace write1
namespace write2 {
constexpr int kSymbol = 4, kSeries = 5;
constexpr int kLabels = 1, kSample = 2, kHistogram = 3, kExemplar = 4, kMetadata = 5;
constexpr int kType = 1, kHelp = 3, kUnit = 4;
}  // namespace write2

// The numbers of both versions' metadata.
MetricType TypeOfNumber(uint64_t number) {
  const bool known = number <= static_cast<uint64_t>(MetricType::kStateset);
  return known ? static_cast<MetricType>(number) : MetricType::kUnknown;
}

// Value 1 and stamp 2 in both versions; what is left out is zero.
bool ReadSample(absl::string_view message, WrittenSample& sample) {
  return ReadFields(message, [&](WireReader& reader, int field) {
    if (field == 1) return reader.ReadDouble(&sample.value);
    if (field != 2) return reader.Skip();
    uint64_t number = 0;
    if (!reader.ReadVarint(&number)) return false;
    sample.time_ms = static_cast<int64_t>(number);
    return true;
  });
}

bool ReadLabel(absl::string_view message, LabelView& label) {
  return ReadFields(message, [&](WireReader& reader, int field) {
    return field == write1::kName    ? reader.ReadBytes(&label.name)
           : field == write1::kValue ? reader.ReadBytes(&label.value)
                                     : reader.Skip();
  });
}

absl::Status TooManyLabels(size_t limit) {
  return absl::OutOfRangeError(absl::StrCat("a series has more than ", limit, " labels"));
}

// Reads the series of one request one after the other, in memory that is taken once.
class SeriesReader {
 public:
  explicit SeriesReader(const std::vector<absl::string_view>& symbols) : symbols_(symbols) {}

  // False: these bytes are no series.
  bool Read1(absl::string_view message, WrittenSeries& series) {
    Begin(series);
    int begin = 0, end = 0;
    bool together = true;
    const bool good = ReadFields(message, [&](WireReader& reader, int field) {
      absl::string_view part;
      if (field == write1::kLabel) {
        if (!reader.ReadBytes(&part)) return false;
        if (end == 0) begin = reader.start();
        together = together && (end == 0 || end == reader.start());
        end = reader.position();
        return true;
      }
      if (field == write1::kSample) return reader.ReadBytes(&part) && TakeSample(part, series);
      series.histograms += field == write1::kHistogram;
      series.exemplars += field == write1::kExemplar;
      return reader.Skip();
    });
    if (!good) return false;
    if (together) {
      series.key = message.substr(static_cast<size_t>(begin), static_cast<size_t>(end - begin));
    } else if (!ReadScattered(message, series)) {
      return false;
    }
    End(series);
    return true;
  }

  bool Read2(absl::string_view message, WrittenSeries& series) {
    Begin(series);
    const bool good = ReadFields(message, [&](WireReader& reader, int field) {
      absl::string_view part;
      // Keeps one more than the limit, so that the excess is noticed.
      const auto keep = [this](uint64_t number) {
        if (numbers_.size() <= 2 * kMaxSentLabels) numbers_.push_back(number);
      };
      if (field == write2::kLabels) return ReadVarints(reader, keep);
      if (field == write2::kSample) return reader.ReadBytes(&part) && TakeSample(part, series);
      if (field == write2::kMetadata) return reader.ReadBytes(&part) && ReadMetadata(part, series);
      series.histograms += field == write2::kHistogram;
      series.exemplars += field == write2::kExemplar;
      return reader.Skip();
    });
    if (!good) return false;
    Resolve(series);
    if (samples_.empty() && series.histograms == 0) {
      series.status.Update(absl::InvalidArgumentError("a series has neither sample nor histogram"));
    }
    End(series);
    return true;
  }

 private:
  void Begin(WrittenSeries& series) {
    series = WrittenSeries();
    labels_.clear();
    samples_.clear();
    numbers_.clear();
  }
  void End(WrittenSeries& series) {
    series.labels = labels_;
    series.samples = samples_;
  }

  bool TakeSample(absl::string_view message, WrittenSeries& series) {
    if (samples_.size() == kMaxSeriesSamples) {
      series.status.Update(absl::InvalidArgumentError(
          absl::StrCat("a series has more than ", kMaxSeriesSamples, " samples")));
      return true;
    }
    return ReadSample(message, samples_.emplace_back());
  }

  // Labels with something else between them, which hardly any sender writes.
  bool ReadScattered(absl::string_view message, WrittenSeries& series) {
    return ForEachPart(message, write1::kLabel, [&](absl::string_view part) {
      if (labels_.size() < kMaxSentLabels) return ReadLabel(part, labels_.emplace_back());
      series.status = TooManyLabels(kMaxSentLabels);
      return true;
    });
  }

  bool ReadMetadata(absl::string_view message, WrittenSeries& series) {
    return ReadFields(message, [&](WireReader& reader, int field) {
      if (field != write2::kType && field != write2::kHelp && field != write2::kUnit) {
        return reader.Skip();
      }
      uint64_t number = 0;
      if (!reader.ReadVarint(&number)) return false;
      if (field == write2::kType) {
        series.type = TypeOfNumber(number);
      } else if (const absl::string_view* text = Symbol(number); text != nullptr) {
        (field == write2::kHelp ? series.help : series.unit) = *text;
      }
      return true;
    });
  }

  void Resolve(WrittenSeries& series) {
    if (numbers_.size() > 2 * kMaxSentLabels) {
      series.status = TooManyLabels(kMaxSentLabels);
      return;
    }
    if (numbers_.size() % 2 != 0) {
      series.status = absl::InvalidArgumentError("a series has a label without a value");
      return;
    }
    for (size_t i = 0; i < numbers_.size(); i += 2) {
      const absl::string_view* const name = Symbol(numbers_[i]);
      const absl::string_view* const value = Symbol(numbers_[i + 1]);
      if (name == nullptr || value == nullptr) {
        series.status = absl::InvalidArgumentError(absl::StrCat(
            "a label refers to symbol ", name == nullptr ? numbers_[i] : numbers_[i + 1],
            ", of which there are ", symbols_.size()));
        return;
      }
      labels_.push_back({*name, *value});
    }
  }

  const absl::string_view* Symbol(uint64_t number) const {
    return number < symbols_.size() ? &symbols_[number] : nullptr;
  }

  const std::vector<absl::string_view>& symbols_;
  std::vector<LabelView> labels_;
  std::vector<WrittenSample> samples_;
  std::vector<uint64_t> numbers_;
};

bool ReadFamily(absl::string_view message, FamilyMetadata& family) {
  return ReadFields(message, [&](WireReader& reader, int field) {
    if (field == write1::kFamily) return reader.ReadBytes(&family.name);
    if (field == write1::kHelp) return reader.ReadBytes(&family.help.emplace());
    if (field == write1::kUnit) return reader.ReadBytes(&family.unit.emplace());
    if (field != write1::kType) return reader.Skip();
    uint64_t number = 0;
    if (!reader.ReadVarint(&number)) return false;
    family.type = TypeOfNumber(number);
    return true;
  });
}

absl::Status Read1(absl::string_view message, OnWrittenSeries on_series, OnFamily on_family) {
  const std::vector<absl::string_view> no_symbols;
  SeriesReader series_reader(no_symbols);
  const bool good = ReadFields(message, [&](WireReader& reader, int field) {
    absl::string_view part;
    if (field == write1::kSeries) {
      WrittenSeries series;
      if (!reader.ReadBytes(&part) || !series_reader.Read1(part, series)) return false;
      on_series(series);
      return true;
    }
    if (field != write1::kMetadata) return reader.Skip();
    FamilyMetadata family;
    if (!reader.ReadBytes(&part) || !ReadFamily(part, family)) return false;
    on_family(family);
    return true;
  });
  return good ? absl::OkStatus() : NotAMessage();
}

// The texts may come after the series that refer to them.
absl::StatusOr<std::vector<absl::string_view>> ReadSymbols(absl::string_view message) {
  std::vector<absl::string_view> symbols;
  WireReader reader(message);
  while (const int field = reader.Next()) {
    if (field != write2::kSymbol) {
      if (!reader.Skip()) return NotAMessage();
      continue;
    }
    if (symbols.size() == kMaxSymbols) {
      return absl::InvalidArgumentError(
          absl::StrCat("the request has more than ", kMaxSymbols, " symbols"));
    }
    if (!reader.ReadBytes(&symbols.emplace_back())) return NotAMessage();
  }
  if (!reader.AtEnd()) return NotAMessage();
  if (!symbols.empty() && !symbols.front().empty()) {
    return absl::InvalidArgumentError("the first symbol of a request must be empty");
  }
  return symbols;
}

absl::Status Read2(absl::string_view message, OnWrittenSeries on_series) {
  ASSIGN_OR_RETURN(const std::vector<absl::string_view> symbols, ReadSymbols(message));
  SeriesReader series_reader(symbols);
  const bool good = ForEachPart(message, write2::kSeries, [&](absl::string_view part) {
    WrittenSeries series;
    if (!series_reader.Read2(part, series)) return false;
    on_series(series);
    return true;
  });
  return good ? absl::OkStatus() : NotAMessage();
}

}  // namespace

absl::StatusOr<WriteVersion> WriteVersionOf(absl::string_view content_type,
                                            absl::string_view content_encoding) {
  if (!absl::EqualsIgnoreCase(content_encoding, "snappy")) {
    return absl::UnimplementedError(absl::StrCat(
        "content encoding ", promql::Quote(Abridged(content_encoding)), ", expected snappy"));
  }
  const auto parts = absl::StrSplit(content_type, ';');
  auto part = parts.begin();
  WriteVersion version = WriteVersion::k1;
  bool known = absl::EqualsIgnoreCase(absl::StripAsciiWhitespace(*part), "application/x-protobuf");
  for (++part; part != parts.end(); ++part) {
    absl::string_view parameter = absl::StripAsciiWhitespace(*part);
    if (!absl::StartsWithIgnoreCase(parameter, "proto=")) continue;
    parameter.remove_prefix(std::string("proto=").size());
    if (parameter == "io.prometheus.write.v2.Request") {
      version = WriteVersion::k2;
    } else if (parameter != "prometheus.WriteRequest") {
      known = false;
    }
  }
  if (known) return version;
  return absl::UnimplementedError(
      absl::StrCat("content type ", promql::Quote(Abridged(content_type)),
                   ", expected application/x-protobuf with proto=prometheus.WriteRequest or "
                   "proto=io.prometheus.write.v2.Request"));
}

absl::StatusOr<std::string> UncompressSnappy(absl::string_view body, size_t limit,
                                             absl::FunctionRef<bool(size_t)> has_room) {
  size_t size = 0;
  if (!snappy::GetUncompressedLength(body.data(), body.size(), &size)) {
    return absl::InvalidArgumentError("the body is not compressed with snappy");
  }
  if (size > limit) {
    return absl::ResourceExhaustedError(
        absl::StrCat("the request has ", size, " bytes, the limit is ", limit));
  }
  // No memory is taken for the stated size before the data are known to be valid.
  if (!snappy::IsValidCompressedBuffer(body.data(), body.size())) {
    return absl::InvalidArgumentError("the body is not compressed with snappy");
  }
  if (!has_room(size)) return absl::UnavailableError("there is no room for the request now");
  std::string message(size, '\0');
  if (!snappy::RawUncompress(body.data(), body.size(), message.data())) {
    return absl::InvalidArgumentError("the body is not compressed with snappy");
  }
  return message;
}

absl::Status ReadWriteRequest(WriteVersion version, absl::string_view message,
                              OnWrittenSeries on_series, OnFamily on_family) {
  if (message.size() > INT32_MAX) return NotAMessage();
  return version == WriteVersion::k1 ? Read1(message, on_series, on_family)
                                     : Read2(message, on_series);
}

absl::Status ReadKey(absl::string_view key, std::vector<LabelView>& labels) {
  labels.clear();
  WireReader reader(key);
  while (reader.Next() == write1::kLabel) {
    absl::string_view part;
    if (labels.size() == kMaxSentLabels) return TooManyLabels(kMaxSentLabels);
    if (!reader.ReadBytes(&part) || !ReadLabel(part, labels.emplace_back())) return NotAMessage();
  }
  return reader.AtEnd() ? absl::OkStatus() : NotAMessage();
}

namespace {

// Takes expected parts from the front of a key; its functions return false if something else is
// there.
class KeyTaker {
 public:
  explicit KeyTaker(absl::string_view key) : left_(key) {}
  bool Varint(size_t number) {
    for (; number >= 0x80; number >>= 7) {
      if (!Byte(static_cast<uint8_t>(number | 0x80))) return false;
    }
    return Byte(static_cast<uint8_t>(number));
  }
  bool Text(uint8_t tag, absl::string_view text) {
    return Byte(tag) && Varint(text.size()) && absl::ConsumePrefix(&left_, text);
  }
  bool Byte(uint8_t byte) {
    if (left_.empty() || static_cast<uint8_t>(left_.front()) != byte) return false;
    left_.remove_prefix(1);
    return true;
  }
  bool AtEnd() const { return left_.empty(); }

 private:
  absl::string_view left_;
};

size_t TextBytes(absl::string_view text) {
  size_t bytes = 2 + text.size();  // the tag and the last byte of the length
  for (size_t size = text.size(); size >= 0x80; size >>= 7) ++bytes;
  return bytes;
}

}  // namespace

bool IsKeyOf(absl::string_view key, const promql::Labels& labels) {
  constexpr auto tag = [](int field) { return static_cast<uint8_t>(field << 3 | 2); };
  KeyTaker taker(key);
  for (const auto& [name, value] : labels) {
    if (!taker.Byte(tag(write1::kLabel)) || !taker.Varint(TextBytes(name) + TextBytes(value)) ||
        !taker.Text(tag(write1::kName), name) || !taker.Text(tag(write1::kValue), value)) {
      return false;
    }
  }
  return taker.AtEnd();
}

absl::Status NormalizeLabels(std::vector<LabelView>& labels) {
  labels.erase(std::remove_if(labels.begin(), labels.end(),
                              [](const LabelView& label) { return label.value.empty(); }),
               labels.end());
  // This check comes first, since each series of a request may have a text of megabytes.
  if (labels.size() > kMaxLabels) return TooManyLabels(kMaxLabels);
  for (const auto& [name, value] : labels) {
    if (name.size() > kMaxLabelNameBytes || value.size() > kMaxLabelValueBytes) {
      return absl::OutOfRangeError(absl::StrCat(
          "label ", promql::Quote(name.substr(0, kMaxLabelNameBytes)), " is longer than ",
          kMaxLabelNameBytes, " bytes of name or ", kMaxLabelValueBytes, " bytes of value"));
    }
  }
  std::sort(labels.begin(), labels.end(),
            [](const LabelView& a, const LabelView& b) { return a.name < b.name; });
  bool named = false;
  for (size_t i = 0; i < labels.size(); ++i) {
    const auto& [name, value] = labels[i];
    if (name.empty()) return absl::InvalidArgumentError("a label has no name");
    if (!go::IsUtf8(name) || !go::IsUtf8(value)) {
      return absl::InvalidArgumentError(
          absl::StrCat("label ", promql::Quote(name), " is not UTF-8"));
    }
    if (i > 0 && labels[i - 1].name == name) {
      return absl::InvalidArgumentError(
          absl::StrCat("label ", promql::Quote(name), " is there twice"));
    }
    named = named || name == "__name__";
  }
  return named ? absl::OkStatus() : absl::InvalidArgumentError("a series has no __name__");
}

}  // namespace flyball::formats
