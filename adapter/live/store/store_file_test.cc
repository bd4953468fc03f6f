#include "adapter/live/store/store_file.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <limits>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "adapter/live/store/testing/make_labels.h"
#include "promql/selectors.h"

namespace flyball::live {
namespace {

constexpr int64_t kNow = 1'700'000'000'000;
constexpr int kSeries = 3000;
constexpr int kSamples = 300;

std::string PathOf(const std::string& name) { return testing::TempDir() + "/" + name; }

std::string BytesOf(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()};
}

void WriteBytes(const std::string& path, absl::string_view bytes) {
  std::ofstream(path, std::ios::binary) << bytes;
}

void Fill(Store& store) {
  for (int series = 0; series < kSeries; ++series) {
    const SeriesHandle handle = *store.Open(Named("x", {{"n", absl::StrCat(series)}}));
    for (int i = 0; i < kSamples; ++i) {
      const Point sample{kNow + i * 1000, i == 200 ? promql::StaleMarker() : i * 0.37 + series};
      ASSERT_TRUE(store.Append(handle, sample, kNow).ok());
    }
  }
}

std::string Show(const Store& store) {
  std::string text;
  for (const auto& series : store.Select({})) {
    text.append(series->labels().encoded().data(), series->labels().encoded().size());
    std::vector<Point> points;
    series->Read(0, std::numeric_limits<int64_t>::max(), points);
    text.append(reinterpret_cast<const char*>(points.data()), points.size() * sizeof(Point));
  }
  return text;
}

TEST(StoreFile, BringsBackEverySample) {
  const std::string path = PathOf("whole");
  Store store, loaded;
  Fill(store);
  const auto written = WriteStoreFile(store, path);
  ASSERT_TRUE(written.ok()) << written.status();
  EXPECT_EQ(*written, size_t{kSeries});
  EXPECT_FALSE(std::filesystem::exists(path + ".new"));
  const auto load = LoadStoreFile(path, kNow, loaded);
  ASSERT_TRUE(load.ok()) << load.status();
  EXPECT_TRUE(load->damage.ok()) << load->damage;
  EXPECT_EQ(load->series, size_t{kSeries});
  EXPECT_TRUE(Show(loaded) == Show(store));
  EXPECT_TRUE(loaded.Append(Named("x", {{"n", "7"}}), {kNow + kSamples * 1000, 1}, kNow).ok());

  EXPECT_EQ(LoadStoreFile(path, kNow, loaded)->refused, size_t{kSeries}) << "they have samples";
  Store later, full({.max_series = 10});
  EXPECT_EQ(LoadStoreFile(path, kNow + 3'600'000, later)->outdated, size_t{kSeries});
  EXPECT_EQ(later.counts().series, 0u);
  EXPECT_EQ(LoadStoreFile(path, kNow, full)->series, 10u);
}

TEST(StoreFile, SaysWhatWasKept) {
  const std::string path = PathOf("kept");
  Store store;
  ASSERT_TRUE(store.Append(Named("x"), {kNow, 1}, kNow).ok());
  using Op = promql::Matcher::Op;
  const Selector selector = {*promql::Matcher::Make("__name__", Op::kEqual, "x"),
                             *promql::Matcher::Make("n", Op::kNotRegex, "a|\n")};
  ASSERT_TRUE(WriteStoreFile(store, path, {{{}, -1}, {selector, kNow}}).ok());
  Store loaded;
  const auto load = LoadStoreFile(path, kNow, loaded);
  ASSERT_TRUE(load.ok()) << load.status();
  EXPECT_TRUE(load->damage.ok()) << load->damage;
  ASSERT_EQ(load->kept.size(), 2u);
  EXPECT_EQ(load->kept[0].since_ms, -1);
  EXPECT_EQ(promql::SelectorText(load->kept[0].selector), "{}");
  EXPECT_EQ(load->kept[1].since_ms, kNow);
  EXPECT_EQ(promql::SelectorText(load->kept[1].selector), promql::SelectorText(selector));
  EXPECT_EQ(load->series, 1u);
}

TEST(StoreFile, OfBeforeThatSaysNothingOfWhatWasKept) {
  const std::string path = PathOf("before");
  Store store, loaded;
  ASSERT_TRUE(store.Append(Named("x"), {kNow, 1}, kNow).ok());
  ASSERT_TRUE(WriteStoreFile(store, path).ok());
  const std::string bytes = BytesOf(path);
  WriteBytes(path, absl::StrCat("flyball samples 1\n", bytes.substr(27)));
  const auto load = LoadStoreFile(path, kNow, loaded);
  ASSERT_TRUE(load.ok()) << load.status();
  EXPECT_TRUE(load->damage.ok()) << load->damage;
  EXPECT_EQ(load->series, 1u);
  EXPECT_TRUE(load->kept.empty());
}

TEST(StoreFile, OfWhichABlockIsDamagedGivesTheOthers) {
  const std::string path = PathOf("damaged");
  Store store, loaded;
  Fill(store);
  ASSERT_TRUE(WriteStoreFile(store, path).ok());
  std::string bytes = BytesOf(path);
  ASSERT_GT(bytes.size(), 600'000u) << "several blocks";
  bytes[1000] ^= 1;
  WriteBytes(path, bytes);
  const auto load = LoadStoreFile(path, kNow, loaded);
  ASSERT_TRUE(load.ok());
  EXPECT_EQ(load->damage.message(),
            absl::StrCat(path, ": has a block with a wrong checksum, at byte 27"));
  EXPECT_GT(load->series, size_t{kSeries} / 4);
  EXPECT_LT(load->series, size_t{kSeries});
  EXPECT_EQ(loaded.counts().series, load->series);
}

TEST(StoreFile, HalfWrittenGivesWhatItHasAndSaysSo) {
  const std::string path = PathOf("half");
  Store store;
  Fill(store);
  ASSERT_TRUE(WriteStoreFile(store, path).ok());
  const std::string bytes = BytesOf(path);
  for (const size_t size : {bytes.size() - 1, bytes.size() - 8, bytes.size() / 2, size_t{18}}) {
    WriteBytes(path, bytes.substr(0, size));
    Store loaded;
    const auto load = LoadStoreFile(path, kNow, loaded);
    ASSERT_TRUE(load.ok());
    EXPECT_TRUE(absl::StrContains(load->damage.message(), "ends too soon")) << load->damage;
    EXPECT_EQ(loaded.counts().series, load->series);
  }
  WriteBytes(path, "flyball");
  Store loaded;
  EXPECT_EQ(LoadStoreFile(path, kNow, loaded).status().message(), path + ": is no file of samples");
}

TEST(StoreFile, ThatIsNotThereOrCannotBeIsSaid) {
  Store store;
  EXPECT_EQ(LoadStoreFile(PathOf("none"), kNow, store).status().code(),
            absl::StatusCode::kNotFound);
  EXPECT_EQ(WriteStoreFile(store, PathOf("none/there")).status().message(),
            PathOf("none/there.new") + ": cannot be written: No such file or directory");
  ASSERT_TRUE(WriteStoreFile(store, PathOf("empty")).ok());
  EXPECT_TRUE(LoadStoreFile(PathOf("empty"), kNow, store)->damage.ok());
}

}  // namespace
}  // namespace flyball::live
