// What a recording depends on.
#pragma once

#include <csrc/capture/compiled_function.h>

#include <cstdint>
#include <string>
#include <vector>

namespace torch::capture {

/// A call's kind as words: equal words, equal recordings.
using Guards = std::vector<int64_t>;

/// The words of modules, one each: which parts of them train. They last while nn::module_changes() does.
Guards training_guards(const std::vector<std::shared_ptr<nn::Module>>& modules);
/// The words of a call on this thread, now, in place of what is in `guards`.
void guards_of(const Inputs& inputs, const Guards& training, Guards& guards);
/// The words that calls of one kind have in common which differ in sizes: of each size whether it is 0, 1 or more, of
/// strides their order.
Guards guards_but_sizes(const Inputs& inputs, const Guards& training);
/// Those of one tensor.
void add_tensor(const at::Tensor& tensor, Guards& guards);
/// Whether a tensor has the words at `word`, which goes behind them.
bool has_words(const at::Tensor& tensor, const int64_t*& word);
/// What a word is about: "size 0 of tensor 1", "gradients are recorded".
std::string describe_guard(const Inputs& inputs, size_t num_modules, size_t word);
/// The first difference of two calls in words for people.
std::string difference_of_guards(const Guards& before, const Guards& now, const Inputs& inputs, size_t num_modules);
/// Guards as a text, one line for each tensor and constant.
std::string show_guards(const Inputs& inputs);

} // namespace torch::capture
