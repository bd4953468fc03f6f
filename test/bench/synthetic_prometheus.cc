// A Prometheus in appearance only, for scaler_loop.py: more changing samples a second than a real
// one could give beside the program that is measured. What it answers is rendered once; a query
// costs a copy and new numbers.
//
//   synthetic_prometheus PORT NAMESPACES APPS PODS
//
// Namespace `ns-III` has APPS apps `web-IIII`, each with PODS pods `web-IIII-x000J` of one
// container `main`. Series, told apart by name and by the equality matchers `namespace` and
// `queue`, the latter also with several values (`=~`):
//   container_cpu, container_memory  one for each pod
//   queue_len                        one for each app
// A query that names cpu and memory is answered with what it names first: each pod has both.
// Samples have the labels that their sums are grouped by. Values keep within 4 % of 0.05 cores, 64
// MiB and PODS * 10. They change each second, all of them, until POST /still, and again from POST
// /changing. From POST /slow?every=N on each queue changes every N seconds, as many of them in each
// second, and nothing else.
#include <httplib.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

namespace {

// What never changes of an answer: before each sample's time.
using Body = std::vector<std::string>;

constexpr char kBegin[] = R"({"status":"success","data":{"resultType":"vector","result":[)";

struct Shape {
  int namespaces, apps, pods;
};

std::string Padded(const char* format, int number) {
  char text[32];
  std::snprintf(text, sizeof text, format, number);
  return text;
}

void AddSample(const std::string& labels, Body& body) {
  body.push_back((body.empty() ? "" : ",") + (R"({"metric":{)" + labels + R"(},"value":[)"));
}

Body PodsOfNamespace(const Shape& shape) {
  Body body;
  for (int app = 0; app < shape.apps; ++app) {
    for (int pod = 0; pod < shape.pods; ++pod) {
      AddSample(R"("container":"main","pod":"web-)" + Padded("%04d", app) + "-x" +
                    Padded("%04d", pod) + "\"",
                body);
    }
  }
  return body;
}

Body Queues(const std::vector<std::string>& names) {
  Body body;
  for (const std::string& name : names) AddSample(R"("queue":")" + name + "\"", body);
  return body;
}

// The values of a matcher `=` or `=~` with names only; none without one.
std::vector<std::string> Matchers(const std::string& query, const std::string& label) {
  size_t at = query.find(label + "=\"");
  size_t begin = at + label.size() + 2;
  if (at == std::string::npos) {
    at = query.find(label + "=~\"");
    begin = at + label.size() + 3;
  }
  std::vector<std::string> values;
  if (at == std::string::npos) return values;
  const size_t end = query.find('"', begin);
  while (begin <= end) {
    const size_t stop = std::min(query.find('|', begin), end);
    values.push_back(query.substr(begin, stop - begin));
    begin = stop + 1;
  }
  return values;
}

std::string Matcher(const std::string& query, const std::string& label) {
  const std::vector<std::string> values = Matchers(query, label);
  return values.empty() ? "" : values[0];
}

class Synthetic {
 public:
  explicit Synthetic(const Shape& shape) : shape_(shape), pods_(PodsOfNamespace(shape)) {}

  void Change(bool changing) {
    changing_ = changing;
    every_ = 0;
  }
  void ChangeSlowly(size_t every) {
    changing_ = false;
    slow_since_ = Now();
    every_ = every;
  }
  uint64_t queries() const { return queries_; }

  std::string Answer(const std::string& query) {
    ++queries_;
    const double seconds = Now();
    if (changing_) tick_ = static_cast<int64_t>(seconds);
    const std::string ns = Matcher(query, "namespace");
    const int index = ns.size() > 3 ? std::atoi(ns.c_str() + 3) : -1;
    if (query.find("queue_len") != std::string::npos) {
      const std::vector<std::string> queues = Matchers(query, "queue");
      std::vector<size_t> seeds;
      for (const std::string& queue : queues) {
        seeds.push_back(std::hash<std::string>()(ns + queue));
      }
      return Filled(Queues(queues), seconds, 10.0 * shape_.pods, seeds, every_);
    }
    const size_t cpu_at = query.find("container_cpu"), memory_at = query.find("container_memory");
    const bool cpu = cpu_at < memory_at;
    if (cpu_at == memory_at || index < 0 || index >= shape_.namespaces) return Empty();
    return Filled(pods_, seconds, cpu ? 0.05 : 64.0 * (1 << 20),
                  {static_cast<size_t>(index) * 7919}, 0);
  }

