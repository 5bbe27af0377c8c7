#include <csrc/llm/tokenizer/length_rules.h>

#include <csrc/llm/fields.h>

#include <algorithm>

namespace torch::llm {

namespace {

// A row of padding tokens takes memory; nobody pads further.
constexpr int64_t kMaxPaddedLength = int64_t{1} << 22;

bool is_left(const Fields& fields) {
  const std::string direction = fields.text("direction", "Right");
  TORCH_CHECK(
      direction == "Right" || direction == "Left", fields.where(), ": 'direction' is '", direction,
      "'; it must be Right or Left");
  return direction == "Left";
}

void keep(Encoding& encoding, size_t length, bool from_left) {
  const size_t removed = encoding.size() - std::min(length, encoding.size());
  const auto cut = [&](auto& values) {
    const auto count = static_cast<ptrdiff_t>(removed);
    from_left ? values.erase(values.begin(), values.begin() + count) : values.erase(values.end() - count, values.end());
  };
  cut(encoding.ids);
  cut(encoding.offsets);
  cut(encoding.type_ids);
  cut(encoding.special_tokens_mask);
  cut(encoding.attention_mask);
}

/// The longer one is cut first, then both.
void keep_longest_first(Encoding& first, Encoding& second, size_t length, bool from_left) {
  size_t shorter = std::min(first.size(), second.size()), longer = std::max(first.size(), second.size());
  longer = shorter > length ? shorter : std::max(shorter, length - shorter);
  if (shorter + longer > length) {
    shorter = length / 2;
    longer = shorter + length % 2;
  }
  const bool first_is_longer = first.size() > second.size();
  keep(first, first_is_longer ? longer : shorter, from_left);
  keep(second, first_is_longer ? shorter : longer, from_left);
}

} // namespace

Truncation read_truncation(const program::Json& json) {
  const Fields fields(json, "truncation");
  Truncation read;
  read.max_length = static_cast<size_t>(fields.size("max_length"));
  read.from_left = is_left(fields);
  const std::string strategy = fields.text("strategy", "LongestFirst");
  TORCH_CHECK(
      strategy == "LongestFirst" || strategy == "OnlyFirst" || strategy == "OnlySecond", "truncation: strategy '",
      strategy, "' is none of LongestFirst, OnlyFirst, OnlySecond");
  read.strategy = strategy == "OnlyFirst" ? Truncation::Strategy::OnlyFirst
      : strategy == "OnlySecond"          ? Truncation::Strategy::OnlySecond
                                          : Truncation::Strategy::LongestFirst;
  return read;
}

Padding read_padding(const program::Json& json) {
  const Fields fields(json, "padding");
  Padding read;
  const program::Json* const strategy = fields.find("strategy");
  if (strategy && strategy->is_object()) {
    const int64_t length = Fields(*strategy, "padding: strategy").size("Fixed");
    TORCH_CHECK(length <= kMaxPaddedLength, "padding: a length of ", length, " is more than ", kMaxPaddedLength);
    read.fixed_length = static_cast<size_t>(length);
  } else {
    TORCH_CHECK(
        !strategy || strategy->as_string() == "BatchLongest",
        "padding: strategy must be BatchLongest or {\"Fixed\": n}");
  }
  read.multiple_of = static_cast<size_t>(fields.size("pad_to_multiple_of", 1));
  TORCH_CHECK(
      static_cast<int64_t>(read.multiple_of) <= kMaxPaddedLength, "padding: 'pad_to_multiple_of' is more than ",
      kMaxPaddedLength);
  read.on_left = is_left(fields);
  const auto id = [&](std::string_view name) {
    const program::Json* const value = fields.find(name);
    return value ? value->as_int() : int64_t{0};
  };
  read.id = id("pad_id");
  read.type_id = id("pad_type_id");
  return read;
}

void truncate(std::vector<Encoding>& parts, const Truncation& truncation, size_t reserved) {
  TORCH_CHECK(
      truncation.max_length >= reserved, "truncation: max_length ", truncation.max_length, " has no room for the ",
      reserved, " tokens of the template");
  const size_t length = truncation.max_length - reserved;
  size_t total = 0;
  for (const Encoding& part : parts) {
    total += part.size();
  }
  if (total <= length) {
    return;
  }
  if (truncation.strategy == Truncation::Strategy::LongestFirst) {
    parts.size() == 2 ? keep_longest_first(parts[0], parts[1], length, truncation.from_left)
                      : keep(parts[0], length, truncation.from_left);
    return;
  }
  const size_t index = truncation.strategy == Truncation::Strategy::OnlySecond ? 1 : 0;
  TORCH_CHECK(index < parts.size(), "truncation: strategy OnlySecond needs a second text");
  TORCH_CHECK(
      parts[index].size() > total - length, "truncation: the text to shorten has ", parts[index].size(),
      " tokens, but ", total - length, " must go; use strategy LongestFirst");
  keep(parts[index], parts[index].size() - (total - length), truncation.from_left);
}

void pad(Encoding& encoding, const Padding& padding, size_t longest) {
  size_t length = padding.fixed_length.value_or(longest);
  length = (length + padding.multiple_of - 1) / padding.multiple_of * padding.multiple_of;
  if (encoding.size() >= length) {
    return;
  }
  const size_t count = length - encoding.size();
  const auto fill = [&](auto& values, const auto& value) {
    values.insert(padding.on_left ? values.begin() : values.end(), count, value);
  };
  fill(encoding.ids, padding.id);
  fill(encoding.offsets, std::pair<size_t, size_t>(0, 0));
  fill(encoding.type_ids, padding.type_id);
  fill(encoding.special_tokens_mask, uint8_t{1});
  fill(encoding.attention_mask, uint8_t{0});
}

} // namespace torch::llm
