#include "apiservice/endpoints/document_forms.h"

#include <atomic>
#include <memory>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "absl/synchronization/notification.h"

namespace flyball::apiservice {
namespace {

TEST(DocumentFormsTest, EachFormIsMadeOnce) {
  DocumentForms::Shared shared;
  DocumentForms forms(shared);
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

TEST(DocumentFormsTest, OnlyJsonIsIndented) {
  DocumentForms::Shared shared;
  DocumentForms forms(shared);
  const auto make = [] { return std::string("made"); };
  for (const Encoding encoding : {Encoding::kYaml, Encoding::kProtobuf}) {
    Style style;
    style.media.encoding = encoding;
    const DocumentForms::Body plain = forms.Get(style, false, make);
    style.pretty = true;
    EXPECT_EQ(forms.Get(style, false, make), plain);
  }
}

TEST(DocumentFormsTest, FormsOfAllDocumentsAreKeptUpToALimit) {
  DocumentForms::Shared shared;
  Style yaml, pretty;
  yaml.media.encoding = Encoding::kYaml;
  pretty.pretty = true;
  int made = 0;
  const auto make = [&] {
    ++made;
    return std::string(DocumentForms::kMaxKeptBytes, 'a');
  };
  DocumentForms forms(shared);
  {
    DocumentForms others(shared);
    (void)others.Get(yaml, false, make);
    (void)others.Get(yaml, false, make);
    EXPECT_EQ(made, 1);
    // Two that are sent at the same time are one, and then it is gone.
    DocumentForms::Body sent = forms.Get(pretty, false, make);
    EXPECT_EQ(forms.Get(pretty, false, make), sent);
    EXPECT_EQ(made, 2);
    const std::weak_ptr<const std::string> before = std::exchange(sent, nullptr);
    EXPECT_TRUE(before.expired());
    EXPECT_NE(forms.Get(pretty, false, make), nullptr);
    EXPECT_EQ(made, 3);
    // What controllers ask for is always kept.
    (void)forms.Get(Style(), true, make);
    EXPECT_NE(forms.Made(Style(), true), nullptr);
    EXPECT_EQ(made, 4);
  }
  // A document that is replaced makes room.
  (void)forms.Get(pretty, false, make);
  (void)forms.Get(pretty, false, make);
  EXPECT_EQ(made, 5);
}

TEST(DocumentFormsTest, OnlySoManyWait) {
  DocumentForms::Shared shared;
  DocumentForms forms(shared);
  Style pretty;
  pretty.pretty = true;
  absl::Notification go_on;
  std::vector<std::thread> askers;
  for (int i = 0; i < DocumentForms::kMaxWaiting; ++i) {
    askers.emplace_back([&] {
      (void)forms.Get(pretty, false, [&] {
        go_on.WaitForNotification();
        return std::string();
      });
    });
  }
  while (shared.waiting < DocumentForms::kMaxWaiting) std::this_thread::yield();
  const auto make = [] { return std::string("made"); };
  EXPECT_EQ(forms.Get(pretty, false, make), nullptr);
  const auto make_usual = [&] {
    EXPECT_EQ(shared.waiting, DocumentForms::kMaxWaiting) << "it takes none of the places";
    return std::string("made");
  };
  EXPECT_NE(forms.Get(Style(), true, make_usual), nullptr);
  go_on.Notify();
  for (std::thread& asker : askers) asker.join();
  EXPECT_NE(forms.Get(pretty, false, make), nullptr);
}

// As gzip for which there was no memory.
TEST(DocumentFormsTest, AFormThatCouldNotBeMadeIsTriedAgain) {
  DocumentForms::Shared shared;
  DocumentForms forms(shared);
  EXPECT_EQ(*forms.Get(Style(), true, [] { return std::string(); }), "");
  EXPECT_EQ(*forms.Get(Style(), true, [] { return std::string("made"); }), "made");
}

TEST(DocumentFormsTest, FormsOfAllDocumentsAreMadeOneAfterTheOther) {
  DocumentForms::Shared shared;
  DocumentForms documents[] = {DocumentForms(shared), DocumentForms(shared)};
  std::atomic<int> under_way{0};
  const auto make = [&] {
    EXPECT_EQ(++under_way, 1);
    for (int i = 0; i < 1000; ++i) std::this_thread::yield();
    --under_way;
    return std::string();
  };
  std::vector<std::thread> askers;
  for (DocumentForms& document : documents) {
    for (const Encoding encoding : {Encoding::kYaml, Encoding::kProtobuf}) {
      askers.emplace_back([&, encoding] {
        Style style;
        style.media.encoding = encoding;
        document.Get(style, false, make);
      });
    }
  }
  for (std::thread& asker : askers) asker.join();
}

TEST(DocumentFormsTest, AFormThatIsThereNeedNotWaitForOthers) {
  DocumentForms::Shared shared;
  DocumentForms slow(shared), quick(shared);
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
