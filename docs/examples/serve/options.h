// What the program is told on its command line.
#pragma once

#include <torch/llm.h>

#include <cstdint>
#include <string>

struct Options {
  std::string folder;
  std::string name; ///< of the model, for clients; that of the folder where it is not given
  std::string host = "127.0.0.1";
  int port = 8080; ///< 0: one that is free
  torch::llm::LoadOptions load;
  torch::llm::EngineOptions engine;
  int64_t queue = 64; ///< answers that may wait for a place in the batch
  int64_t default_tokens = 1024; ///< of a chat's answer that asks for no number
  int64_t body_limit = 4 << 20; ///< bytes of a request
  int64_t grace = 10; ///< seconds that running answers have when the program is told to end
};

/// Throws std::invalid_argument with a text for the user.
Options parse_options(int argc, char** argv);

extern const char* const kUsage;
