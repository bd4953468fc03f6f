// Writes the whole store into a file, and reads it, so that samples survive a restart.
//
// Blocking I/O. The file is written under another name and renamed, so that there is always the old
// one or the new one. Series are written and read one after the other, with no more memory than a
// block of them takes.
//
//   "flyball samples 2\n"                 then blocks, each
//   bytes, crc32                          two uint32, of
//   kept selectors                        in the first block alone: their number, and of each since
//                                         when, the number of matchers, their texts and operators
//   series …                              each: the number of labels, their texts, the chunks
//   0, the number of series in the file   the end
//
// Numbers within a block are varints; texts and chunks have their length in front. Files of before,
// "flyball samples 1\n", have no selectors.
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

// Writes the file. Samples that arrive meanwhile may be in it or not. Returns the number of series.
// `kept`: what the store keeps, for whoever reads the file.
//   kUnavailable  the file can't be written; the message says why. What was there stays.
absl::StatusOr<size_t> WriteStoreFile(const Store& store, const std::string& path,
                                      const std::vector<KeptSelector>& kept = {});

struct LoadedSeries {
  size_t series = 0;    // that the store has now
  size_t outdated = 0;  // without a sample within the retention
  size_t refused = 0;   // by the store's limits, or because it has samples of them already
  std::vector<KeptSelector> kept;  // as it was written
  // OK, or kDataLoss with what is wrong with the file, and where. The rest of it was read.
  absl::Status damage;
};

// Puts the series of the file into the store.
//   kNotFound          there is no such file
//   kUnavailable       it can't be read
//   kInvalidArgument   it is none of these files
absl::StatusOr<LoadedSeries> LoadStoreFile(const std::string& path, int64_t now_ms, Store& store);

// The same of a file that is open, in which `what` names it in messages.
absl::StatusOr<LoadedSeries> LoadStoreFile(std::FILE* file, absl::string_view what, int64_t now_ms,
                                           Store& store);

}  // namespace flyball::live
