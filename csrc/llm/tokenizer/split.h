// Cutting pieces of text at separators.
#pragma once

#include <csrc/llm/tokenizer/aligned_text.h>
#include <csrc/llm/tokenizer/pre_tokenizer.h>

#include <string>
#include <vector>

namespace torch::llm {

/// Where a separator goes.
enum class SplitBehavior { Removed, Isolated, MergedWithPrevious, MergedWithNext, Contiguous };

/// The name in tokenizer.json. Throws c10::Error for another one.
SplitBehavior read_split_behavior(const std::string& name);

/// Appends what becomes of `piece` when it is cut at `separators`, which are relative to its begin; empty parts are
/// left out. `invert` swaps separators and what lies between.
void append_split(
    std::vector<TextSpan>& out,
    TextSpan piece,
    const std::vector<TextSpan>& separators,
    SplitBehavior behavior,
    bool invert = false);

/// Cuts each split at what find(its text) gives.
template <class Find>
void split_each(PreTokenized& words, SplitBehavior behavior, bool invert, Find&& find) {
  std::vector<TextSpan> out;
  out.reserve(words.splits.size());
  for (const TextSpan& split : words.splits) {
    const std::string_view text = std::string_view(words.text.text()).substr(split.begin, split.size());
    append_split(out, split, find(text), behavior, invert);
  }
  words.splits = std::move(out);
}

/// Cuts each split at the characters for which matches(code) holds, each a separator of its own.
template <class Matches>
void split_at_characters(PreTokenized& words, SplitBehavior behavior, Matches&& matches) {
  split_each(words, behavior, false, [&](std::string_view text) {
    std::vector<TextSpan> found;
    for_each_character(text, [&](char32_t code, size_t offset, size_t length) {
      if (matches(code)) {
        found.push_back({static_cast<uint32_t>(offset), static_cast<uint32_t>(offset + length)});
      }
    });
    return found;
  });
}

} // namespace torch::llm
