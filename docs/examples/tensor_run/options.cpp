#include "options.h"

#include <cstdlib>

namespace tensor_run {

const char* const kUsage = R"(usage: tensor-run MODEL.pt [options]

Loads a TorchScript program and shows its methods. With inputs it runs it and shows what comes out.

  --input SPEC    the next argument; NAME=SPEC gives it by name. SPEC is one of
                    float32[1,3,224,224]    random numbers of the normal distribution
                    int64[2,16]:1000        random whole numbers below 1000 (2 if there is none)
                    FILE.pt                 what Python's torch.save wrote: a tensor or any other value
                    FILE.safetensors:KEY    a tensor of the file (KEY may be left out if it has only one)
                    7, 0.5, true, none, str:TEXT, [1,2,3]
  --method NAME   what to run                               forward
  --graph         print the method's graph
  --time N        run it N more times and tell how long a run takes
  --profile       run it once more and print the time of each operator
  --trace FILE    with --profile: a trace for chrome://tracing
  --full          print all of the results, not only their shapes
  --output FILE   save the result, for Python's torch.load
  --freeze        freeze the module first
  --optimize      optimize it for inference first
  --train         in training mode, with gradients
  --device NAME   cpu, cuda or cuda:N                       cpu
  --threads N     threads of an operator                    one per core
  --seed N        of random inputs                          0
  --no-run        only show the program
)";

namespace {

int64_t whole_number(const std::string& option, const std::string& text, int64_t least) {
  char* end = nullptr;
  const long long value = std::strtoll(text.c_str(), &end, 10);
  if (text.empty() || *end != '\0' || value < least || value > 1000000000) {
    throw UserError(option + " takes a whole number from " + std::to_string(least) + ", not '" + text + "'");
  }
  return value;
}

} // namespace

Options parse_options(int argc, char** argv) {
  Options options;
  for (int i = 1; i < argc; ++i) {
    const std::string option = argv[i];
    const auto value = [&]() -> std::string {
      if (++i >= argc) {
        throw UserError(option + " needs a value");
      }
      return argv[i];
    };
    if (option == "--help") {
      options.help = true;
    } else if (option == "--input") {
      options.inputs.push_back(value());
    } else if (option == "--method") {
      options.method = value();
    } else if (option == "--graph") {
      options.graph = true;
    } else if (option == "--time") {
      options.time = whole_number(option, value(), 1);
    } else if (option == "--profile") {
      options.profile = true;
    } else if (option == "--trace") {
      options.trace = value();
      options.profile = true;
    } else if (option == "--full") {
      options.full = true;
    } else if (option == "--output") {
      options.output = value();
    } else if (option == "--freeze") {
      options.freeze = true;
    } else if (option == "--optimize") {
      options.optimize = true;
    } else if (option == "--train") {
      options.train = true;
    } else if (option == "--device") {
      options.device = value();
    } else if (option == "--threads") {
      options.threads = whole_number(option, value(), 1);
    } else if (option == "--seed") {
      options.seed = whole_number(option, value(), 0);
    } else if (option == "--no-run") {
      options.code_only = true;
    } else if (option.rfind("-", 0) == 0) {
      throw UserError("there is no option " + option + "; --help lists them");
    } else if (options.model.empty()) {
      options.model = option;
    } else {
      throw UserError("one model only, not " + options.model + " and " + option);
    }
  }
  if (options.model.empty() && !options.help) {
    throw UserError("which model? --help tells how it is called");
  }
  if (options.train && (options.freeze || options.optimize)) {
    throw UserError("--train cannot go with --freeze or --optimize: those are for inference");
  }
  return options;
}

} // namespace tensor_run
