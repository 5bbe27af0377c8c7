// tensor-launch: starts a program once for each rank. See docs/distributed.md.
#include <csrc/distributed/launch/agent.h>

#include <unistd.h>

#include <cstdio>
#include <cstring>
#include <exception>

namespace launch = torch::distributed::launch;

int main(int argc, char** argv) {
  if (argc < 2 || std::strcmp(argv[1], "--help") == 0 || std::strcmp(argv[1], "-h") == 0) {
    std::fputs(launch::usage().c_str(), stdout);
    return argc < 2 ? 2 : 0;
  }
  try {
    return launch::run(launch::parse_arguments({argv + 1, argv + argc}), [](const std::string& text) {
      std::fputs(text.c_str(), stdout);
      std::fflush(stdout);
    });
  } catch (const std::exception& error) {
    std::fprintf(stderr, "tensor-launch: %s\n", error.what());
    return 2;
  }
}
