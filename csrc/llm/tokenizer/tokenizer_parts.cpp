// Tokenizers from a vocabulary and its merges or scores.
#include <csrc/llm/tokenizer/matcher.h>
#include <csrc/llm/tokenizer/tokenizer_impl.h>
#include <csrc/llm/tokenizer/utf8.h>

#include <c10/util/Exception.h>

#include <algorithm>
#include <cmath>

namespace torch::llm {

namespace {

using TokenType = TokenizerParts::TokenType;

constexpr char kSpaceMark[] = "\xe2\x96\x81"; // U+2581

TokenType type_of(const TokenizerParts& parts, size_t id) {
  return parts.types.empty() ? TokenType::Normal : parts.types[id];
}

/// Control tokens are special; they and the user's are found before anything else.
std::vector<AddedToken> added_tokens_of(const TokenizerParts& parts, bool user_defined_normalized) {
  std::vector<AddedToken> added;
  for (size_t id = 0; id < parts.tokens.size(); ++id) {
    const TokenType type = type_of(parts, id);
    if (type != TokenType::Control && type != TokenType::UserDefined && type != TokenType::Unknown) {
      continue;
    }
    AddedToken token;
    token.id = static_cast<int32_t>(id);
    token.content = parts.tokens[id];
    token.special = type != TokenType::UserDefined;
    token.normalized = !token.special && user_defined_normalized;
    added.push_back(std::move(token));
  }
  return added;
}

int32_t unknown_id_of(const TokenizerParts& parts) {
  for (size_t id = 0; id < parts.types.size(); ++id) {
    if (parts.types[id] == TokenType::Unknown) {
      return static_cast<int32_t>(id);
    }
  }
  return Vocabulary::kNone;
}

bool has_byte_tokens(const TokenizerParts& parts) {
  return std::find(parts.types.begin(), parts.types.end(), TokenType::Byte) != parts.types.end();
}

std::vector<TokenPair> listed_merges(const TokenizerParts& parts) {
  std::vector<TokenPair> merges;
  merges.reserve(parts.merges.size());
  for (const std::string& merge : parts.merges) {
    const size_t space = merge.find(' ', 1);
    TORCH_CHECK(
        space != std::string::npos && space + 1 < merge.size(), "the merge '", merge,
        "' must be two tokens with a space between");
    merges.push_back({merge.substr(0, space), merge.substr(space + 1), static_cast<uint32_t>(merges.size())});
  }
  return merges;
}

/// Each way to make a piece of two others, ranked by the score of the piece.
std::vector<TokenPair> scored_merges(const TokenizerParts& parts, const Vocabulary& vocabulary) {
  std::vector<size_t> order;
  for (size_t id = 0; id < parts.tokens.size(); ++id) {
    if (type_of(parts, id) == TokenType::Normal && count_characters(parts.tokens[id]) > 1) {
      order.push_back(id);
    }
  }
  std::stable_sort(order.begin(), order.end(), [&](size_t a, size_t b) { return parts.scores[a] > parts.scores[b]; });
  const auto is_normal = [&](std::string_view piece) {
    const int32_t id = vocabulary.find(piece);
    return id != Vocabulary::kNone && type_of(parts, static_cast<size_t>(id)) == TokenType::Normal;
  };
  std::vector<TokenPair> merges;
  uint32_t rank = 0;
  for (size_t i = 0; i < order.size(); ++i) {
    rank += i > 0 && parts.scores[order[i]] != parts.scores[order[i - 1]] ? 1 : 0;
    const std::string_view piece = parts.tokens[order[i]];
    for (size_t cut = utf8_length(piece[0]); cut < piece.size(); cut += utf8_length(piece[cut])) {
      if (is_normal(piece.substr(0, cut)) && is_normal(piece.substr(cut))) {
        merges.push_back({std::string(piece.substr(0, cut)), std::string(piece.substr(cut)), rank});
      }
    }
  }
  return merges;
}

NormalizerPtr regex_replace(const char* pattern, std::string content) {
  return make_replace(regex_matcher(pattern), std::move(content));
}

NormalizerPtr sentencepiece_normalizer(const TokenizerParts& parts) {
  std::vector<NormalizerPtr> steps;
  if (!parts.charsmap.empty()) {
    steps.push_back(make_precompiled(parts.charsmap, CharsmapMatch::Longest));
  }
  if (parts.remove_extra_spaces) {
    steps.push_back(regex_replace("\\A +| +\\z", ""));
    steps.push_back(regex_replace(" {2,}", " "));
  }
  if (parts.add_prefix_space) {
    steps.push_back(make_prepend(kSpaceMark));
  }
  steps.push_back(make_replace(literal_matcher(" "), kSpaceMark));
  return make_normalizer_sequence(std::move(steps));
}

TokenModelPtr sentencepiece_model(const TokenizerParts& parts) {
  TORCH_CHECK(
      parts.scores.size() == parts.tokens.size(), "a SentencePiece vocabulary of ", parts.tokens.size(),
      " tokens needs as many scores, found ", parts.scores.size());
  TORCH_CHECK(
      std::all_of(parts.scores.begin(), parts.scores.end(), [](double score) { return std::isfinite(score); }),
      "the scores of a SentencePiece vocabulary must be finite");
  const int32_t unknown = unknown_id_of(parts);
  if (parts.kind == TokenizerParts::Kind::SentencePieceUnigram) {
    std::vector<bool> usable;
    for (size_t id = 0; id < parts.tokens.size(); ++id) {
      usable.push_back(type_of(parts, id) == TokenType::Normal || type_of(parts, id) == TokenType::UserDefined);
    }
    return make_unigram(
        parts.tokens, parts.scores,
        {.unknown_id = unknown, .byte_fallback = has_byte_tokens(parts), .single_precision = true}, usable);
  }
  TORCH_CHECK(
      std::find(parts.types.begin(), parts.types.end(), TokenType::Unused) == parts.types.end(),
      "SentencePiece BPE with unused pieces is not supported");
  BpeOptions options;
  options.unknown = unknown == Vocabulary::kNone ? "" : parts.tokens[static_cast<size_t>(unknown)];
  options.fuse_unknown = true;
  options.byte_fallback = has_byte_tokens(parts);
  Vocabulary vocabulary(parts.tokens);
  const std::vector<TokenPair> merges = scored_merges(parts, vocabulary);
  return make_bpe(std::move(vocabulary), merges, std::move(options));
}

void set_byte_level(Tokenizer::Impl& impl, const TokenizerParts& parts) {
  std::vector<PreTokenizerPtr> steps;
  if (!parts.split_pattern.empty()) {
    steps.push_back(make_regex_split(parts.split_pattern));
  }
  steps.push_back(make_byte_level(/*add_prefix_space=*/false, /*use_regex=*/parts.split_pattern.empty()));
  impl.pre_tokenizer = make_pre_tokenizer_sequence(std::move(steps));
  BpeOptions options;
  options.ignore_merges = parts.ignore_merges;
  impl.model = make_bpe(Vocabulary(parts.tokens), listed_merges(parts), std::move(options));
  impl.decoder = make_byte_level_decoder();
}

void set_sentencepiece(Tokenizer::Impl& impl, const TokenizerParts& parts) {
  impl.normalizer = sentencepiece_normalizer(parts);
  impl.model = sentencepiece_model(parts);
  std::vector<DecoderPtr> steps;
  steps.push_back(
      make_metaspace_decoder(kSpaceMark, parts.add_prefix_space ? MetaspacePrepend::Always : MetaspacePrepend::Never));
  steps.push_back(make_byte_fallback_decoder());
  impl.decoder = make_decoder_sequence(std::move(steps));
}

void set_word_piece(Tokenizer::Impl& impl, const TokenizerParts& parts) {
  const int32_t unknown = unknown_id_of(parts);
  impl.normalizer = make_bert_normalizer();
  impl.pre_tokenizer = make_bert_pre_tokenizer();
  impl.model = make_word_piece(
      Vocabulary(parts.tokens), unknown == Vocabulary::kNone ? "[UNK]" : parts.tokens[static_cast<size_t>(unknown)],
      "##", /*max_characters=*/100);
  impl.decoder = make_word_piece_decoder();
}

} // namespace

Tokenizer Tokenizer::from_parts(const TokenizerParts& parts) {
  TORCH_CHECK(
      parts.types.empty() || parts.types.size() == parts.tokens.size(), "a vocabulary of ", parts.tokens.size(),
      " tokens needs as many types, found ", parts.types.size());
  TORCH_CHECK(!parts.tokens.empty(), "a tokenizer needs at least one token");
  const auto impl = TokenizerBuilder::make_impl();
  using Kind = TokenizerParts::Kind;
  if (parts.kind == Kind::ByteLevelBpe) {
    set_byte_level(*impl, parts);
  } else if (parts.kind == Kind::WordPiece) {
    set_word_piece(*impl, parts);
  } else {
    set_sentencepiece(*impl, parts);
  }
  const bool is_sentencepiece = parts.kind == Kind::SentencePieceBpe || parts.kind == Kind::SentencePieceUnigram;
  // Pieces of the user are written as they stand in normalized text.
  impl->added = AddedTokens(added_tokens_of(parts, is_sentencepiece), /*normalizer=*/nullptr);
  if (!parts.before.empty() || !parts.after.empty()) {
    impl->post_processor = make_surrounding(parts.before, parts.after);
  }
  return TokenizerBuilder::build(impl);
}

} // namespace torch::llm
