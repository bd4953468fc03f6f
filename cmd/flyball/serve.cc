#include "serve/serve.h"

#include <spdlog/spdlog.h>

#include <cstdio>
#include <string>
#include <utility>

#include "base/clock.h"
#include "cmd/flyball/commands.h"
#include "serve/flags.h"
#include "serve/logging.h"

namespace flyball::cmd {

int RunServe(const Args& args) {
  auto flags = serve::ParseServeFlags(args);
  if (!flags.ok()) {
    std::fprintf(stderr, "flyball serve: %s\n`flyball serve --help` lists the flags.\n",
                 std::string(flags.status().message()).c_str());
    return absl::IsInvalidArgument(flags.status()) ? kUsageError : serve::kStartError;
  }
  if (!flags->help.empty()) {
    std::fputs(flags->help.c_str(), stdout);
    return 0;
  }
  serve::SetUpLogging(flags->log_format, flags->verbosity);
  for (const std::string& warning : flags->warnings) spdlog::warn("{}", warning);
  return serve::Serve(*std::move(flags), Clock::System());
}

}  // namespace flyball::cmd
