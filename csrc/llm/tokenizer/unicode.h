// Properties and forms of Unicode characters, from utf8proc; see Note [Versions of Unicode].
#pragma once

#include <csrc/llm/tokenizer/aligned_text.h>

#include <string>
#include <string_view>
#include <vector>

namespace torch::llm {

/// The property White_Space.
bool is_space(char32_t code);
/// General categories Nd, Nl and No.
bool is_numeric(char32_t code);
/// ASCII punctuation and symbols, and the general categories P*.
bool is_punctuation(char32_t code);
/// General categories Cc, Cf, Co and Cs.
bool is_control(char32_t code);
/// General categories Mn, Mc and Me.
bool is_mark(char32_t code);
/// General category Mn.
bool is_nonspacing_mark(char32_t code);
/// The ideographs that BERT puts spaces around.
bool is_cjk_ideograph(char32_t code);

/// Appends the full lower-case form: one character, two for U+0130.
void append_lowercase(std::vector<TextEdit>& out, char32_t code);

/// The simple upper-case form.
char32_t to_upper(char32_t code);
/// General categories Lu, Ll and Lt.
bool is_cased(char32_t code);
/// General categories L*.
bool is_letter(char32_t code);

enum class UnicodeForm { NFC, NFD, NFKC, NFKD };

/// The normal form of the text as edits of it.
std::vector<TextEdit> unicode_form(std::string_view text, UnicodeForm form);

/// Whether a grapheme cluster ends between two characters; `state` begins at 0 and is kept from pair to pair.
bool is_grapheme_break(char32_t before, char32_t after, int& state);

} // namespace torch::llm