  std::string Series(const std::string& selector) const {
    std::string text;
    if (selector.find("queue") != std::string::npos) {
      for (int ns = 0; ns < shape_.namespaces; ++ns) {
        text += (ns == 0 ? "" : ",") +
                (R"({"__name__":"queue_len","namespace":"ns-)" + Padded("%03d", ns)) +
                R"(","queue":"web-0000"})";
      }
    }
    return R"({"status":"success","data":[)" + text + "]}";
  }

 private:
  static double Now() {
    return std::chrono::duration<double>(std::chrono::system_clock::now().time_since_epoch())
        .count();
  }

  static std::string Empty() { return std::string(kBegin) + "]}}"; }

  // `seeds`: of each sample, or one that neighbours count up from.
  // `every`: after how many seconds each of them changes, beside all others; 0: never.
  std::string Filled(const Body& body, double seconds, double middle,
                     const std::vector<size_t>& seeds, size_t every) const {
    std::string text = kBegin;
    char number[40];
    std::snprintf(number, sizeof number, "%.3f,\"", seconds);
    const std::string time = number;
    const int64_t tick = tick_;
    const size_t slow = every == 0 ? 0 : static_cast<size_t>(seconds - slow_since_);
    for (size_t i = 0; i < body.size(); ++i) {
      // Neighbours in time and place differ; all within 4 % of the middle.
      const size_t seed = seeds.size() == 1 ? seeds[0] + i * 31 : seeds[i];
      const size_t slow_changes = every == 0 ? 0 : (slow + seed % every) / every;
      const size_t changes = static_cast<size_t>(tick) + slow_changes;
      const double swing = static_cast<double>((seed + changes * 17) % 800) / 10000 - 0.04;
      std::snprintf(number, sizeof number, "%.6f\"]}", middle * (1 + swing));
      text += body[i] + time;
      text += number;
    }
    text += "]}}";
    return text;
  }

  const Shape shape_;
  const Body pods_;  // of any namespace
  std::atomic<bool> changing_ = true;
  std::atomic<size_t> every_ = 0;
  std::atomic<double> slow_since_ = 0;
  std::atomic<int64_t> tick_ = 0;
  std::atomic<uint64_t> queries_ = 0;
};

void Route(httplib::Server& server, Synthetic& data) {
  const auto query = [&data](const httplib::Request& request, httplib::Response& response) {
    response.set_content(data.Answer(request.get_param_value("query")), "application/json");
  };
  const auto series = [&data](const httplib::Request& request, httplib::Response& response) {
    response.set_content(data.Series(request.get_param_value("match[]")), "application/json");
  };
  server.Get("/api/v1/query", query);
  // The library refuses forms and targets beyond 8 KiB; the names of a namespace's pods take more.
  server.Post("/api/v1/query", [&data](const httplib::Request&, httplib::Response& response,
                                       const httplib::ContentReader& read) {
    std::string form;
    read([&form](const char* bytes, size_t count) {
      form.append(bytes, count);
      return true;
    });
    const size_t begin = form.find("query=") + 6;
    const std::string text = form.substr(begin, form.find('&', begin) - begin);
    response.set_content(data.Answer(httplib::detail::decode_url(text, true)), "application/json");
  });
  server.Get("/api/v1/series", series);
  server.Post("/api/v1/series", series);
  server.Get("/queries", [&data](const httplib::Request&, httplib::Response& response) {
    response.set_content(std::to_string(data.queries()), "text/plain");
  });
  server.Post("/still",
              [&data](const httplib::Request&, httplib::Response&) { data.Change(false); });
  server.Post("/changing",
              [&data](const httplib::Request&, httplib::Response&) { data.Change(true); });
  server.Post("/slow", [&data](const httplib::Request& request, httplib::Response&) {
    data.ChangeSlowly(std::strtoul(request.get_param_value("every").c_str(), nullptr, 10));
  });
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 5) {
    std::fputs("usage: synthetic_prometheus PORT NAMESPACES APPS PODS\n", stderr);
    return 2;
  }
  Synthetic data({std::atoi(argv[2]), std::atoi(argv[3]), std::atoi(argv[4])});
  httplib::Server server;
  server.new_task_queue = [] {
    return new httplib::ThreadPool(128);
  };  // each kept connection holds a thread
  server.set_keep_alive_max_count(1u << 30);
  server.set_tcp_nodelay(true);
  Route(server, data);
  return server.listen("127.0.0.1", std::atoi(argv[1])) ? 0 : 1;
}
