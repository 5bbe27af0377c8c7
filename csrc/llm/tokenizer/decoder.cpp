#include <csrc/llm/tokenizer/decoder.h>

#include <csrc/llm/fields.h>
#include <csrc/llm/tokenizer/byte_alphabet.h>
#include <csrc/llm/tokenizer/matcher.h>

#include <array>
#include <charconv>
#include <utility>

namespace torch::llm {

namespace {

constexpr int kMaxDecoderDepth = 16;
constexpr size_t kMaxDecodedBytes = size_t(1) << 28; // of one token

/// A decoder that is a function of the tokens.
template <class Function>
class DecoderOf final : public TextDecoder {
 public:
  explicit DecoderOf(Function function) : function_(std::move(function)) {}
  void decode(std::vector<std::string>& tokens) const override {
    function_(tokens);
  }

 private:
  Function function_;
};

template <class Function>
DecoderPtr decoder_of(Function function) {
  return std::make_unique<DecoderOf<Function>>(std::move(function));
}

std::string replace_spans(const std::string& text, const std::vector<TextSpan>& spans, const std::string& content) {
  std::string out;
  size_t last = 0;
  for (const TextSpan& span : spans) {
    out.append(text, last, span.begin - last);
    out += content;
    last = span.end;
    TORCH_CHECK(out.size() <= kMaxDecodedBytes, "a decoder makes more than ", kMaxDecodedBytes, " bytes of a token");
  }
  return out.append(text, last, std::string::npos);
}

void replace_all(std::string& text, const std::string& from, const std::string& to) {
  if (text.find(from) != std::string::npos) {
    text = replace_spans(text, literal_matcher(from)->find_all(text), to);
  }
}

/// What English text has no space before.
void clean_up(std::string& text) {
  static constexpr std::array<std::array<const char*, 2>, 11> kRules = {
      {{" .", "."},
       {" ?", "?"},
       {" !", "!"},
       {" ,", ","},
       {" ' ", "'"},
       {" n't", "n't"},
       {" 'm", "'m"},
       {" do not", " don't"},
       {" 's", "'s"},
       {" 've", "'ve"},
       {" 're", "'re"}}};
  for (const auto& [from, to] : kRules) {
    replace_all(text, from, to);
  }
}

void join(std::vector<std::string>& tokens) {
  std::string text;
  for (const std::string& token : tokens) {
    text += token;
  }
  tokens.assign(1, std::move(text));
}

/// In GPT-2's alphabet a token is the bytes of its characters; one with another character is its own text.
class ByteLevelDecoder final : public TextDecoder {
 public:
  void decode(std::vector<std::string>& tokens) const override {
    std::string bytes;
    for (const std::string& token : tokens) {
      bytes += *raw_bytes(token);
    }
    tokens.assign(1, replace_invalid_utf8(bytes));
  }
  std::optional<std::string> raw_bytes(const std::string& token) const override {
    std::string bytes;
    for (size_t i = 0; i < token.size(); i += utf8_length(token[i])) {
      const int byte = byte_of_character(utf8_decode(token.data() + i));
      if (byte < 0) {
        return token;
      }
      bytes += static_cast<char>(byte);
    }
    return bytes;
  }
};

/// The byte of "<0xE2>"; -1 when the token is no byte.
int byte_of_token(const std::string& token) {
  if (token.size() != 6 || !token.starts_with("<0x") || token.back() != '>') {
    return -1;
  }
  unsigned byte = 0;
  const auto [end, error] = std::from_chars(token.data() + 3, token.data() + 5, byte, 16);
  return error == std::errc() && end == token.data() + 5 ? static_cast<int>(byte) : -1;
}

class ByteFallbackDecoder final : public TextDecoder {
 public:
  void decode(std::vector<std::string>& tokens) const override {
    std::vector<std::string> out;
    std::string bytes;
    const auto end_bytes = [&] {
      if (bytes.empty()) {
        return;
      }
      if (find_invalid_utf8(bytes) == std::string::npos) {
        out.push_back(bytes);
      } else {
        out.insert(out.end(), bytes.size(), "\xef\xbf\xbd");
      }
      bytes.clear();
    };
    for (std::string& token : tokens) {
      const int byte = byte_of_token(token);
      if (byte >= 0) {
        bytes += static_cast<char>(byte);
      } else {
        end_bytes();
        out.push_back(std::move(token));
      }
    }
    end_bytes();
    tokens = std::move(out);
  }
  std::optional<std::string> raw_bytes(const std::string& token) const override {
    const int byte = byte_of_token(token);
    return byte < 0 ? std::nullopt : std::optional<std::string>(std::string(1, static_cast<char>(byte)));
  }
};

class DecoderSequence final : public TextDecoder {
 public:
  explicit DecoderSequence(std::vector<DecoderPtr> steps) : steps_(std::move(steps)) {}

  void decode(std::vector<std::string>& tokens) const override {
    for (const DecoderPtr& step : steps_) {
      step->decode(tokens);
    }
  }
  std::optional<std::string> raw_bytes(const std::string& token) const override {
    for (const DecoderPtr& step : steps_) {
      if (std::optional<std::string> bytes = step->raw_bytes(token)) {
        return bytes;
      }
    }
    return std::nullopt;
  }

