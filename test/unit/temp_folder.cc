// Gives each run of a unit test program a folder of its own as testing::TempDir(), and takes that away at its end: a machine that runs
// the tests every day keeps nothing of them.
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <string>
#include <system_error>

namespace flyball {
namespace {

class TempFolder {
 public:
  TempFolder() {
    // If there is none, the tests use the folder of the system, as they would without this.
    std::error_code none;
    std::string made = std::filesystem::temp_directory_path(none) / "flyball-test-XXXXXX";
    if (none || mkdtemp(made.data()) == nullptr) return;
    path_ = made;
    setenv("TEST_TMPDIR", path_.c_str(), 1);
    setenv("TMPDIR", path_.c_str(), 1);
  }
  ~TempFolder() {
    std::error_code left;
    if (getpid() == owner_ && !path_.empty()) std::filesystem::remove_all(path_, left);
  }

 private:
  const pid_t owner_ = getpid();  // a child that a test made leaves it
  std::string path_;
};

const TempFolder folder;

}  // namespace
}  // namespace flyball
