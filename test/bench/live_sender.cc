// Sends samples by remote write 1.0, for live.py: the same series and values to whoever takes them.
//
//   live_sender URL TOKEN SERIES FROM_MS STEP_MS STEPS THREADS
//
// Each series has one sample each STEP_MS, STEPS in all, as fast as they are taken: requests of
// 2,000 samples of one moment, as Prometheus sends them. A thread has its own series, so that
// samples stay in order. Certificates are not verified. TOKEN "" is none. Prints one line of JSON.
#include <httplib.h>
#include <snappy.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <thread>
#include <vector>

#include "absl/strings/str_cat.h"
#include "adapter/live/formats/testing/write_request.h"
#include "test/bench/series_kinds.h"

namespace {

using flyball::formats::Message;

constexpr int kSamplesOfRequest = 2000;

struct Task {
  std::string origin, path, token;
  int series = 0;
  int64_t from_ms = 0, step_ms = 0;
  int steps = 0, threads = 0;
};

struct Sent {
  std::atomic<int64_t> samples = 0, requests = 0, failed = 0;
  std::string first_failure;
};

// The labels of a series, as a part of its message.
std::string LabelsOf(int series) {
  const int pod = series / 100;
  Message message;
  const auto label = [&message](const char* name, const std::string& value) {
    message.Add(1, Message().Bytes(1, name).Bytes(2, value));
  };
  label("__name__", "http_requests_total");
  label("code", absl::StrCat(200 + series % 5));
  label("container", "server");
  label("handler", absl::StrCat("/api/v1/things/", series % 100));
  label("instance", absl::StrCat("10.1.", pod / 250, ".", pod % 250, ":8080"));
  label("job", "kubernetes-pods");
  label("namespace", absl::StrCat("team-", pod % 20));
  label("pod", absl::StrCat("checkout-7d4b9c6f5d-", pod));
  return message.bytes();
}

// The series of one thread: from `first` on each `threads`-th.
void Send(const Task& task, int first, Sent& sent) {
  httplib::Client client(task.origin);
  client.enable_server_certificate_verification(false);
  client.set_keep_alive(true);
  client.set_tcp_nodelay(true);
  httplib::Headers headers = {{"Content-Encoding", "snappy"},
                              {"X-Prometheus-Remote-Write-Version", "0.1.0"}};
  if (!task.token.empty()) headers.emplace("Authorization", "Bearer " + task.token);
  std::vector<int> series;
  std::vector<std::string> labels;
  std::vector<double> values;
  for (int i = first; i < task.series; i += task.threads) {
    series.push_back(i);
    labels.push_back(LabelsOf(i));
    values.push_back(static_cast<double>(i % 1000) * 4096);
  }
  flyball::bench::Random random(static_cast<uint64_t>(first + 1));
  std::string body;
  for (int step = 0; step < task.steps; ++step) {
    const int64_t at_ms = task.from_ms + step * task.step_ms;
    for (size_t begin = 0; begin < series.size(); begin += kSamplesOfRequest) {
      Message request;
      const size_t end = std::min(series.size(), begin + kSamplesOfRequest);
      for (size_t i = begin; i < end; ++i) {
        values[i] = flyball::bench::KindOf(series[i]).next(values[i], random);
        const Message sample = Message().Double(1, values[i]).Varint(2, uint64_t(at_ms));
        request.Bytes(1, absl::StrCat(labels[i], Message().Add(2, sample).bytes()));
      }
      snappy::Compress(request.bytes().data(), request.bytes().size(), &body);
      const auto answer = client.Post(task.path, headers, body, "application/x-protobuf");
      ++sent.requests;
      sent.samples += static_cast<int64_t>(end - begin);
      if (answer && answer->status / 100 == 2) continue;
      if (sent.failed++ == 0) {
        sent.first_failure = answer ? absl::StrCat(answer->status, " ", answer->body)
                                    : httplib::to_string(answer.error());
      }
    }
  }
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 8) {
    std::fprintf(stderr, "usage: live_sender URL TOKEN SERIES FROM_MS STEP_MS STEPS THREADS\n");
    return 2;
  }
  const std::string url = argv[1];
  const size_t path = url.find('/', url.find("://") + 3);
  Task task;
  task.origin = url.substr(0, path);
  task.path = url.substr(path);
  task.token = argv[2];
  task.series = std::atoi(argv[3]);
  task.from_ms = std::atoll(argv[4]);
  task.step_ms = std::atoll(argv[5]);
  task.steps = std::atoi(argv[6]);
  task.threads = std::atoi(argv[7]);
  Sent sent;
  const auto begin = std::chrono::steady_clock::now();
  std::vector<std::thread> threads;
  for (int i = 0; i < task.threads; ++i)
    threads.emplace_back(Send, std::cref(task), i, std::ref(sent));
  for (std::thread& thread : threads) thread.join();
  const std::chrono::duration<double> took = std::chrono::steady_clock::now() - begin;
  std::printf("{\"samples\": %lld, \"requests\": %lld, \"failed\": %lld, \"seconds\": %.3f}\n",
              static_cast<long long>(sent.samples), static_cast<long long>(sent.requests),
              static_cast<long long>(sent.failed), took.count());
  if (sent.failed > 0) std::fprintf(stderr, "live_sender: %s\n", sent.first_failure.c_str());
  return sent.failed > 0 ? 1 : 0;
}
