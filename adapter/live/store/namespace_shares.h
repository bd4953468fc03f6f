// How many series each namespace has of those that anybody may have scraped, and whether it may
// have another one: a namespace must leave room for the others.
//
// Pure; not thread-safe. Memory: an entry for each namespace that has such series.
#pragma once

#include <cstddef>
#include <string>

#include "absl/container/flat_hash_map.h"
#include "absl/strings/string_view.h"
#include "promql/labels.h"

namespace flyball::live {

class NamespaceShares {
 public:
  // A namespace may have at most this many times the series that there is room left for, and as
  // many times the bytes, without samples. So one alone takes four fifths of all.
  static constexpr size_t kShareOfRoom = 4;
  // A namespace whose series take less than this part of all bytes gets another one even if the
  // samples of others take all of them.
  static constexpr size_t kSmallPart = 64;

  static absl::string_view NamespaceOf(const promql::Labels& labels) {
    return labels.Get("namespace");
  }

  bool HasRoomForSeries(absl::string_view ns, size_t series_left) const {
    return Of(ns).series < kShareOfRoom * series_left;
  }
  bool HasRoomForBytes(absl::string_view ns, size_t bytes_left) const {
    return Of(ns).bytes < kShareOfRoom * bytes_left;
  }
  bool IsSmall(absl::string_view ns, size_t max_bytes) const {
    return Of(ns).bytes < max_bytes / kSmallPart;
  }

  void Add(absl::string_view ns, size_t bytes) {
    Share& share = shares_[ns];
    ++share.series;
    share.bytes += bytes;
  }
  void Remove(absl::string_view ns, size_t bytes) {
    const auto found = shares_.find(ns);
    found->second.bytes -= bytes;
    if (--found->second.series == 0) shares_.erase(found);
  }

 private:
  struct Share {
    size_t series = 0;
    size_t bytes = 0;  // without samples
  };
  Share Of(absl::string_view ns) const {
    const auto found = shares_.find(ns);
    return found == shares_.end() ? Share() : found->second;
  }

  absl::flat_hash_map<std::string, Share> shares_;
};

}  // namespace flyball::live
