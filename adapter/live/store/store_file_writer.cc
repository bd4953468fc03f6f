#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <memory>
#include <vector>

#include "absl/cleanup/cleanup.h"
#include "absl/strings/str_cat.h"
#include "adapter/live/store/bytes.h"
#include "adapter/live/store/store_file.h"
#include "adapter/live/store/store_file_format.h"

namespace flyball::live {
namespace {

using Bytes = std::vector<uint8_t>;

absl::Status CannotWrite(const std::string& path) {
  return absl::UnavailableError(absl::StrCat(path, ": cannot be written: ", std::strerror(errno)));
}

void AppendVarint(uint64_t number, Bytes& bytes) {
  uint8_t varint[kMaxVarintBytes];
  bytes.insert(bytes.end(), varint, PutVarint(varint, number));
}

void AppendText(absl::string_view text, Bytes& bytes) {
  AppendVarint(text.size(), bytes);
  bytes.insert(bytes.end(), text.begin(), text.end());
}

// False: it has no samples, or too many, and nothing is written.
bool AppendSeries(const StoredSeries& series, Bytes& chunks, Bytes& block) {
  chunks.clear();
  series.AppendChunksTo(chunks);
  if (chunks.empty() || chunks.size() > kMaxSeriesFileBytes) return false;
  const promql::Labels& labels = series.labels();
  AppendVarint(static_cast<uint64_t>(std::distance(labels.begin(), labels.end())), block);
  for (const auto& [name, value] : labels) {
    AppendText(name, block);
    AppendText(value, block);
  }
  AppendVarint(chunks.size(), block);
  block.insert(block.end(), chunks.begin(), chunks.end());
  return true;
}

Bytes BlockOf(const std::vector<KeptSelector>& kept) {
  Bytes block;
  AppendVarint(kept.size(), block);
  for (const KeptSelector& one : kept) {
    AppendVarint(static_cast<uint64_t>(one.since_ms), block);
    AppendVarint(one.selector.size(), block);
    for (const promql::Matcher& matcher : one.selector) {
      AppendText(matcher.label(), block);
      AppendVarint(static_cast<uint64_t>(matcher.op()), block);
      AppendText(matcher.value(), block);
    }
  }
  return block;
}

bool WriteFrame(BlockFrame frame, std::FILE* file) {
  return std::fwrite(&frame, sizeof frame, 1, file) == 1;
}

bool WriteBlock(const Bytes& block, std::FILE* file) {
  return WriteFrame({.bytes = static_cast<uint32_t>(block.size()),
                     .check = Crc32(block.data(), block.size())},
                    file) &&
         std::fwrite(block.data(), 1, block.size(), file) == block.size();
}

// nullopt: the system refused, errno says why.
std::optional<size_t> WriteAll(const std::vector<KeptSelector>& kept, const Store& store,
                               std::FILE* file) {
  if (std::fwrite(kStoreFileMagic.data(), kStoreFileMagic.size(), 1, file) != 1)
    return std::nullopt;
  if (!WriteBlock(BlockOf(kept), file)) return std::nullopt;
  size_t written = 0;
  Bytes chunks, block;
  for (const auto& series : store.All()) {
    written += AppendSeries(*series, chunks, block) ? 1 : 0;
    if (block.size() < kFullBlockBytes) continue;
    if (!WriteBlock(block, file)) return std::nullopt;
    block.clear();
  }
  if (!block.empty() && !WriteBlock(block, file)) return std::nullopt;
  if (!WriteFrame({.check = static_cast<uint32_t>(written)}, file)) return std::nullopt;
  return written;
}

// A rename is on the disk once its folder is.
bool SyncFolderOf(const std::string& path) {
  const size_t slash = path.rfind('/');
  const std::string folder = slash == std::string::npos ? "." : path.substr(0, slash + 1);
  const int fd = open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (fd < 0) return false;
  const bool synced = fsync(fd) == 0;
  close(fd);
  return synced;
}

}  // namespace

absl::StatusOr<size_t> WriteStoreFile(const Store& store, const std::string& path,
                                      const std::vector<KeptSelector>& kept) {
  const std::string beside = path + ".new";
  std::unique_ptr<std::FILE, CloseFile> file(std::fopen(beside.c_str(), "wbe"));
  if (file == nullptr) return CannotWrite(beside);
  absl::Cleanup forget = [&beside] { unlink(beside.c_str()); };
  const std::optional<size_t> written = WriteAll(kept, store, file.get());
  if (!written || std::fflush(file.get()) != 0 || fsync(fileno(file.get())) != 0) {
    return CannotWrite(beside);
  }
  if (std::fclose(file.release()) != 0) return CannotWrite(beside);
  if (std::rename(beside.c_str(), path.c_str()) != 0) return CannotWrite(path);
  std::move(forget).Cancel();
  if (!SyncFolderOf(path)) return CannotWrite(path);
  return *written;
}

}  // namespace flyball::live
