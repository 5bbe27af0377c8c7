#include <csrc/llm/tokenizer/split.h>

#include <c10/util/Exception.h>

#include <algorithm>

namespace torch::llm {

namespace {

struct SplitPart {
  TextSpan span;
  bool is_separator;
};

std::vector<SplitPart> split_parts(TextSpan piece, const std::vector<TextSpan>& separators, bool invert) {
  std::vector<SplitPart> parts;
  parts.reserve(2 * separators.size() + 1);
  uint32_t last = piece.begin;
  for (const TextSpan& separator : separators) {
    const TextSpan span{piece.begin + separator.begin, piece.begin + separator.end};
    if (last != span.begin) {
      parts.push_back({{last, span.begin}, invert});
    }
    parts.push_back({span, !invert});
    last = span.end;
  }
  if (last != piece.end) {
    parts.push_back({{last, piece.end}, invert});
  }
  return parts;
}

/// Joins parts that lie beside each other: all of a kind, or a separator to the part before it.
std::vector<TextSpan> joined_parts(const std::vector<SplitPart>& parts, SplitBehavior behavior) {
  std::vector<TextSpan> joined;
  bool previous = false;
  for (const SplitPart& part : parts) {
    const bool joins =
        behavior == SplitBehavior::Contiguous ? part.is_separator == previous : part.is_separator && !previous;
    if (joins && !joined.empty()) {
      joined.back().end = part.span.end;
    } else {
      joined.push_back(part.span);
    }
    previous = part.is_separator;
  }
  return joined;
}

std::vector<TextSpan> joined_to_next(const std::vector<SplitPart>& parts) {
  std::vector<TextSpan> joined; // from the last to the first
  bool previous = false;
  for (auto part = parts.rbegin(); part != parts.rend(); ++part) {
    if (part->is_separator && !previous && !joined.empty()) {
      joined.back().begin = part->span.begin;
    } else {
      joined.push_back(part->span);
    }
    previous = part->is_separator;
  }
  std::reverse(joined.begin(), joined.end());
  return joined;
}

} // namespace

SplitBehavior read_split_behavior(const std::string& name) {
  if (name == "Removed") {
    return SplitBehavior::Removed;
  }
  if (name == "Isolated") {
    return SplitBehavior::Isolated;
  }
  if (name == "MergedWithPrevious") {
    return SplitBehavior::MergedWithPrevious;
  }
  if (name == "MergedWithNext") {
    return SplitBehavior::MergedWithNext;
  }
  TORCH_CHECK(
      name == "Contiguous", "split behavior '", name,
      "' is none of Removed, Isolated, MergedWithPrevious, MergedWithNext, Contiguous");
  return SplitBehavior::Contiguous;
}

void append_split(
    std::vector<TextSpan>& out,
    TextSpan piece,
    const std::vector<TextSpan>& separators,
    SplitBehavior behavior,
    bool invert) {
  const auto append = [&out](TextSpan span) {
    if (span.size() > 0) {
      out.push_back(span);
    }
  };
  if (behavior == SplitBehavior::Isolated || behavior == SplitBehavior::Removed) {
    const bool keeps[] = {
        behavior == SplitBehavior::Isolated || !invert, behavior == SplitBehavior::Isolated || invert};
    uint32_t last = piece.begin;
    for (const TextSpan& separator : separators) {
      if (keeps[0]) {
        append({last, piece.begin + separator.begin});
      }
      if (keeps[1]) {
        append({piece.begin + separator.begin, piece.begin + separator.end});
      }
      last = piece.begin + separator.end;
    }
    if (keeps[0]) {
      append({last, piece.end});
    }
    return;
  }
  const std::vector<SplitPart> parts = split_parts(piece, separators, invert);
  for (const TextSpan& span :
       behavior == SplitBehavior::MergedWithNext ? joined_to_next(parts) : joined_parts(parts, behavior)) {
    append(span);
  }
}

} // namespace torch::llm
