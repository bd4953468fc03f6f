#include "http/server/descriptors.h"

#include <sys/resource.h>

#include <algorithm>

namespace flyball::http {

size_t ConnectionsPossible(size_t wanted) {
  constexpr rlim_t kOwn = 1024;
  rlimit limit = {};
  if (getrlimit(RLIMIT_NOFILE, &limit) != 0) return wanted;
  const rlim_t needed = wanted + kOwn;
  if (limit.rlim_cur < needed && limit.rlim_cur < limit.rlim_max) {
    const rlimit raised = {std::min(needed, limit.rlim_max), limit.rlim_max};
    if (setrlimit(RLIMIT_NOFILE, &raised) == 0) limit = raised;
  }
  const rlim_t left = std::max(limit.rlim_cur / 2, limit.rlim_cur - std::min(kOwn, limit.rlim_cur));
  return std::min<size_t>(wanted, left);
}

}  // namespace flyball::http
