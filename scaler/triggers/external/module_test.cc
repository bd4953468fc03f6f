#include "scaler/triggers/external/module.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "absl/strings/str_cat.h"
#include "base/test_log.h"

namespace flyball::scaler {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

std::string Folder(absl::string_view name) {
  const std::string path = absl::StrCat(testing::TempDir(), "/flyball-module-", getpid(), name);
  std::filesystem::create_directories(path);
  return path;
}

std::string MessageOf(const absl::Status& status) { return std::string(status.message()); }

TEST(LoadExternalModuleTest, TheOneBesideTheProgramMakesScalers) {
  const auto loaded = LoadExternalModule(ModuleFolders());
  ASSERT_TRUE(loaded.ok()) << loaded.status();
  ExternalAddress nobody;
  nobody.address = "127.0.0.1:1";
  const auto* const module = static_cast<const ExternalModule*>(loaded->module);
  const auto active = module->make(nobody)->IsActive({}, absl::Seconds(10));
  EXPECT_EQ(active.status().code(), absl::StatusCode::kUnavailable) << active.status();
}

TEST(MakeExternalScalerTest, ErrorsOfGrpcAreLoggedAsOurs) {
  const TestLog log;
  ExternalAddress address;
  address.address = "127.0.0.1:1";
  address.endpoints = {address.address};
  address.tls = true;
  address.cert = "no certificate";
  address.key = "hunter2";
  const auto scaler = MakeExternalScaler(address);
  ASSERT_TRUE(scaler.ok()) << scaler.status();
  EXPECT_FALSE((*scaler)->IsActive({}, absl::Seconds(10)).ok());
  EXPECT_THAT(log.text(), AllOf(HasSubstr("[warning] gRPC: "), Not(HasSubstr("hunter2"))));
}

TEST(LoadExternalModuleTest, LoadedTwiceItIsTheSame) {
  const auto first = LoadExternalModule(ModuleFolders());
  const auto second = LoadExternalModule(ModuleFolders());
  ASSERT_TRUE(first.ok() && second.ok()) << first.status() << second.status();
  EXPECT_EQ(first->module, second->module);
}

TEST(LoadExternalModuleTest, AMissingOneIsToldWithWhereItWasLookedFor) {
  const std::string one = Folder("none");
  const absl::Status got = LoadExternalModule({one, "/nowhere"}).status();
  EXPECT_EQ(got.code(), absl::StatusCode::kNotFound);
  EXPECT_EQ(MessageOf(got),
            absl::StrCat("external triggers need gRPC, which is in external_scaler.so: there is "
                         "none in ",
                         one, " or /nowhere"));
}

TEST(LoadExternalModuleTest, OneThatIsNoLibraryIsToldWithTheLoadersWords) {
  const std::string folder = Folder("garbage");
  std::ofstream(absl::StrCat(folder, "/", kExternalModuleFile)) << "not an ELF file";
  const absl::Status got = LoadExternalModule({folder}).status();
  EXPECT_EQ(got.code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_THAT(MessageOf(got),
              AllOf(HasSubstr("external_scaler.so can't be loaded: "), HasSubstr(folder)));
}

TEST(LoadExternalModuleTest, OneOfAnotherProgramIsRefused) {
  const absl::Status got = LoadExternalModule({FLYBALL_MODULE_OF_OTHER}).status();
  EXPECT_EQ(got.code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_THAT(MessageOf(got),
              AllOf(HasSubstr("external_scaler.so is of flyball 0.0.1 other, this program is "),
                    HasSubstr("restart after an upgrade")));
}

TEST(LoadExternalModuleTest, TheFirstFolderThatHasOneDecides) {
  std::vector<std::string> folders = {Folder("none"), FLYBALL_MODULE_OF_OTHER};
  for (const std::string& folder : ModuleFolders()) folders.push_back(folder);
  EXPECT_EQ(LoadExternalModule(folders).status().code(), absl::StatusCode::kFailedPrecondition);
}

}  // namespace
}  // namespace flyball::scaler
