#include "apiservice/endpoints/document_forms.h"

#include <atomic>
#include <string>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

#include "absl/synchronization/notification.h"

namespace flyball::apiservice {
namespace {

TEST(DocumentFormsTest, EachFormIsMadeOnce) {
  absl::Mutex making;
  DocumentForms forms(making);
  int made = 0;
  const auto make = [&] { return std::to_string(++made); };
  Style yaml, pretty;
  yaml.media.encoding = Encoding::kYaml;
  pretty.pretty = true;
  const DocumentForms::Body first = forms.Get(yaml, false, make);
  EXPECT_EQ(*first, "1");
  EXPECT_EQ(*forms.Get(pretty, false, make), "2");
  EXPECT_EQ(*forms.Get(yaml, true, make), "3");
  EXPECT_EQ(forms.Get(yaml, false, make), first);
  EXPECT_EQ(*forms.Get(pretty, false, make), "2");
}

// As gzip for which there was no memory.
TEST(DocumentFormsTest, AFormThatCouldNotBeMadeIsTriedAgain) {
  absl::Mutex making;
  DocumentForms forms(making);
  EXPECT_EQ(*forms.Get(Style(), true, [] { return std::string(); }), "");
  EXPECT_EQ(*forms.Get(Style(), true, [] { return std::string("made"); }), "made");
}

TEST(DocumentFormsTest, FormsOfAllDocumentsAreMadeOneAfterTheOther) {
  absl::Mutex making;
  DocumentForms documents[] = {DocumentForms(making), DocumentForms(making)};
  std::atomic<int> under_way{0};
  const auto make = [&] {
    EXPECT_EQ(++under_way, 1);
    for (int i = 0; i < 1000; ++i) std::this_thread::yield();
    --under_way;
    return std::string();
  };
  std::vector<std::thread> askers;
  for (DocumentForms& document : documents) {
    for (const bool pretty : {false, true}) {
      askers.emplace_back([&, pretty] {
        Style style;
        style.pretty = pretty;
        document.Get(style, false, make);
      });
    }
  }
  for (std::thread& asker : askers) asker.join();
}

TEST(DocumentFormsTest, AFormThatIsThereNeedNotWaitForOthers) {
  absl::Mutex making;
  DocumentForms slow(making), quick(making);
  Style style;
  const DocumentForms::Body there = quick.Get(style, false, [] { return std::string("there"); });
  absl::Notification begun, go_on;
  std::thread asker([&] {
    slow.Get(style, false, [&] {
      begun.Notify();
      go_on.WaitForNotification();
      return std::string();
    });
  });
  begun.WaitForNotification();
  EXPECT_EQ(quick.Get(style, false, [] { return std::string(); }), there);
  go_on.Notify();
  asker.join();
}

}  // namespace
}  // namespace flyball::apiservice
