#include <csrc/llm/tokenizer/tokenizer_impl.h>
#include <csrc/llm/tokenizer/utf8.h>

#include <c10/util/Exception.h>

#include <algorithm>

namespace torch::llm {

namespace {

// Offsets have 32 bits while a text is normalized.
constexpr size_t kMaxTextBytes = size_t(1) << 28;

void append_text_token(Encoding& out, int64_t id, TextSpan origin) {
  out.ids.push_back(id);
  out.offsets.emplace_back(origin.begin, origin.end);
}

/// A scratch of the pool for the time of a call.
class ScratchLease {
 public:
  ScratchLease(ScratchPool& pool, const TokenModel& model) : pool_(pool), scratch_(pool.take()) {
    if (!scratch_) {
      scratch_ = std::make_unique<EncodeScratch>();
      scratch_->model = model.make_scratch();
    }
  }
  ~ScratchLease() {
    pool_.give_back(std::move(scratch_));
  }
  ScratchLease(const ScratchLease&) = delete;
  ScratchLease& operator=(const ScratchLease&) = delete;

  EncodeScratch& operator*() const {
    return *scratch_;
  }

 private:
  ScratchPool& pool_;
  std::unique_ptr<EncodeScratch> scratch_;
};

/// Texts one after the other, when nothing else joins them.
Encoding joined(std::vector<Encoding>& parts) {
  Encoding out = std::move(parts[0]);
  for (size_t i = 1; i < parts.size(); ++i) {
    const auto append = [](auto& to, const auto& from) { to.insert(to.end(), from.begin(), from.end()); };
    append(out.ids, parts[i].ids);
    append(out.offsets, parts[i].offsets);
    append(out.type_ids, parts[i].type_ids);
    append(out.special_tokens_mask, parts[i].special_tokens_mask);
    append(out.attention_mask, parts[i].attention_mask);
  }
  return out;
}

} // namespace

void Tokenizer::Impl::append_text(Encoding& out, std::string_view text, bool tracked, EncodeScratch& scratch) const {
  const auto append_words = [&](PreTokenized& words) {
    if (pre_tokenizer) {
      pre_tokenizer->run(words);
    }
    const std::string_view all = words.text.text();
    for (const TextSpan& split : words.splits) {
      scratch.tokens.clear();
      model->tokenize(all.substr(split.begin, split.size()), scratch.tokens, scratch.model.get());
      for (const WordToken& token : scratch.tokens) {
        append_text_token(out, token.id, words.text.origin(split.begin + token.begin, split.begin + token.end));
      }
    }
  };
  for (const AddedTokenPart& part : added.split(text, /*normalized=*/false)) {
    if (part.id != Vocabulary::kNone) {
      append_text_token(out, part.id, part.span);
      continue;
    }
    AlignedText piece(text, part.span, tracked);
    if (normalizer) {
      normalizer->normalize(piece);
    }
    for (const AddedTokenPart& inner : added.split(piece.text(), /*normalized=*/true)) {
      if (inner.id != Vocabulary::kNone) {
        append_text_token(out, inner.id, piece.origin(inner.span.begin, inner.span.end));
        continue;
      }
      const bool is_all = inner.span.size() == piece.text().size();
      PreTokenized words{is_all ? std::move(piece) : piece.slice(inner.span), {}};
      words.splits = {{0, static_cast<uint32_t>(words.text.text().size())}};
      append_words(words);
    }
  }
}

Encoding Tokenizer::Impl::encode(c10::ArrayRef<std::string_view> texts, bool add_special_tokens, bool tracked) const {
  const ScratchLease scratch(scratches, *model);
  std::vector<Encoding> parts;
  for (const std::string_view text : texts) {
    check_utf8(text, "encode: the text");
    TORCH_CHECK_VALUE(
        text.size() <= kMaxTextBytes, "encode: the text has ", text.size(), " bytes; at most ", kMaxTextBytes,
        " can be encoded at once");
    Encoding part;
    append_text(part, text, tracked, *scratch);
    part.type_ids.assign(part.size(), static_cast<int64_t>(parts.size()));
    part.special_tokens_mask.assign(part.size(), 0);
    part.attention_mask.assign(part.size(), 1);
    parts.push_back(std::move(part));
  }
  if (truncation) {
    truncate(
        parts, *truncation, add_special_tokens && post_processor ? post_processor->added_tokens(parts.size() == 2) : 0);
  }
  if (post_processor) {
    const auto text_of = [this](int64_t id, std::string_view slice) {
      const AddedToken* const found = added.find(id);
      // Added tokens that take spaces have them in their text.
      return found && (found->lstrip || found->rstrip) ? slice : token(id).value_or("");
    };
    post_processor->process(parts, {texts, tracked, text_of, add_special_tokens});
  }
  return joined(parts);
}

std::optional<std::string_view> Tokenizer::Impl::token(int64_t id) const {
  if (const AddedToken* const found = added.find(id)) {
    return found->content;
  }
  return model->vocabulary().token(id);
}

void Tokenizer::Impl::count_tokens() {
  vocab_size = model->vocabulary().size();
  for (const AddedToken& token : added.tokens()) {
    vocab_size += model->vocabulary().find(token.content) == Vocabulary::kNone ? 1 : 0;
  }
}

Tokenizer TokenizerBuilder::build(std::shared_ptr<Tokenizer::Impl> impl) {
  impl->count_tokens();
  return Tokenizer(std::move(impl));
}

std::shared_ptr<Tokenizer::Impl> TokenizerBuilder::make_impl() {
  return std::make_shared<Tokenizer::Impl>();
}

std::vector<int64_t> Tokenizer::encode(std::string_view text, bool add_special_tokens) const {
  Encoding encoding = impl_->encode(text, add_special_tokens, /*tracked=*/false);
  if (impl_->padding) {
    pad(encoding, *impl_->padding, encoding.size());
  }
  return std::move(encoding.ids);
}

Encoding Tokenizer::encode_with_offsets(std::string_view text, bool add_special_tokens) const {
  Encoding encoding = impl_->encode(text, add_special_tokens, /*tracked=*/true);
  if (impl_->padding) {
    pad(encoding, *impl_->padding, encoding.size());
  }
  return encoding;
}

Encoding Tokenizer::encode_pair(std::string_view first, std::string_view second, bool add_special_tokens) const {
  Encoding encoding = impl_->encode({first, second}, add_special_tokens, /*tracked=*/true);
  if (impl_->padding) {
    pad(encoding, *impl_->padding, encoding.size());
  }
  return encoding;
}

std::vector<Encoding> Tokenizer::encode_batch(c10::ArrayRef<std::string> texts, bool add_special_tokens) const {
  std::vector<Encoding> encodings;
  size_t longest = 0;
  for (const std::string& text : texts) {
    encodings.push_back(impl_->encode(std::string_view(text), add_special_tokens, /*tracked=*/true));
    longest = std::max(longest, encodings.back().size());
  }
  if (impl_->padding) {
    for (Encoding& encoding : encodings) {
      pad(encoding, *impl_->padding, longest);
    }
  }
  return encodings;
}

std::string Tokenizer::decode(c10::ArrayRef<int64_t> ids, bool skip_special_tokens) const {
  std::vector<std::string> tokens;
  for (const int64_t id : ids) {
    const std::optional<std::string_view> token = impl_->token(id);
    if (token && !(skip_special_tokens && is_special(id))) {
      tokens.emplace_back(*token);
    }
  }
  if (impl_->decoder) {
    impl_->decoder->decode(tokens);
  }
  std::string text;
  for (size_t i = 0; i < tokens.size(); ++i) {
    text += i > 0 && !impl_->decoder ? " " : "";
    text += tokens[i];
  }
  return text;
}

std::string Tokenizer::token_bytes(int64_t id) const {
  const std::optional<std::string> token = id_to_token(id);
  if (!token) {
    return "";
  }
  if (std::optional<std::string> bytes = impl_->decoder ? impl_->decoder->raw_bytes(*token) : std::nullopt) {
    return *bytes;
  }
  // How it is written depends on what stands in front of it: itself, where there is nothing else.
  const std::string once = decode({id}, false), twice = decode({id, id}, false);
  return twice.starts_with(once) ? twice.substr(once.size()) : once;
}

std::string Tokenizer::token_text(int64_t id) const {
  return replace_invalid_utf8(token_bytes(id));
}

std::optional<int64_t> Tokenizer::token_to_id(std::string_view token) const {
  if (const AddedToken* const found = impl_->added.find(token)) {
    return found->id;
  }
  const int32_t id = impl_->model->vocabulary().find(token);
  return id == Vocabulary::kNone ? std::nullopt : std::optional<int64_t>(id);
}

std::optional<std::string> Tokenizer::id_to_token(int64_t id) const {
  const std::optional<std::string_view> token = impl_->token(id);
  return token ? std::optional<std::string>(*token) : std::nullopt;
}

bool Tokenizer::is_special(int64_t id) const {
  const AddedToken* const token = impl_->added.find(id);
  return token && token->special;
}

size_t Tokenizer::vocab_size() const {
  return impl_->vocab_size;
}

} // namespace torch::llm
