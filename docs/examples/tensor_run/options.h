// What the command line asks for.
#pragma once

#include <cstdint>
#include <stdexcept>
#include <string>
#include <vector>

namespace tensor_run {

/// What the user can put right.
struct UserError : std::runtime_error {
  using std::runtime_error::runtime_error;
};

extern const char* const kUsage;

struct Options {
  std::string model;
  std::string method = "forward";
  std::vector<std::string> inputs; // as given; "name=..." for keyword arguments
  bool graph = false;
  bool code_only = false; // nothing is run
  int64_t time = 0;
  bool profile = false;
  std::string trace;
  std::string output;
  std::string device = "cpu";
  int64_t threads = 0;
  int64_t seed = 0;
  bool train = false;
  bool freeze = false;
  bool optimize = false;
  bool full = false;
  bool help = false;
};

/// Throws UserError.
Options parse_options(int argc, char** argv);

} // namespace tensor_run