 private:
  std::vector<DecoderPtr> steps_;
};

DecoderPtr bpe_decoder(const Fields& fields) {
  const std::string suffix = fields.text("suffix", "</w>");
  TORCH_CHECK(!suffix.empty(), "BPEDecoder: 'suffix' must not be empty");
  return decoder_of([suffix](std::vector<std::string>& tokens) {
    for (size_t i = 0; i < tokens.size(); ++i) {
      replace_all(tokens[i], suffix, i + 1 == tokens.size() ? "" : " ");
    }
  });
}

DecoderPtr strip_decoder(const Fields& fields) {
  const std::string content = fields.text("content", " ");
  TORCH_CHECK(count_characters(content) == 1, "Strip: 'content' must be one character, found '", content, "'");
  const auto count = [&](std::string_view name) {
    const program::Json* const value = fields.find(name);
    return value ? value->as_int() : int64_t{0};
  };
  return decoder_of([content, start = count("start"), stop = count("stop")](std::vector<std::string>& tokens) {
    for (std::string& token : tokens) {
      for (int64_t i = 0; i < start && token.starts_with(content); ++i) {
        token.erase(0, content.size());
      }
      for (int64_t i = 0; i < stop && token.ends_with(content); ++i) {
        token.erase(token.size() - content.size());
      }
    }
  });
}

DecoderPtr replace_decoder(const Fields& fields) {
  const program::Json* const pattern = fields.find("pattern");
  TORCH_CHECK(pattern, "Replace: 'pattern' is missing");
  return decoder_of(
      [matcher = read_matcher(*pattern), content = fields.text("content", "")](std::vector<std::string>& tokens) {
        for (std::string& token : tokens) {
          token = replace_spans(token, matcher->find_all(token), content);
        }
      });
}

/// Connectionist temporal classification: repeated tokens are one, the pad token is none.
DecoderPtr ctc_decoder(const Fields& fields) {
  const std::string pad = fields.text("pad_token", "<pad>"), delimiter = fields.text("word_delimiter_token", "|");
  TORCH_CHECK(!pad.empty() && !delimiter.empty(), "CTC: 'pad_token' and 'word_delimiter_token' must not be empty");
  return decoder_of([pad, delimiter, cleanup = fields.flag("cleanup", true)](std::vector<std::string>& tokens) {
    std::vector<std::string> out;
    for (size_t i = 0; i < tokens.size(); ++i) {
      if (i > 0 && tokens[i] == tokens[i - 1]) {
        continue;
      }
      std::string text = tokens[i];
      replace_all(text, pad, "");
      if (cleanup) {
        clean_up(text);
        replace_all(text, delimiter, " ");
      }
      if (!text.empty()) {
        out.push_back(std::move(text));
      }
    }
    tokens = std::move(out);
  });
}

DecoderPtr read_nested_decoder(const program::Json& json, int depth);

DecoderPtr read_decoder_sequence(const Fields& fields, int depth) {
  const program::Json* const steps = fields.find("decoders");
  TORCH_CHECK(steps, "Sequence: 'decoders' is missing");
  std::vector<DecoderPtr> read;
  for (const program::Json& step : steps->items()) {
    read.push_back(read_nested_decoder(step, depth + 1));
  }
  return make_decoder_sequence(std::move(read));
}

DecoderPtr read_nested_decoder(const program::Json& json, int depth) {
  TORCH_CHECK(depth < kMaxDecoderDepth, "decoders are nested deeper than ", kMaxDecoderDepth);
  const std::string type = Fields(json, "decoder").text("type", "");
  const Fields fields(json, type);
  if (type == "ByteLevel") {
    return make_byte_level_decoder();
  }
  if (type == "Metaspace") {
    return make_metaspace_decoder(read_metaspace_replacement(json), read_metaspace_prepend(json));
  }
  if (type == "WordPiece") {
    return make_word_piece_decoder(fields.text("prefix", "##"), fields.flag("cleanup", true));
  }
  if (type == "ByteFallback") {
    return make_byte_fallback_decoder();
  }
  if (type == "Fuse") {
    return decoder_of(join);
  }
  if (type == "Strip") {
    return strip_decoder(fields);
  }
  if (type == "Replace") {
    return replace_decoder(fields);
  }
  if (type == "BPEDecoder") {
    return bpe_decoder(fields);
  }
  if (type == "CTC") {
    return ctc_decoder(fields);
  }
  TORCH_CHECK(
      type == "Sequence", "decoder type '", type,
      "' is not supported; supported: BPEDecoder, ByteFallback, ByteLevel, CTC, Fuse, Metaspace, Replace, Sequence, "
      "Strip, WordPiece");
  return read_decoder_sequence(fields, depth);
}

} // namespace

DecoderPtr read_decoder(const program::Json& json) {
  return read_nested_decoder(json, 0);
}

DecoderPtr make_byte_level_decoder() {
  return std::make_unique<ByteLevelDecoder>();
}

DecoderPtr make_metaspace_decoder(std::string replacement, MetaspacePrepend prepend) {
  return decoder_of([replacement = std::move(replacement), prepend](std::vector<std::string>& tokens) {
    for (size_t i = 0; i < tokens.size(); ++i) {
      replace_all(tokens[i], replacement, i == 0 && prepend != MetaspacePrepend::Never ? "" : " ");
    }
  });
}

DecoderPtr make_word_piece_decoder(std::string prefix, bool cleanup) {
  return decoder_of([prefix = std::move(prefix), cleanup](std::vector<std::string>& tokens) {
    for (size_t i = 0; i < tokens.size(); ++i) {
      if (i > 0 && tokens[i].starts_with(prefix)) {
        tokens[i].erase(0, prefix.size());
      } else if (i > 0) {
        tokens[i].insert(0, 1, ' ');
      }
      if (cleanup) {
        clean_up(tokens[i]);
      }
    }
  });
}

DecoderPtr make_byte_fallback_decoder() {
  return std::make_unique<ByteFallbackDecoder>();
}

DecoderPtr make_decoder_sequence(std::vector<DecoderPtr> steps) {
  return std::make_unique<DecoderSequence>(std::move(steps));
}

} // namespace torch::llm
