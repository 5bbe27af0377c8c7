// Tests that need a GPU. Without one they are not run, and the exit code 77 tells ctest so: nothing passes here unseen.
#define CATCH_CONFIG_RUNNER
#include <catch2/catch.hpp>

#include <torch/torch.h>

#include <cstdio>

int main(int argc, char** argv) {
  if (!torch::cuda::is_available()) {
    try {
      torch::zeros({1}, torch::kCUDA);
    } catch (const c10::Error& error) {
      std::printf("SKIPPED, no test was run: %s\n", error.what_without_backtrace());
      return 77;
    }
    std::printf("is_available() is false, but a tensor could be made on cuda\n");
    return 1;
  }
  at::globalContext().setAllowTF32CuDNN(false); // compared is float
  return Catch::Session().run(argc, argv);
}
