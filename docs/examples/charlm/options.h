#pragma once

#include <cstdint>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

namespace charlm {

/// What the person at the keyboard can put right: main prints the text and leaves with exit code 2.
struct UserError : std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// The command line. A shape that is not given is the checkpoint's, or the default of ModelConfig.
struct Options {
  std::vector<std::string> files;
  std::string checkpoint = "charlm.ckpt";
  std::string device = "cpu";
  bool fresh = false;
  bool help = false;
  int64_t steps = 2000;
  int64_t seconds = 80; // of training; 0 is no limit
  int64_t batch = 16;
  int64_t sample = 400;
  int64_t threads = 0; // 0: the library's choice
  std::optional<uint64_t> seed;
  std::optional<int64_t> layers, width, context;
};

/// Reads the command line. Throws UserError for an option or a value that makes no sense.
Options parse_options(int argc, const char* const* argv);

/// The text of --help.
extern const char* const kUsage;

} // namespace charlm
