// Base64 (RFC 4648) as tokenizer.json holds bytes.
#pragma once

#include <string>
#include <string_view>

namespace torch::llm {

/// Throws c10::Error when the text is not base64 with its padding.
std::string decode_base64(std::string_view text);

} // namespace torch::llm
