// Decoders of tokenizer.json: how tokens become text again.
#pragma once

#include <csrc/llm/tokenizer/pre_tokenizer.h>
#include <csrc/program/json.h>

#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace torch::llm {

/// Changes the texts of tokens, which are joined afterwards; const calls from several threads are safe.
class TextDecoder {
 public:
  virtual ~TextDecoder() = default;
  virtual void decode(std::vector<std::string>& tokens) const = 0;
  /// The bytes that a token stands for, where characters may be spread over several tokens; nothing where it is text.
  virtual std::optional<std::string> raw_bytes(const std::string& token) const {
    static_cast<void>(token);
    return std::nullopt;
  }
};

using DecoderPtr = std::unique_ptr<const TextDecoder>;

/// The decoder that an object of tokenizer.json describes. Throws c10::Error for a type that is not known.
DecoderPtr read_decoder(const program::Json& json);

DecoderPtr make_byte_level_decoder();
/// `replacement` becomes a space; in the first token it disappears unless prepend is Never.
DecoderPtr make_metaspace_decoder(std::string replacement, MetaspacePrepend prepend);
/// "<0xE2>" and its like become bytes, an invalid one U+FFFD.
DecoderPtr make_byte_fallback_decoder();
DecoderPtr make_word_piece_decoder(std::string prefix = "##", bool cleanup = true);
DecoderPtr make_decoder_sequence(std::vector<DecoderPtr> steps);

} // namespace torch::llm
