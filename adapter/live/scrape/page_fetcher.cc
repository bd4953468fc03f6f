#include "adapter/live/scrape/page_fetcher.h"

#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "adapter/live/formats/protobuf_exposition.h"
#include "adapter/live/formats/text.h"
#include "base/byte_budget.h"
#include "base/status_macros.h"
#include "http/client/transport.h"

namespace flyball::scrape {
namespace {

// Where the job sets no limit.
constexpr size_t kMaxBodyBytes = 256 << 20;

// The default list of Prometheus 3.15, with protobuf last, for servers that have nothing else: in
// text a series is recognised by the bytes that name it, which is faster here.
constexpr char kAccept[] =
    "application/openmetrics-text;version=1.0.0;escaping=allow-utf-8;q=0.7,"
    "application/openmetrics-text;version=0.0.1;q=0.6,"
    "text/plain;version=1.0.0;escaping=allow-utf-8;q=0.5,"
    "text/plain;version=0.0.4;q=0.4,"
    "application/vnd.google.protobuf;proto=io.prometheus.client.MetricFamily;encoding=delimited;"
    "q=0.35,*/*;q=0.3";

http::TransportOptions OptionsOf(const Job& job, const Target& target) {
  http::TransportOptions options = job.http;
  options.url = target.origin;
  options.leave_origin = !job.asked_for_by_pods;
  options.max_idle_connections = 1;
  return options;
}

http::HttpCall CallOf(const Job& job, const Target& target) {
  http::HttpCall call;
  call.target = target.path;
  call.timeout = target.timeout;
  call.max_body_bytes = job.limits.body_bytes > 0 ? job.limits.body_bytes : kMaxBodyBytes;
  call.headers = {
      {"Accept", kAccept},
      {"X-Prometheus-Scrape-Timeout-Seconds", absl::StrCat(absl::ToDoubleSeconds(target.timeout))}};
  if (!job.enable_compression) call.headers.emplace_back("Accept-Encoding", "identity");
  return call;
}

class HttpFetcher : public PageFetcher {
 public:
  HttpFetcher(std::unique_ptr<http::HttpTransport> transport, http::HttpCall call,
              std::shared_ptr<ByteBudget> budget)
      : transport_(std::move(transport)), call_(std::move(call)), budget_(std::move(budget)) {
    call_.admit = [this](size_t bytes) {
      has_room_ = memory_.GrowTo(bytes);
      return has_room_;
    };
  }

  absl::StatusOr<Page> Fetch() override {
    memory_ = ByteShare(budget_, kFreePageBytes);
    has_room_ = true;
    absl::StatusOr<http::HttpAnswer> answer = transport_->Do(call_);
    ByteShare memory = std::move(memory_);
    if (!has_room_) {
      return absl::UnavailableError(absl::StrCat("the pages that are being read take too much of ",
                                                 budget_->limit(), " bytes already"));
    }
    RETURN_IF_ERROR(answer.status());
    if (answer->status != 200) {
      return absl::UnavailableError(absl::StrCat("the target answers HTTP ", answer->status));
    }
    const PageFormat format = FormatOf(answer->Header("Content-Type"));
    return Page{std::move(answer->body), format, std::move(memory)};
  }
  void Shutdown() override { transport_->Shutdown(); }

 private:
  const std::unique_ptr<http::HttpTransport> transport_;
  http::HttpCall call_;
  const std::shared_ptr<ByteBudget> budget_;
  ByteShare memory_;  // of the fetch under way
  bool has_room_ = true;
};

}  // namespace

MakeFetcher FetchOverHttp(Clock& clock, PageMemory memory) {
  const auto of_pods = std::make_shared<NamespaceBudgets>(memory.asked_for_by_pods);
  const auto kept_for_pods = std::make_shared<NamespaceBudgets>(memory.kept_for_pods);
  const auto others = std::make_shared<ByteBudget>(memory.others);
  return [&clock, of_pods, kept_for_pods, others](
             const Job& job, const Target& target) -> absl::StatusOr<std::unique_ptr<PageFetcher>> {
    http::TransportOptions options = OptionsOf(job, target);
    if (job.asked_for_by_pods) {
      options.idle_memory = kept_for_pods->Of(NamespaceOf(job, target));
    }
    ASSIGN_OR_RETURN(auto transport, http::MakeHttpTransport(std::move(options), clock));
    return std::make_unique<HttpFetcher>(
        std::move(transport), CallOf(job, target),
        job.asked_for_by_pods ? of_pods->Of(NamespaceOf(job, target)) : others);
  };
}

PageFormat FormatOf(absl::string_view content_type) {
  const absl::string_view type =
      absl::StripAsciiWhitespace(content_type.substr(0, content_type.find(';')));
  if (absl::EqualsIgnoreCase(type, "application/openmetrics-text")) return PageFormat::kOpenMetrics;
  return absl::EqualsIgnoreCase(type, "application/vnd.google.protobuf") ? PageFormat::kProtobuf
                                                                         : PageFormat::kText;
}

absl::Status ParsePage(const Page& page, formats::ScrapeSink& sink) {
  switch (page.format) {
    case PageFormat::kProtobuf: return formats::ParseProtobufExposition(page.body, sink);
    case PageFormat::kOpenMetrics: return formats::ParseOpenMetrics(page.body, sink);
    case PageFormat::kText: break;
  }
  return formats::ParseText(page.body, sink);
}

}  // namespace flyball::scrape
