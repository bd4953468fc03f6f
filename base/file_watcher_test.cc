#include "base/file_watcher.h"

#include <atomic>
#include <filesystem>
#include <fstream>
#include <string>

#include "gtest/gtest.h"

namespace flyball {
namespace {

namespace fs = std::filesystem;

class FileStampsTest : public testing::Test {
 protected:
  FileStampsTest() {
    root_ = fs::path(testing::TempDir()) /
            testing::UnitTest::GetInstance()->current_test_info()->name();
    fs::remove_all(root_);
    fs::create_directories(root_);
  }
  ~FileStampsTest() override { fs::remove_all(root_); }

  std::string Path(const std::string& name) const { return (root_ / name).string(); }
  void Write(const std::string& name, const std::string& text) const {
    fs::create_directories(fs::path(Path(name)).parent_path());
    std::ofstream(Path(name)) << text;
  }

  fs::path root_;
};

TEST_F(FileStampsTest, NothingHappenedIsNoChange) {
  Write("a", "1");
  FileStamps stamps({Path("a"), root_.string()});
  EXPECT_FALSE(stamps.Refresh());
  EXPECT_FALSE(stamps.Refresh());
}

TEST_F(FileStampsTest, RewriteOfEqualSizeIsSeenEvenWithinOneClockTick) {
  Write("a", "1");
  FileStamps stamps({Path("a")});
  const auto time = fs::last_write_time(Path("a"));
  for (const char* text : {"2", "3", "4", "5"}) {
    Write("a", text);
    fs::last_write_time(Path("a"), time);
    EXPECT_TRUE(stamps.Refresh()) << text;
    EXPECT_FALSE(stamps.Refresh()) << text;
  }
}

TEST_F(FileStampsTest, AppearingAndVanishingAreChanges) {
  FileStamps stamps({Path("a")});
  Write("a", "1");
  EXPECT_TRUE(stamps.Refresh());
  fs::remove(Path("a"));
  EXPECT_TRUE(stamps.Refresh());
  EXPECT_FALSE(stamps.Refresh());
}

TEST_F(FileStampsTest, FoldersAreSeenWithTheirSubfoldersButWithoutHiddenFiles) {
  FileStamps stamps({root_.string()});
  Write("sub/a.yaml", "1");
  EXPECT_TRUE(stamps.Refresh());
  Write("sub/a.yaml", "22");
  EXPECT_TRUE(stamps.Refresh());
  Write(".a.yaml.swp", "1");
  EXPECT_FALSE(stamps.Refresh());
}

TEST_F(FileStampsTest, ConfigMapMountSwapIsOneChange) {
  Write("..1/config.yaml", "same");
  Write("..2/config.yaml", "same");
  fs::create_directory_symlink("..1", Path("..data"));
  fs::create_symlink("..data/config.yaml", Path("config.yaml"));
  FileStamps file({Path("config.yaml")});
  FileStamps folder({root_.string()});
  fs::create_directory_symlink("..2", Path("..data_tmp"));
  fs::rename(Path("..data_tmp"), Path("..data"));
  EXPECT_TRUE(file.Refresh());
  EXPECT_TRUE(folder.Refresh());
  EXPECT_FALSE(file.Refresh());
  EXPECT_FALSE(folder.Refresh());
}

TEST_F(FileStampsTest, SymlinkLoopEnds) {
  for (const char* name : {"x", "y", "z"}) fs::create_directory_symlink(".", Path(name));
  Write("a", "1");
  FileStamps stamps({root_.string()});
  EXPECT_FALSE(stamps.Refresh());
}

// A link to itself cannot be read, not even by root.
TEST_F(FileStampsTest, WhatCannotBeReadIsAChangeWhenItCanAndWhenItIsGone) {
  Write("a", "1");
  FileStamps stamps({root_.string()});
  fs::create_symlink(Path("loop"), Path("loop"));
  EXPECT_TRUE(stamps.Refresh());
  EXPECT_FALSE(stamps.Refresh());
  fs::remove(Path("loop"));
  EXPECT_TRUE(stamps.Refresh());
  fs::create_symlink(Path("loop"), Path("loop"));
  EXPECT_TRUE(stamps.Refresh());
  fs::remove(Path("loop"));
  fs::create_symlink(Path("a"), Path("loop"));
  EXPECT_TRUE(stamps.Refresh());
}

TEST_F(FileStampsTest, WatcherCallsAndStops) {
  SimulatedClock clock(absl::FromUnixSeconds(1000));
  std::atomic<int> calls = 0;
  FileWatcher watcher(clock, FileStamps({Path("a")}), absl::Seconds(1), [&] {
    ++calls;
    return absl::OkStatus();
  });
  clock.AwaitWaits(1);
  Write("a", "1");
  clock.Advance(absl::Seconds(1));
  clock.AwaitWaits(2);
  clock.Advance(absl::Milliseconds(50));
  clock.AwaitWaits(3);
  EXPECT_EQ(calls, 1);
  clock.Advance(absl::Seconds(1));
  clock.AwaitWaits(4);
  EXPECT_EQ(calls, 1) << "nothing changed";
}

TEST_F(FileStampsTest, WatcherTellsOfAChangeBetweenTheLookAndItsStart) {
  SimulatedClock clock(absl::FromUnixSeconds(1000));
  Write("a", "1");
  FileStamps before({Path("a")});
  Write("a", "22");
  std::atomic<int> calls = 0;
  FileWatcher watcher(clock, std::move(before), absl::Seconds(1), [&] {
    ++calls;
    return absl::OkStatus();
  });
  clock.AwaitWaits(1);
  clock.Advance(absl::Seconds(1));
  clock.AwaitWaits(2);
  clock.Advance(absl::Milliseconds(50));
  clock.AwaitWaits(3);
  EXPECT_EQ(calls, 1);
}

TEST_F(FileStampsTest, AFileIsToldOfOnceItIsWritten) {
  SimulatedClock clock(absl::FromUnixSeconds(1000));
  Write("a", "all of it");
  std::atomic<int> calls = 0;
  FileWatcher watcher(clock, FileStamps({Path("a")}), absl::Seconds(1), [&] {
    ++calls;
    return absl::OkStatus();
  });
  size_t waits = 1;
  clock.AwaitWaits(waits);
  Write("a", "");
  clock.Advance(absl::Seconds(1));
  clock.AwaitWaits(++waits);
  Write("a", "all of the new one");
  clock.Advance(absl::Milliseconds(50));
  clock.AwaitWaits(++waits);
  EXPECT_EQ(calls, 0) << "it was empty a moment ago";
  clock.Advance(absl::Milliseconds(50));
  clock.AwaitWaits(++waits);
  EXPECT_EQ(calls, 1);
}

TEST_F(FileStampsTest, AFailedCallIsMadeAgainUntilItSucceeds) {
  SimulatedClock clock(absl::FromUnixSeconds(1000));
  std::atomic<int> calls = 0;
  FileWatcher watcher(clock, FileStamps({Path("a")}), absl::Seconds(1), [&] {
    return ++calls < 3 ? absl::InvalidArgumentError("too many open files") : absl::OkStatus();
  });
  size_t waits = 1;
  clock.AwaitWaits(waits);
  Write("a", "1");
  clock.Advance(absl::Seconds(1));
  clock.AwaitWaits(++waits);
  clock.Advance(absl::Milliseconds(50));
  clock.AwaitWaits(++waits);
  for (const int expected : {1, 2, 3, 3}) {
    EXPECT_EQ(calls, expected);
    clock.Advance(absl::Seconds(1));
    clock.AwaitWaits(++waits);
  }
}

TEST_F(FileStampsTest, AFileThatNeverStandsStillIsToldOfNevertheless) {
  SimulatedClock clock(absl::FromUnixSeconds(1000));
  std::atomic<int> calls = 0;
  FileWatcher watcher(clock, FileStamps({Path("a")}), absl::Seconds(1), [&] {
    ++calls;
    return absl::OkStatus();
  });
  clock.AwaitWaits(1);
  std::string text;
  for (size_t looks = 1; looks <= 20; ++looks) {
    EXPECT_EQ(calls, 0);
    Write("a", text += "x");
    clock.Advance(absl::Seconds(1));
    clock.AwaitWaits(1 + looks);
  }
  EXPECT_EQ(calls, 1);
}

}  // namespace
}  // namespace flyball
