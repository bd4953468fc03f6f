#include "base/read_file.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <system_error>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"

namespace flyball {
namespace {

absl::Status Unreadable(const std::string& path, int error) {
  const std::string text =
      absl::StrCat(path, ": cannot be read: ", std::generic_category().message(error));
  return error == ENOENT ? absl::NotFoundError(text) : absl::InvalidArgumentError(text);
}

absl::StatusOr<std::string> ReadAll(int fd, const std::string& path, size_t max_bytes) {
  std::string bytes;
  char piece[16384];
  while (true) {
    const ssize_t count = read(fd, piece, sizeof(piece));
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return Unreadable(path, errno);
    if (count == 0) return bytes;
    if (bytes.size() + static_cast<size_t>(count) > max_bytes) {
      return absl::InvalidArgumentError(absl::StrCat(path, ": larger than ", max_bytes, " bytes"));
    }
    bytes.append(piece, static_cast<size_t>(count));
  }
}

}  // namespace

absl::StatusOr<std::string> ReadFile(const std::string& path, size_t max_bytes) {
  const int fd = open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (fd < 0) return Unreadable(path, errno);
  absl::StatusOr<std::string> bytes = ReadAll(fd, path, max_bytes);
  close(fd);
  return bytes;
}

absl::StatusOr<std::string> ReadFileOrStdin(const std::string& path, size_t max_bytes) {
  return path == "-" ? ReadAll(STDIN_FILENO, "standard input", max_bytes)
                     : ReadFile(path, max_bytes);
}

absl::Status HasNotBecomeEmpty(absl::string_view text) {
  if (!absl::StripAsciiWhitespace(text).empty()) return absl::OkStatus();
  return absl::InvalidArgumentError(
      "it has become empty; if that is meant, write a comment (#) into it");
}

}  // namespace flyball
