#include "options.h"

#include <cerrno>
#include <cstdlib>
#include <string_view>

namespace charlm {

const char* const kUsage = R"(charlm: a small transformer that learns to write, one character at a time

usage: charlm [options] [text files]
  Without files it reads the documentation and headers of the project it was built from.

  --steps N        training steps of this run (2000)
  --seconds N      stop training after N seconds, 0 for no limit (80, or no limit when --steps is given)
  --sample N       characters to write when done (400)
  --checkpoint F   where the model is kept; a later run continues from it (charlm.ckpt)
  --fresh          start anew even if there is a checkpoint
  --seed N         seed of weights, batches and sampling; a new model's is 1, a continued one goes on with its own
  --device D       cpu, cuda or cuda:N (cpu)
  --threads N      CPU threads (all cores)
  --batch N        sequences in one step (16)
  --layers N, --width N, --context N
                   shape of a new model: blocks (3), channels, a multiple of 32 (128), characters it looks back on (64)
  --help           this text

Ctrl-C saves the checkpoint and leaves with exit code 130. Bad options or unusable text: exit code 2.
)";

namespace {

int64_t integer(std::string_view option, const char* text, int64_t least, int64_t most) {
  errno = 0;
  char* end = nullptr;
  const long long value = std::strtoll(text, &end, 10);
  if (end == text || *end != '\0' || errno == ERANGE || value < least || value > most) {
    throw UserError(
        std::string(option) + " takes a whole number from " + std::to_string(least) + " to " + std::to_string(most) +
        ", not '" + text + "'");
  }
  return value;
}

} // namespace

Options parse_options(int argc, const char* const* argv) {
  constexpr int64_t kMany = 1'000'000'000;
  Options options;
  bool limit_given = false;
  bool steps_given = false;
  bool only_files = false;
  for (int i = 1; i < argc; ++i) {
    std::string name = argv[i];
    if (only_files || name.empty() || name[0] != '-') {
      options.files.push_back(std::move(name));
      continue;
    }
    if (name == "--") {
      only_files = true;
      continue;
    }
    if (name == "--help" || name == "-h") {
      options.help = true;
      return options;
    }
    if (name == "--fresh") {
      options.fresh = true;
      continue;
    }
    const size_t equals = name.find('=');
    std::optional<std::string> attached;
    if (equals != std::string::npos) {
      attached = name.substr(equals + 1);
      name.resize(equals);
    }
    const auto value = [&]() -> const char* {
      if (attached) {
        return attached->c_str();
      }
      if (i + 1 == argc) {
        throw UserError(name + " needs a value, see --help");
      }
      return argv[++i];
    };
    if (name == "--steps") {
      options.steps = integer(name, value(), 0, kMany);
      steps_given = true;
    } else if (name == "--seconds") {
      options.seconds = integer(name, value(), 0, kMany);
      limit_given = true;
    } else if (name == "--sample") {
      options.sample = integer(name, value(), 0, 1'000'000);
    } else if (name == "--seed") {
      options.seed = static_cast<uint64_t>(integer(name, value(), 0, INT64_MAX));
    } else if (name == "--threads") {
      options.threads = integer(name, value(), 1, 1024);
    } else if (name == "--batch") {
      options.batch = integer(name, value(), 1, 65536);
    } else if (name == "--layers") {
      options.layers = integer(name, value(), 1, 64);
    } else if (name == "--width") {
      options.width = integer(name, value(), 32, 4096);
      if (*options.width % 32 != 0) {
        throw UserError("--width must be a multiple of 32, the width of one attention head");
      }
    } else if (name == "--context") {
      options.context = integer(name, value(), 2, 4096);
    } else if (name == "--checkpoint") {
      options.checkpoint = value();
      if (options.checkpoint.empty()) {
        throw UserError("--checkpoint needs a file name");
      }
    } else if (name == "--device") {
      options.device = value();
    } else {
      throw UserError("unknown option " + name + ", see --help");
    }
  }
  if (steps_given && !limit_given) {
    options.seconds = 0;
  }
  return options;
}

} // namespace charlm
