#include "processes/process.h"

#include <fcntl.h>
#include <linux/close_range.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstring>

#include "absl/memory/memory.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"

namespace flyball::processes {
namespace {

// The environment of this process, with `more` replacing its variables, as execve takes it.
std::vector<std::string> Environment(const std::map<std::string, std::string>& more) {
  std::vector<std::string> out;
  for (char** at = environ; *at != nullptr; ++at) {
    const std::pair<std::string, std::string> variable =
        absl::StrSplit(*at, absl::MaxSplits('=', 1));
    if (!more.contains(variable.first)) out.emplace_back(*at);
  }
  for (const auto& [name, value] : more) out.push_back(absl::StrCat(name, "=", value));
  return out;
}

std::vector<char*> Pointers(std::vector<std::string>& texts) {
  std::vector<char*> out;
  for (std::string& text : texts) out.push_back(text.data());
  out.push_back(nullptr);
  return out;
}

// All that the child needs, made before the fork. After the fork only functions that are safe in a
// signal handler may be called, since other threads of this process may have held any lock.
struct Child {
  std::vector<char*> command, environment;
  const char* folder;  // "": no change of the folder
  pid_t parent;
  int failure;  // a pipe for the error number if the program cannot be run
};

// As this process began, before it raised its limit; programs may not bear more.
const rlimit kFilesAtStart = [] {
  rlimit limit = {};
  getrlimit(RLIMIT_NOFILE, &limit);
  return limit;
}();

[[noreturn]] void Fail(int failure) {
  const int error = errno;
  const ssize_t ignored = write(failure, &error, sizeof(error));
  _exit(127 + (ignored < 0 ? 1 : 0));
}

[[noreturn]] void Run(const Child& child) {
  setpgid(0, 0);
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (getppid() != child.parent) _exit(127);  // the parent ended before prctl took effect
  sigset_t none;
  sigemptyset(&none);
  for (int signal = 1; signal < SIGRTMIN; ++signal) {
    if (signal != SIGKILL && signal != SIGSTOP) std::signal(signal, SIG_DFL);
  }
  sigprocmask(SIG_SETMASK, &none, nullptr);
  if (*child.folder != '\0' && chdir(child.folder) != 0) Fail(child.failure);
  const int nothing = open("/dev/null", O_RDONLY);
  if (nothing < 0 || dup2(nothing, STDIN_FILENO) < 0 || dup2(STDERR_FILENO, STDOUT_FILENO) < 0) {
    Fail(child.failure);
  }
  syscall(SYS_close_range, 3u, ~0u, CLOSE_RANGE_CLOEXEC);
  setrlimit(RLIMIT_NOFILE, &kFilesAtStart);
  execvpe(child.command[0], child.command.data(), child.environment.data());
  Fail(child.failure);
}

absl::Status CannotRun(const ProcessPlan& plan, int error) {
  const std::string what =
      absl::StrCat(plan.command[0], ": cannot be run: ", std::strerror(error),
                   plan.working_directory.empty() ? "" : " (in " + plan.working_directory + ")");
  if (error == ENOENT || error == ENOTDIR) return absl::NotFoundError(what);
  if (error == EACCES || error == EPERM) return absl::PermissionDeniedError(what);
  return absl::InvalidArgumentError(what);
}

absl::Status NoProcess() {
  return absl::UnavailableError(absl::StrCat("no process can be made: ", std::strerror(errno)));
}

// The error number that the child wrote if it could not run its program; 0 if it could.
int ErrorOf(int pipe) {
  int error = 0;
  ssize_t got;
  do {
    got = read(pipe, &error, sizeof(error));
  } while (got < 0 && errno == EINTR);
  return got == sizeof(error) ? error : 0;
}

std::string HowItEnded(const siginfo_t& info) {
  return info.si_code == CLD_EXITED ? absl::StrCat("exit status ", info.si_status)
                                    : absl::StrCat("signal ", info.si_status);
}

}  // namespace

absl::StatusOr<std::unique_ptr<Process>> Process::Start(const ProcessPlan& plan) {
  std::vector<std::string> command = plan.command;
  std::vector<std::string> environment = Environment(plan.environment);
  int failure[2];
  if (pipe2(failure, O_CLOEXEC) != 0) return NoProcess();
  const Child child = {.command = Pointers(command),
                       .environment = Pointers(environment),
                       .folder = plan.working_directory.c_str(),
                       .parent = getpid(),
                       .failure = failure[1]};
  const pid_t pid = fork();
  if (pid == 0) Run(child);
  close(failure[1]);
  const int error = pid < 0 ? 0 : ErrorOf(failure[0]);
  close(failure[0]);
  if (pid < 0) return NoProcess();
  const int exit_fd = static_cast<int>(syscall(SYS_pidfd_open, pid, 0));
  auto process = absl::WrapUnique(new Process(pid, exit_fd));
  if (error != 0) return CannotRun(plan, error);
  if (exit_fd < 0) return NoProcess();
  return process;
}

Process::~Process() {
  if (!ended_.has_value()) {
    Signal(SIGKILL);
    while (waitpid(pid_, nullptr, 0) < 0 && errno == EINTR) {
    }
  }
  if (exit_fd_ >= 0) close(exit_fd_);
}

void Process::Signal(int signal) {
  // As long as it has not been waited for, no other process can have its number.
  if (!ended_.has_value()) kill(-pid_, signal);
}

std::optional<std::string> Process::Ended() {
  if (ended_.has_value()) return ended_;
  siginfo_t info = {};
  const auto id = static_cast<id_t>(pid_);
  if (waitid(P_PID, id, &info, WEXITED | WNOHANG | WNOWAIT) != 0 || info.si_pid == 0) {
    return std::nullopt;
  }
  Signal(SIGKILL);  // ends what it started and left behind
  waitid(P_PID, id, &info, WEXITED);
  ended_ = HowItEnded(info);
  return ended_;
}

}  // namespace flyball::processes
