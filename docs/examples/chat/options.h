// What the program is told on its command line.
#pragma once

#include <torch/llm.h>

#include <string>

struct Options {
  std::string folder;
  std::string draft; ///< a folder, too
  std::string prompt; ///< one text to continue; empty: lines of the standard input
  torch::llm::LoadOptions load;
  torch::llm::GenerateOptions generate;
  torch::llm::CacheOptions cache;
};

/// Throws std::invalid_argument with a text for the user.
Options parse_options(int argc, char** argv);

extern const char* const kUsage;
