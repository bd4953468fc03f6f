#include "apiservice/endpoints/process_metrics.h"

#include <sys/resource.h>
#include <unistd.h>

#include <filesystem>
#include <vector>

#include "absl/strings/numbers.h"
#include "absl/strings/str_split.h"
#include "apiservice/endpoints/metric_families.h"
#include "base/read_file.h"

namespace flyball::apiservice {
namespace {

std::string ReadProc(const char* path) { return ReadFile(path).value_or(""); }

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
void AddStat(MetricFamilies* out) {
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
  out->Counter("process_cpu_seconds_total", "Total user and system CPU time spent in seconds.",
               (field(14) + field(15)) / ticks);
  out->Gauge("process_virtual_memory_bytes", "Virtual memory size in bytes.", field(23));
  out->Gauge("process_resident_memory_bytes", "Resident memory size in bytes.",
             field(24) * static_cast<double>(sysconf(_SC_PAGESIZE)));
  if (const double boot = BootTime(); boot > 0) {
    out->Gauge("process_start_time_seconds",
               "Start time of the process since unix epoch in seconds.", boot + field(22) / ticks);
  }
}

void AddDescriptors(MetricFamilies* out) {
  std::error_code error;
  const std::filesystem::directory_iterator files("/proc/self/fd", error);
  if (!error) {
    out->Gauge("process_open_fds", "Number of open file descriptors.",
               std::distance(begin(files), end(files)));
  }
  rlimit limit = {};
  if (getrlimit(RLIMIT_NOFILE, &limit) == 0) {
    out->Gauge("process_max_fds", "Maximum number of open file descriptors.", limit.rlim_cur);
  }
}

}  // namespace

std::string ProcessMetricsText() {
  MetricFamilies families;
  AddStat(&families);
  AddDescriptors(&families);
  return families.Text();
}

}  // namespace flyball::apiservice
