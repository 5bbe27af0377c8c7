// Milliseconds of processor time for an image of 224 x 224, with one thread: the programs that tools/bench/convnet_peer
// has written, in float32 and in int8.
//
//   convnet FOLDER [ROUNDS]
#include "measure.h"

#include <torch/script.h>
#include <torch/torch.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <limits>
#include <string>

int main(int argc, char** argv) {
  if (argc < 2) {
    std::fprintf(stderr, "convnet FOLDER [ROUNDS]: FOLDER as tools/bench/convnet_peer has filled it\n");
    return 2;
  }
  const std::string folder = argv[1];
  const int rounds = argc > 2 ? std::atoi(argv[2]) : 5;
  torch::set_num_threads(1);
  const torch::NoGradGuard no_grad;
  const at::Tensor x = torch::randn({1, 3, 224, 224});
  for (const char* name : {"resnet18", "resnet18_int8", "mobilenet_v2", "mobilenet_v2_int8"}) {
    auto program = torch::jit::load(folder + "/" + name + ".pt");
    double best = std::numeric_limits<double>::infinity();
    for (int i = 0; i < rounds + 2; ++i) {
      const double start = now();
      program.forward({x});
      best = std::min(best, now() - start);
    }
    std::printf("%-18s %8.2f ms\n", name, best / 1e6);
  }
}
