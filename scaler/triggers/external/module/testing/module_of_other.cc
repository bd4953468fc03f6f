// For module_test.cc: a module that belongs to a program with another interface.
#include "scaler/triggers/external/module.h"

extern "C" {
extern __attribute__((visibility("default")))
const flyball::scaler::ExternalModule flyball_external_module;
const flyball::scaler::ExternalModule flyball_external_module = {.interface = "0.0.1 other",
                                                                 .make = nullptr};
}
