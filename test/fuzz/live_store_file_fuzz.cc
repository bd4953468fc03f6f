// links: live_store
//
// A file of samples, and a block of one with the right checksum around it, of selectors and of
// series: what is read is in the store, in label order, and within its limits.
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>

#include "adapter/live/store/store_file.h"
#include "adapter/live/store/store_file_format.h"

namespace {

using namespace flyball::live;  // NOLINT: one program

void Require(bool holds) {
  if (!holds) std::abort();
}

void Load(std::string bytes) {
  Store store({.max_series = 50});
  std::FILE* const file = fmemopen(bytes.data(), bytes.size(), "rb");
  if (file == nullptr) return;
  const auto loaded = LoadStoreFile(file, "file", 0, store);
  std::fclose(file);
  if (!loaded.ok()) return;
  Require(store.counts().series <= 50);
  // A series that had samples before is refused, one without any is of no use.
  Require(loaded->series <= store.counts().series);
  const auto selected = store.Select({});
  for (size_t i = 1; i < selected.size(); ++i) {
    Require(selected[i - 1]->labels() < selected[i]->labels());
  }
}

void Append(BlockFrame frame, std::string& bytes) {
  bytes.append(reinterpret_cast<const char*>(&frame), sizeof frame);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size == 0 || size > 1 << 20) return 0;
  Load({reinterpret_cast<const char*>(data), size});
  for (const absl::string_view magic : {kStoreFileMagic, kMagicWithoutSelectors}) {
    std::string framed(magic);
    Append({.bytes = static_cast<uint32_t>(size), .check = Crc32(data, size)}, framed);
    framed.append(reinterpret_cast<const char*>(data), size);
    Append({.check = 1}, framed);
    Load(std::move(framed));
  }
  return 0;
}
