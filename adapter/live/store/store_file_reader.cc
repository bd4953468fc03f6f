#include <cerrno>
#include <cstring>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "adapter/live/store/bytes.h"
#include "adapter/live/store/store_file.h"
#include "adapter/live/store/store_file_format.h"
#include "adapter/live/store/times.h"

namespace flyball::live {
namespace {

// Parses a block. Every length is checked against the bytes that are left.
class BlockReader {
 public:
  explicit BlockReader(absl::Span<const uint8_t> block)
      : at_(block.data()), end_(block.data() + block.size()) {}

  bool done() const { return at_ == end_; }

  std::optional<uint64_t> Number() {
    uint64_t number = 0;
    const uint8_t* const next = GetVarint(at_, end_, &number);
    if (next == nullptr) return std::nullopt;
    at_ = next;
    return number;
  }

  std::optional<absl::Span<const uint8_t>> Bytes() {
    const std::optional<uint64_t> size = Number();
    if (!size || *size > static_cast<uint64_t>(end_ - at_)) return std::nullopt;
    const absl::Span<const uint8_t> bytes(at_, *size);
    at_ += *size;
    return bytes;
  }

  std::optional<absl::string_view> Text() {
    const auto bytes = Bytes();
    if (!bytes) return std::nullopt;
    return absl::string_view(reinterpret_cast<const char*>(bytes->data()), bytes->size());
  }

  // nullopt also for names that are not in their order, or empty values.
  std::optional<promql::Labels> ReadLabels() {
    const std::optional<uint64_t> count = Number();
    if (!count) return std::nullopt;
    std::string encoded;
    absl::string_view before;
    for (uint64_t i = 0; i < *count; ++i) {
      const auto name = Text();
      if (!name || *name <= before) return std::nullopt;
      const auto value = Text();
      if (!value || value->empty()) return std::nullopt;
      promql::AppendLabel(*name, *value, &encoded);
      before = *name;
    }
    return promql::Labels::FromEncoded(encoded);
  }

  std::optional<std::vector<KeptSelector>> ReadKept() {
    const std::optional<uint64_t> count = Number();
    if (!count) return std::nullopt;
    std::vector<KeptSelector> kept;
    for (uint64_t i = 0; i < *count; ++i) {
      const auto since_ms = Number();
      auto selector = ReadSelector();
      if (!since_ms || !selector) return std::nullopt;
      kept.push_back({*std::move(selector), static_cast<int64_t>(*since_ms)});
    }
    return kept;
  }

 private:
  std::optional<Selector> ReadSelector() {
    const std::optional<uint64_t> count = Number();
    if (!count) return std::nullopt;
    Selector selector;
    for (uint64_t i = 0; i < *count; ++i) {
      using Op = promql::Matcher::Op;
      const auto label = Text();
      const auto op = Number();
      const auto value = Text();
      if (!label || !op || *op > static_cast<uint64_t>(Op::kNotRegex) || !value) {
        return std::nullopt;
      }
      auto matcher = promql::Matcher::Make(*label, static_cast<Op>(*op), *value);
      if (!matcher.ok()) return std::nullopt;
      selector.push_back(*std::move(matcher));
    }
    return selector;
  }

  const uint8_t* at_;
  const uint8_t* end_;
};

class StoreFileReader {
 public:
  StoreFileReader(std::FILE* file, absl::string_view what, bool has_selectors, int64_t now_ms,
                  Store& store)
      : file_(file),
        what_(what),
        selectors_are_next_(has_selectors),
        oldest_ms_(Earlier(now_ms, store.options().retention_ms)),
        store_(store) {}

  LoadedSeries Read() {
    while (ReadBlock()) {
    }
    return std::move(loaded_);
  }

 private:
  // False once there are no more.
  bool ReadBlock() {
    const bool has_selectors = std::exchange(selectors_are_next_, false);
    BlockFrame frame;
    if (std::fread(&frame, sizeof frame, 1, file_) != 1) return Damaged("ends too soon");
    const size_t at = at_;
    at_ += sizeof frame + frame.bytes;
    if (frame.bytes == 0) {
      // If there was damage, it has been reported already.
      if (loaded_.damage.ok() && frame.check != read_) Damaged("lacks series that it had", at);
      return false;
    }
    if (frame.bytes > kMaxBlockBytesInFile) return Damaged("has a block of no possible size", at);
    block_.resize(frame.bytes);
    if (std::fread(block_.data(), 1, block_.size(), file_) != block_.size()) {
      return Damaged("ends too soon", at);
    }
    if (Crc32(block_.data(), block_.size()) != frame.check) {
      Damaged("has a block with a wrong checksum", at);
      return true;  // the next one begins where this one ends
    }
    BlockReader reader(block_);
    while (!reader.done()) {
      if (!(has_selectors ? ReadKept(reader) : ReadSeries(reader))) {
        Damaged("has a block that can't be read", at);
        break;
      }
    }
    return true;
  }

  bool ReadKept(BlockReader& reader) {
    auto kept = reader.ReadKept();
    if (!kept) return false;
    loaded_.kept = *std::move(kept);
    return true;
  }

  bool ReadSeries(BlockReader& reader) {
    const std::optional<promql::Labels> labels = reader.ReadLabels();
    if (!labels) return false;
    const auto chunks = reader.Bytes();
    if (!chunks) return false;
    ++read_;
    SeriesSamples samples;
    if (!samples.AdoptChunks(*chunks)) return false;
    if (samples.last_ms() < oldest_ms_) {
      ++loaded_.outdated;
    } else if (store_.Restore(*labels, std::move(samples)).ok()) {
      ++loaded_.series;
    } else {
      ++loaded_.refused;
    }
    return true;
  }

  bool Damaged(absl::string_view how) { return Damaged(how, at_); }
  bool Damaged(absl::string_view how, size_t at) {
    if (loaded_.damage.ok()) {
      loaded_.damage = absl::DataLossError(absl::StrCat(what_, ": ", how, ", at byte ", at));
    }
    return false;
  }

  std::FILE* const file_;
  const absl::string_view what_;
  bool selectors_are_next_;
  const int64_t oldest_ms_;
  Store& store_;
  size_t at_ = kStoreFileMagic.size();
  uint32_t read_ = 0;  // series
  std::vector<uint8_t> block_;
  LoadedSeries loaded_;
};

}  // namespace

absl::StatusOr<LoadedSeries> LoadStoreFile(std::FILE* file, absl::string_view what, int64_t now_ms,
                                           Store& store) {
  std::string magic(kStoreFileMagic.size(), '\0');
  if (std::fread(magic.data(), 1, magic.size(), file) != magic.size() ||
      (magic != kStoreFileMagic && magic != kMagicWithoutSelectors)) {
    return absl::InvalidArgumentError(absl::StrCat(what, ": is no file of samples"));
  }
  return StoreFileReader(file, what, magic == kStoreFileMagic, now_ms, store).Read();
}

absl::StatusOr<LoadedSeries> LoadStoreFile(const std::string& path, int64_t now_ms, Store& store) {
  const std::unique_ptr<std::FILE, CloseFile> file(std::fopen(path.c_str(), "rbe"));
  if (file == nullptr) {
    const std::string text = absl::StrCat(path, ": cannot be read: ", std::strerror(errno));
    return errno == ENOENT ? absl::NotFoundError(text) : absl::UnavailableError(text);
  }
  return LoadStoreFile(file.get(), path, now_ms, store);
}

}  // namespace flyball::live
