#include "base/read_file.h"

#include <gtest/gtest.h>

#include <fstream>

namespace flyball {
namespace {

std::string Written(const std::string& name, const std::string& bytes) {
  const std::string path = testing::TempDir() + "/read_file_" + name;
  std::ofstream(path, std::ios::binary) << bytes;
  return path;
}

TEST(ReadFile, AllBytesAsTheyAre) {
  const std::string bytes = std::string("a\0b\r\n", 5) + std::string(100'000, 'x');
  const auto read = ReadFile(Written("bytes", bytes));
  ASSERT_TRUE(read.ok()) << read.status();
  EXPECT_EQ(*read, bytes);
}

TEST(ReadFile, AFileWithoutASize) {
  const auto read = ReadFile("/proc/self/stat");  // stat says 0 bytes
  ASSERT_TRUE(read.ok()) << read.status();
  EXPECT_FALSE(read->empty());
}

TEST(ReadFile, NothingThere) {
  const auto read = ReadFile("/nowhere/at/all");
  EXPECT_EQ(read.status(),
            absl::NotFoundError("/nowhere/at/all: cannot be read: No such file or directory"));
}

TEST(ReadFile, AFolderIsAnError) {
  const auto read = ReadFile("/proc");
  EXPECT_EQ(read.status(), absl::InvalidArgumentError("/proc: cannot be read: Is a directory"));
}

TEST(ReadFile, AtMostTheLimit) {
  const std::string path = Written("limit", "12345");
  EXPECT_TRUE(ReadFile(path, 5).ok());
  EXPECT_EQ(ReadFile(path, 4).status(), absl::InvalidArgumentError(path + ": larger than 4 bytes"));
}

}  // namespace
}  // namespace flyball
