// Characters that the Unicode tables of Hugging Face's `tokenizers` do not have yet.
#pragma once

namespace torch::llm {

// Note [Versions of Unicode]
// Its normal forms and StripAccents are those of Unicode 9, its categories of marks, punctuation and formats those of
// Unicode 8; digits, letters and regular expressions are newer. Vocabularies were made with these, so a character that
// is younger is no mark, no punctuation and has no decomposition here either, whatever the installed utf8proc says.

/// Marks (and combining classes) of Unicode 10 and later.
bool is_mark_since_9(char32_t code);
/// Nonspacing marks that Unicode 9 added.
bool is_mark_of_9(char32_t code);
/// Punctuation of Unicode 9 and later.
bool is_punctuation_since_8(char32_t code);
/// Format characters of Unicode 9 and later.
bool is_format_since_8(char32_t code);
/// Characters of Unicode 10 and later that decompose.
bool is_decomposition_since_9(char32_t code);

} // namespace torch::llm
