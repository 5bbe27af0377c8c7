// A character-level transformer that learns from text files: see --help.
#include <unistd.h>

#include <cstdio>
#include <exception>
#include <filesystem>
#include <memory>

#include <ATen/Parallel.h>
#include <c10/util/Exception.h>

#include "checkpoint.h"
#include "options.h"
#include "text.h"
#include "trainer.h"

namespace charlm {

namespace {

namespace fs = std::filesystem;

at::Device open_device(const std::string& name) {
  if (name != "cpu" && name != "cuda" && name.rfind("cuda:", 0) != 0) {
    throw UserError("--device takes cpu, cuda or cuda:N, not '" + name + "'");
  }
  try {
    const at::Device device(name);
    at::zeros({1}, at::TensorOptions(device));
    return device;
  } catch (const c10::Error& error) {
    throw UserError("--device " + name + " cannot be used: " + error.what_without_backtrace());
  }
}

/// Now, rather than after the training that would be lost.
void require_writable(const std::string& checkpoint) {
  const fs::path folder = fs::absolute(checkpoint).parent_path();
  if (fs::is_directory(checkpoint)) {
    throw UserError("the checkpoint " + checkpoint + " is a folder; name a file");
  }
  if (!fs::is_directory(folder) || access(folder.c_str(), W_OK) != 0) {
    throw UserError("cannot write a checkpoint in " + folder.string() + "; name another place with --checkpoint");
  }
}

void require_same(const char* option, std::optional<int64_t> wanted, int64_t has, const std::string& file) {
  if (wanted && *wanted != has) {
    throw UserError(
        "the model in " + file + " has " + option + " " + std::to_string(has) + ", not " + std::to_string(*wanted) +
        "; --fresh starts anew");
  }
}

std::unique_ptr<Trainer> continue_training(const Options& options, const std::string& text, at::Device device) {
  const Checkpoint checkpoint = load_checkpoint(options.checkpoint);
  require_same("--layers", options.layers, checkpoint.config.layers, options.checkpoint);
  require_same("--width", options.width, checkpoint.config.width, options.checkpoint);
  require_same("--context", options.context, checkpoint.config.context, options.checkpoint);
  auto trainer = std::make_unique<Trainer>(checkpoint, text, device);
  if (options.seed) {
    trainer->seed(*options.seed);
  }
  std::printf(
      "continuing from %s, step %ld (--fresh would start anew)\n", options.checkpoint.c_str(),
      static_cast<long>(trainer->step()));
  return trainer;
}

std::unique_ptr<Trainer> start_training(const Options& options, const std::string& text, at::Device device) {
  ModelConfig config;
  config.layers = options.layers.value_or(config.layers);
  config.width = options.width.value_or(config.width);
  config.context = options.context.value_or(config.context);
  Vocabulary vocabulary = Vocabulary::of(text);
  config.vocabulary = vocabulary.size();
  auto trainer = std::make_unique<Trainer>(config, std::move(vocabulary), text, options.seed.value_or(1), device);
  std::printf(
      "a new model: %ld blocks, width %ld, context %ld, %ld kinds of characters\n", static_cast<long>(config.layers),
      static_cast<long>(config.width), static_cast<long>(config.context), static_cast<long>(config.vocabulary));
  return trainer;
}

int run(const Options& options) {
  if (options.help) {
    std::fputs(kUsage, stdout);
    return 0;
  }
  if (options.threads > 0) {
    at::set_num_threads(static_cast<int>(options.threads));
  }
  const at::Device device = open_device(options.device);
  require_writable(options.checkpoint);
  const std::string text = read_text(options.files);
  const bool exists = !options.fresh && fs::exists(options.checkpoint);
  watch_signals();
  const std::unique_ptr<Trainer> trainer =
      exists ? continue_training(options, text, device) : start_training(options, text, device);
  std::printf(
      "text: %ld characters to learn from, %ld held out; on %s with %d threads\n",
      static_cast<long>(trainer->text().train.size(0)), static_cast<long>(trainer->text().held_out.size(0)),
      options.device.c_str(), at::get_num_threads());
  std::printf("held out: %.3f bits per character before training\n", trainer->held_out_bits());
  std::fflush(stdout);

  const bool whole = trainer->train(options);
  trainer->save(options.checkpoint);
  std::printf("saved %s at step %ld\n", options.checkpoint.c_str(), static_cast<long>(trainer->step()));
  if (whole) {
    std::printf("held out: %.3f bits per character after training\n", trainer->held_out_bits());
    std::fflush(stdout);
    if (options.sample > 0 && stop_signal == 0) {
      std::printf("---- a sample ----\n%s\n", printable(trainer->generate(options.sample)).c_str());
    }
  }
  return stop_signal == 0 ? 0 : 128 + static_cast<int>(stop_signal);
}

} // namespace

} // namespace charlm

int main(int argc, char** argv) {
  try {
    return charlm::run(charlm::parse_options(argc, argv));
  } catch (const charlm::UserError& error) {
    std::fprintf(stderr, "charlm: %s\n", error.what());
    return 2;
  } catch (const c10::Error& error) {
    std::fprintf(stderr, "charlm: %s\n", error.what_without_backtrace());
  } catch (const std::exception& error) {
    std::fprintf(stderr, "charlm: %s\n", error.what());
  }
  return 1;
}
