#include "adapter/live/scrape/page_fetcher.h"

#include <set>
#include <thread>

#include <gtest/gtest.h>

#include "absl/base/thread_annotations.h"
#include "absl/strings/str_cat.h"
#include "absl/synchronization/mutex.h"
#include "http/testing/test_pki.h"
#include "httplib.h"

namespace flyball::scrape {
namespace {

class PageFetcherTest : public testing::Test {
 protected:
  PageFetcherTest() : port_(server_.bind_to_any_port("127.0.0.1")) {
    thread_ = std::thread([this] { server_.listen_after_bind(); });
  }
  ~PageFetcherTest() override {
    server_.stop();
    thread_.join();
  }
  absl::StatusOr<Page> Fetch(const std::string& job_fields) {
    rules::Findings findings("f");
    const Config config =
        ReadScrapeConfig("scrape_configs:\n- job_name: web\n" + job_fields, findings);
    return Fetch(config.jobs.at(0));
  }
  // Whatever the job says of what is relabelled.
  absl::StatusOr<Page> Fetch(Job job, const MakeFetcher& make = FetchOverHttp(Clock::System())) {
    job.relabel_rules.clear();
    const promql::LabelSet of_pod = {{"namespace", ns_}};
    const auto target = MakeTarget(
        job, DiscoveredLabels(job, {{"__address__", absl::StrCat("127.0.0.1:", port_)}}, of_pod));
    auto fetcher = make(job, *target);
    if (!fetcher.ok()) return fetcher.status();
    return (*fetcher)->Fetch();
  }

