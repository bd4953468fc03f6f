// Writes the whole store to a file, and reads it back, so that samples survive a restart.
//
// Blocking I/O. The file is written under another name and renamed, so that there is always either
// the old or the new one. Series are written and read one after the other, with no more memory than
// a block of them takes.
//
//   "flyball samples 2\n"                 then blocks, each
//   bytes, crc32                          two uint32, of
//   kept selectors                        in the first block alone: their number, and of each since
//                                         when, the number of matchers, their texts and operators
//   series …                              each: the number of labels, their texts, the chunks
//   0, the number of series in the file   the end
//
// Numbers within a block are varints; texts and chunks are preceded by their length. Files of the
// earlier version, "flyball samples 1\n", have no selectors.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "adapter/live/store/selector_table.h"
#include "adapter/live/store/store.h"

namespace flyball::live {

// Writes the file. Samples that arrive meanwhile may or may not be in it. Returns the number of
// series. `kept`: the selectors that the store keeps, for the reader of the file.
//   kUnavailable  the file can't be written; the message says why. The old file stays.
absl::StatusOr<size_t> WriteStoreFile(const Store& store, const std::string& path,
                                      const std::vector<KeptSelector>& kept = {});

struct LoadedSeries {
  size_t series = 0;    // series that the store now has
  size_t outdated = 0;  // without a sample within the retention
  size_t refused = 0;   // by the store's limits, or because it already has samples of them
  std::vector<KeptSelector> kept;  // as written
  // OK, or kDataLoss with what is wrong with the file, and where. The rest of it was read.
  absl::Status damage;
};

// Puts the series of the file into the store.
//   kNotFound          there is no such file
//   kUnavailable       it can't be read
//   kInvalidArgument   it has another format
absl::StatusOr<LoadedSeries> LoadStoreFile(const std::string& path, int64_t now_ms, Store& store);

// Does the same for an open file, which `what` names in messages.
absl::StatusOr<LoadedSeries> LoadStoreFile(std::FILE* file, absl::string_view what, int64_t now_ms,
                                           Store& store);

}  // namespace flyball::live
