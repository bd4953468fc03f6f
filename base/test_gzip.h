// Reads the vectors that tests replay, which are packed.
#pragma once

#include <gtest/gtest.h>
#include <zlib.h>

#include <string>

namespace flyball {

inline std::string ReadGzip(const std::string& path) {
  gzFile file = gzopen(path.c_str(), "rb");
  EXPECT_NE(file, nullptr) << path;
  std::string text;
  char buffer[1 << 16];
  for (int got; (got = gzread(file, buffer, sizeof buffer)) > 0;) {
    text.append(buffer, static_cast<size_t>(got));
  }
  gzclose(file);
  return text;
}

}  // namespace flyball