  httplib::Server server_;
  const int port_;
  std::string ns_ = "shop";
  std::string elsewhere_;
  std::thread thread_;
};

TEST_F(PageFetcherTest, AsksAsPrometheusDoes) {
  httplib::Request seen;
  server_.Get("/m", [&](const httplib::Request& request, httplib::Response& response) {
    seen = request;
    response.set_content("# EOF\n", "application/openmetrics-text; version=1.0.0");
  });
  const auto page = Fetch(
      "  metrics_path: /m\n  params: {x: [y z]}\n  scrape_interval: 30s\n  scrape_timeout: "
      "20500ms\n"
      "  basic_auth: {username: u, password: p}\n  http_headers: {X-Scope: {values: [a]}}\n");
  ASSERT_TRUE(page.ok()) << page.status();
  EXPECT_EQ(page->format, PageFormat::kOpenMetrics);
  EXPECT_EQ(seen.get_param_value("x"), "y z");
  EXPECT_EQ(seen.get_header_value("X-Prometheus-Scrape-Timeout-Seconds"), "20.5");
  EXPECT_EQ(seen.get_header_value("Authorization"), "Basic dTpw");
  EXPECT_EQ(seen.get_header_value("X-Scope"), "a");
  EXPECT_EQ(seen.get_header_value("Accept-Encoding"), "gzip");
  EXPECT_EQ(seen.get_header_value("Accept").substr(0, 42),
            "application/openmetrics-text;version=1.0.0");
}

TEST_F(PageFetcherTest, AnswersThatAreNoPages) {
  server_.Get("/metrics", [](const httplib::Request&, httplib::Response& response) {
    response.set_redirect("/large");
  });
  server_.Get("/large", [](const httplib::Request&, httplib::Response& response) {
    response.set_content(std::string(2000, '#'), "text/plain");
  });
  EXPECT_TRUE(Fetch("").ok());
  EXPECT_EQ(Fetch("  body_size_limit: 1KB\n").status().code(),
            absl::StatusCode::kResourceExhausted);
  EXPECT_EQ(Fetch("  follow_redirects: false\n").status().message(), "the target answers HTTP 302");
  EXPECT_EQ(Fetch("  metrics_path: /none\n").status().message(), "the target answers HTTP 404");
}

TEST_F(PageFetcherTest, RedirectsOfPodsThatAskedStayWithThem) {
  server_.Get("/metrics", [&](const httplib::Request&, httplib::Response& response) {
    response.set_redirect(elsewhere_);
  });
  server_.Get("/page", [](const httplib::Request&, httplib::Response& response) {
    response.set_content("a 1\n", "text/plain");
  });
  Job job = AnnotatedPods(absl::Seconds(60));
  elsewhere_ = "/page";
  EXPECT_TRUE(Fetch(job).ok());
  elsewhere_ = absl::StrCat("http://localhost:", port_, "/page");
  EXPECT_EQ(Fetch(job).status().code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_TRUE(Fetch("").ok()) << "as Prometheus does by default";
}

TEST_F(PageFetcherTest, AllPagesTogetherTakeNoMoreThanTheirBudget) {
  server_.Get("/metrics", [](const httplib::Request&, httplib::Response& response) {
    response.set_content(std::string(1 << 20, '#'), "text/plain");
  });
  server_.Get("/small", [](const httplib::Request&, httplib::Response& response) {
    response.set_content(std::string(kFreePageBytes, '#'), "text/plain");
  });
  const MakeFetcher fetch =
      FetchOverHttp(Clock::System(), {.asked_for_by_pods = 5 << 18, .others = 1 << 19});
  const Job job = AnnotatedPods(absl::Seconds(60));
  {
    const auto first = Fetch(job, fetch);
    ASSERT_TRUE(first.ok()) << first.status();
    EXPECT_EQ(first->body.size(), 1u << 20);
    EXPECT_EQ(Fetch(job, fetch).status().message(),
              "the pages that are being read take too much of 1310720 bytes already");
    Job small = job;
    small.metrics_path = "/small";
    EXPECT_TRUE(Fetch(small, fetch).ok());
  }
  EXPECT_TRUE(Fetch(job, fetch).ok()) << "once the first one is gone";
  Job other;
  EXPECT_EQ(Fetch(other, fetch).status().code(), absl::StatusCode::kUnavailable);
}

TEST_F(PageFetcherTest, ThePagesOfOneNamespaceLeaveRoomForThoseOfOthers) {
  server_.Get("/metrics", [](const httplib::Request&, httplib::Response& response) {
    response.set_content(std::string(1 << 20, '#'), "text/plain");
  });
  const MakeFetcher fetch = FetchOverHttp(Clock::System(), {.asked_for_by_pods = 7 << 18});
  const Job job = AnnotatedPods(absl::Seconds(60));
  const auto first = Fetch(job, fetch);
  EXPECT_TRUE(first.ok()) << first.status();
  EXPECT_EQ(Fetch(job, fetch).status().code(), absl::StatusCode::kUnavailable);
  ns_ = "other";
  EXPECT_TRUE(Fetch(job, fetch).ok());
}

// A server of TLS that notes from which ports it is asked.
class TlsPods {
 public:
  TlsPods()
      : pair_(http::MakeTestPair({.common_name = "pod", .usage = "serverAuth"})),
        server_(pair_.certificate.get(), pair_.key.get()) {
    server_.Get("/metrics", [this](const httplib::Request& request, httplib::Response& response) {
      absl::MutexLock lock(&mutex_);
      peers_.insert(request.remote_port);
      response.set_content("a 1\n", "text/plain");
    });
    server_.set_keep_alive_max_count(100);
    server_.set_keep_alive_timeout(600);
    port_ = server_.bind_to_any_port("127.0.0.1");
    thread_ = std::thread([this] { server_.listen_after_bind(); });
  }
  ~TlsPods() {
    server_.stop();
    thread_.join();
  }

  absl::StatusOr<std::unique_ptr<PageFetcher>> FetcherOf(const std::string& ns,
                                                         const MakeFetcher& make) const {
    Job job = AnnotatedPods(absl::Seconds(60));
    job.relabel_rules.clear();
    job.scheme = "https";
    job.http.insecure_skip_verify = true;
    const auto target =
        MakeTarget(job, DiscoveredLabels(job, {{"__address__", absl::StrCat("127.0.0.1:", port_)}},
                                         {{"namespace", ns}}));
    return make(job, *target);
  }
  size_t peers() const {
    absl::MutexLock lock(&mutex_);
    return peers_.size();
  }

 private:
  const http::TestPair pair_;
  httplib::SSLServer server_;
  int port_ = 0;
  mutable absl::Mutex mutex_;
  std::set<int> peers_ ABSL_GUARDED_BY(mutex_);
  std::thread thread_;
};

// One pod may have 32 targets, and may show each time certificates that take 150 KiB while the
// connection is kept.
TEST(FetchOverHttpTest, ConnectionsToPodsAreKeptWithinABudget) {
  const TlsPods pods;
  const MakeFetcher make = FetchOverHttp(Clock::System(), {.kept_for_pods = 40 << 10});
  auto first = pods.FetcherOf("shop", make);
  ASSERT_TRUE(first.ok()) << first.status();
  const auto second = pods.FetcherOf("shop", make);
  const auto peers_of = [&pods](PageFetcher& fetcher) {
    const size_t before = pods.peers();
    for (int i = 0; i < 3; ++i) {
      const auto page = fetcher.Fetch();
      EXPECT_TRUE(page.ok()) << page.status();
    }
    return pods.peers() - before;
  };
  EXPECT_EQ(peers_of(**first), 1u);
  EXPECT_EQ(peers_of(**second), 3u) << "there is no memory for another connection";
  EXPECT_EQ(peers_of(**first), 0u);
  first->reset();
  EXPECT_EQ(peers_of(**second), 1u) << "once the first one is gone";
}

TEST(FormatOfTest, ByMediaType) {
  EXPECT_EQ(FormatOf("application/openmetrics-text; version=1.0.0"), PageFormat::kOpenMetrics);
  EXPECT_EQ(FormatOf("application/vnd.google.protobuf; proto=io.prometheus.client.MetricFamily; "
                     "encoding=delimited"),
            PageFormat::kProtobuf);
  EXPECT_EQ(FormatOf("text/plain; version=0.0.4"), PageFormat::kText);
  EXPECT_EQ(FormatOf(""), PageFormat::kText);
}

TEST(ParsePageTest, ByFormat) {
  struct Count : formats::ScrapeSink {
    void OnSample(const formats::ScrapedSample&) override { ++samples; }
    void OnMetadata(const formats::FamilyMetadata&) override {}
    int samples = 0;
  };
  // A counter `a` with one metric.
  const std::string protobuf("\x07\x0a\x01\x61\x22\x02\x1a\x00", 8);
  for (const Page& page :
       {Page{"a 1\n", PageFormat::kText}, Page{"a 1\n# EOF\n", PageFormat::kOpenMetrics},
        Page{protobuf, PageFormat::kProtobuf}}) {
    Count count;
    EXPECT_TRUE(ParsePage(page, count).ok());
    EXPECT_EQ(count.samples, 1);
  }
  Count count;
  EXPECT_FALSE(ParsePage({"a 1\n", PageFormat::kProtobuf}, count).ok());
}

}  // namespace
}  // namespace flyball::scrape
