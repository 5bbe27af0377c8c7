#pragma once

#include <csignal>
#include <string>

#include "adamw.h"
#include "checkpoint.h"
#include "model.h"
#include "options.h"
#include "text.h"

namespace charlm {

/// The signal that asked to stop (SIGINT or SIGTERM), or 0. A second one ends the program at once.
extern volatile std::sig_atomic_t stop_signal;
void watch_signals();

/// A model with its text, optimizer and random numbers: what a checkpoint holds and a run of training changes.
class Trainer {
 public:
  /// A new model.
  Trainer(const ModelConfig& config, Vocabulary vocabulary, const std::string& text, uint64_t seed, at::Device device);
  /// Where `checkpoint` left off.
  Trainer(const Checkpoint& checkpoint, const std::string& text, at::Device device);

  void seed(uint64_t seed) {
    generator_.set_current_seed(seed);
  }
  /// Bits for each character of the held-out text, or of its beginning if it is long.
  double held_out_bits() const;
  /// Trains and saves now and then, until done or told to stop. Returns false if told to stop.
  bool train(const Options& options);
  /// `count` characters of the model's own.
  std::string generate(int64_t count);
  void save(const std::string& path) const;
  int64_t step() const {
    return step_;
  }
  const Split& text() const {
    return text_;
  }

 private:
  struct Batch {
    at::Tensor input, target;
  };

  Batch random_batch(int64_t size);
  at::Tensor loss(const Batch& batch) const;

  Vocabulary vocabulary_;
  Split text_;
  at::Device device_;
  at::Generator generator_;
  Model model_;
  AdamW optimizer_;
  int64_t step_ = 0;
};

} // namespace charlm
