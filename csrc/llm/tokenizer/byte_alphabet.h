// The alphabet of GPT-2: a printable character for each byte.
#pragma once

#include <csrc/llm/tokenizer/aligned_text.h>

#include <array>
#include <cstdint>
#include <string_view>

namespace torch::llm {

/// The character of each byte: printable characters of Latin-1 are themselves, the others follow from U+0100 on.
const std::array<char32_t, 256>& byte_alphabet();

/// The byte of a character; -1 when it is not in the alphabet.
int byte_of_character(char32_t code);

/// Appends bytes `span` of `source`, each as its character; a character of several bytes gives them all its origin.
void append_in_byte_alphabet(AlignedText& out, const AlignedText& source, TextSpan span);

} // namespace torch::llm
