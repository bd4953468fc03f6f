// Fetches the page of a target.
//
// A fetcher is used by one thread at a time, except for Shutdown.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "adapter/live/formats/samples.h"
#include "adapter/live/scrape/targets.h"
#include "base/byte_budget.h"
#include "base/clock.h"

namespace flyball::scrape {

enum class PageFormat { kText, kOpenMetrics, kProtobuf };

struct Page {
  std::string body;  // uncompressed
  PageFormat format = PageFormat::kText;
  ByteShare memory{};  // accounts for the body
};

class PageFetcher {
 public:
  virtual ~PageFetcher() = default;
  // Within the target's timeout.
  //   kResourceExhausted  the page is larger than body_size_limit
  //   kUnavailable        there is no page, or all pages together would take too much memory
  virtual absl::StatusOr<Page> Fetch() = 0;
  // Ends the fetch under way, and makes later ones fail. May be called from any thread.
  virtual void Shutdown() = 0;
};

using MakeFetcher =
    std::function<absl::StatusOr<std::unique_ptr<PageFetcher>>(const Job&, const Target&)>;

// The most memory that all pages may take at the same time, not counting the first kFreePageBytes
// of each: for jobs that pods have asked for, and for all others. For the former it includes the
// connections that are kept until the next page, and no namespace gets all of it. Plain connections
// take next to nothing.
struct PageMemory {
  size_t asked_for_by_pods = 64 << 20;
  size_t others = 256 << 20;
  size_t kept_for_pods = 8 << 20;
};
inline constexpr size_t kFreePageBytes = 256 << 10;

// Fetches over HTTP, with a connection that is kept if there is memory for it. The clock outlives
// the result and its fetchers.
MakeFetcher FetchOverHttp(Clock& clock, PageMemory memory = {});

// The format in the value of a Content-Type header. An unknown one counts as text, which most
// servers with a wrong header send.
PageFormat FormatOf(absl::string_view content_type);

absl::Status ParsePage(const Page& page, formats::ScrapeSink& sink);

}  // namespace flyball::scrape
