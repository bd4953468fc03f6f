// What series of pods are like: so many of each kind, and how their values go on.
#pragma once

#include <cmath>
#include <cstdint>
#include <random>

namespace flyball::bench {

using Random = std::mt19937_64;

struct Kind {
  const char* name;
  int share;  // of 100 series
  double (*next)(double before, Random& random);
};

inline double Uniform(Random& random) { return static_cast<double>(random() >> 11) * 0x1p-53; }
inline double Round(double value, double unit) { return std::round(value / unit) * unit; }
inline double Decimals(double value, double power) { return std::round(value * power) / power; }

inline const Kind kKinds[] = {
    {"constant", 35, [](double before, Random&) { return before; }},
    {"requests: counter, +0 to 20", 25,
     [](double before, Random& r) { return before + static_cast<double>(r() % 21); }},
    {"bucket: counter, +0 to 2", 10,
     [](double before, Random& r) { return before + static_cast<double>(r() % 3); }},
    {"bytes: counter, +50,000 to 150,000", 10,
     [](double before, Random& r) { return before + 50'000 + static_cast<double>(r() % 100'000); }},
    {"load: gauge of two decimals, moves by 0.5", 8,
     [](double before, Random& r) { return Decimals(before + Uniform(r) - 0.5, 100); }},
    {"memory: gauge of pages, moves by 1 MiB", 6,
     [](double before, Random& r) { return before + Round((Uniform(r) - 0.5) * 0x1p21, 4096); }},
    {"cpu: counter of microseconds, +0.1 to 0.2 s", 3,
     [](double before, Random& r) { return Decimals(before + 0.1 + Uniform(r) * 0.1, 1e6); }},
    {"sum: counter of doubles, +0 to 1", 3,
     [](double before, Random& r) { return before + Uniform(r); }},
};

inline const Kind& KindOf(int series) {
  int place = (series * 37) % 100;
  for (const Kind& kind : kKinds) {
    if ((place -= kind.share) < 0) return kind;
  }
  return kKinds[0];
}

}  // namespace flyball::bench
