// How the page of a target is got.
//
// A fetcher is used by one thread at a time, but for Shutdown.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "adapter/live/formats/samples.h"
#include "adapter/live/scrape/byte_budget.h"
#include "adapter/live/scrape/targets.h"
#include "base/clock.h"

namespace flyball::scrape {

enum class PageFormat { kText, kOpenMetrics, kProtobuf };

struct Page {
  std::string body;  // gzip undone
  PageFormat format = PageFormat::kText;
  ByteShare memory{};  // that the body takes
};

class PageFetcher {
 public:
  virtual ~PageFetcher() = default;
  // Within the target's timeout.
  //   kResourceExhausted  the page is larger than body_size_limit
  //   kUnavailable        there is no page, or no memory for it among those that are there
  virtual absl::StatusOr<Page> Fetch() = 0;
  // Ends the fetch under way, and those to come. From any thread.
  virtual void Shutdown() = 0;
};

using MakeFetcher =
    std::function<absl::StatusOr<std::unique_ptr<PageFetcher>>(const Job&, const Target&)>;

// What all pages take that are there at once, but for the first kFreePageBytes of each: those of
// jobs that pods have asked for, and those of all others.
struct PageMemory {
  size_t asked_for_by_pods = 64 << 20;
  size_t others = 256 << 20;
};
inline constexpr size_t kFreePageBytes = 256 << 10;

// Over HTTP, with a connection that is kept. The clock outlives what it makes.
MakeFetcher FetchOverHttp(Clock& clock, PageMemory memory = {});

// The format that the value of a Content-Type header names; of one that no parser is for, text, as
// most servers that are careless about it send.
PageFormat FormatOf(absl::string_view content_type);

absl::Status ParsePage(const Page& page, formats::ScrapeSink& sink);

}  // namespace flyball::scrape
