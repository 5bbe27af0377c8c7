// The readers as a target of libFuzzer. Built with -DTENSOR_FUZZERS=ON; docs/testing.md tells how to run it.
#include "readers.h"

#include <cstdlib>
#include <cstring>
#include <fstream>
#include <string>

extern "C" size_t LLVMFuzzerMutate(uint8_t* data, size_t size, size_t max_size);

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  fuzz::read_input(data, size);
  return 0;
}

extern "C" size_t LLVMFuzzerCustomMutator(uint8_t* data, size_t size, size_t max_size, unsigned int seed) {
  const size_t changed = LLVMFuzzerMutate(data, size, max_size);
  if (seed % 4 != 0) {
    fuzz::reseal(data, changed);
  }
  return changed;
}

// --write_inputs=FOLDER fills a folder to start from.
extern "C" int LLVMFuzzerInitialize(int* argc, char*** argv) {
  const char* const option = "--write_inputs=";
  for (int i = 1; i < *argc; ++i) {
    if (std::strncmp((*argv)[i], option, std::strlen(option)) == 0) {
      const std::string folder = (*argv)[i] + std::strlen(option);
      int count = 0;
      for (const std::string& input : fuzz::written_inputs()) {
        std::ofstream(folder + "/written_" + std::to_string(count++), std::ios::binary) << input;
      }
      std::exit(0);
    }
  }
  return 0;
}
