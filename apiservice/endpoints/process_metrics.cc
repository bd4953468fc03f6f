#include "apiservice/endpoints/process_metrics.h"

#include <prometheus/metric_family.h>
#include <prometheus/text_serializer.h>
#include <sys/resource.h>
#include <unistd.h>

#include <filesystem>
#include <vector>

#include "absl/strings/numbers.h"
#include "absl/strings/str_split.h"
#include "base/read_file.h"

namespace flyball::apiservice {
namespace {

using prometheus::MetricFamily;
using prometheus::MetricType;

std::string ReadProc(const char* path) { return ReadFile(path).value_or(""); }

void Add(const char* name, const char* help, MetricType type, double value,
         std::vector<MetricFamily>* out) {
  prometheus::ClientMetric metric;
  if (type == MetricType::Counter) {
    metric.counter.value = value;
  } else {
    metric.gauge.value = value;
  }
  out->push_back({name, help, type, {metric}});
}

// Seconds since the epoch at which the machine started; 0 if unknown.
double BootTime() {
  double seconds = 0;
  for (const absl::string_view line : absl::StrSplit(ReadProc("/proc/stat"), '\n')) {
    const std::vector<absl::string_view> words = absl::StrSplit(line, ' ');
    if (words.size() == 2 && words[0] == "btime" && absl::SimpleAtod(words[1], &seconds)) break;
  }
  return seconds;
}

// The fields of /proc/self/stat after the program's name, which may hold spaces.
void AddStat(std::vector<MetricFamily>* out) {
  const std::string stat = ReadProc("/proc/self/stat");
  const size_t name_end = stat.rfind(')');
  if (name_end == std::string::npos) return;
  const std::vector<absl::string_view> fields =
      absl::StrSplit(absl::string_view(stat).substr(name_end + 2), ' ');
  // Counted from 3 (state) in proc(5): utime 14, stime 15, starttime 22, vsize 23, rss 24.
  const auto field = [&](size_t number) {
    double value = 0;
    return number - 3 < fields.size() && absl::SimpleAtod(fields[number - 3], &value) ? value : 0;
  };
  const auto ticks = static_cast<double>(sysconf(_SC_CLK_TCK));
  Add("process_cpu_seconds_total", "Total user and system CPU time spent in seconds.",
      MetricType::Counter, (field(14) + field(15)) / ticks, out);
  Add("process_virtual_memory_bytes", "Virtual memory size in bytes.", MetricType::Gauge, field(23),
      out);
  Add("process_resident_memory_bytes", "Resident memory size in bytes.", MetricType::Gauge,
      field(24) * static_cast<double>(sysconf(_SC_PAGESIZE)), out);
  if (const double boot = BootTime(); boot > 0) {
    Add("process_start_time_seconds", "Start time of the process since unix epoch in seconds.",
        MetricType::Gauge, boot + field(22) / ticks, out);
  }
}

void AddDescriptors(std::vector<MetricFamily>* out) {
  std::error_code error;
  const std::filesystem::directory_iterator files("/proc/self/fd", error);
  if (!error) {
    Add("process_open_fds", "Number of open file descriptors.", MetricType::Gauge,
        static_cast<double>(std::distance(begin(files), end(files))), out);
  }
  rlimit limit = {};
  if (getrlimit(RLIMIT_NOFILE, &limit) == 0) {
    Add("process_max_fds", "Maximum number of open file descriptors.", MetricType::Gauge,
        static_cast<double>(limit.rlim_cur), out);
  }
}

}  // namespace

std::string ProcessMetricsText() {
  std::vector<MetricFamily> families;
  AddStat(&families);
  AddDescriptors(&families);
  return prometheus::TextSerializer().Serialize(families);
}

}  // namespace flyball::apiservice
