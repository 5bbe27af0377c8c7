// Tokenizers from a SentencePiece model file (tokenizer.model).
#include <csrc/llm/tokenizer/protobuf_reader.h>
#include <csrc/llm/tokenizer/tokenizer.h>

#include <c10/util/Exception.h>

namespace torch::llm {

namespace {

// Numbers of fields in sentencepiece_model.proto.
enum ModelField : uint32_t { kPieces = 1, kTrainer = 2, kNormalizer = 3 };
enum PieceField : uint32_t { kPiece = 1, kScore = 2, kType = 3 };
enum TrainerField : uint32_t { kModelType = 3, kSuffixSpace = 24, kBosId = 41 };
enum NormalizerField : uint32_t { kCharsmap = 2, kAddDummyPrefix = 3, kRemoveExtraSpaces = 4, kEscapeSpaces = 5 };

TokenizerParts::TokenType piece_type(uint64_t number) {
  using Type = TokenizerParts::TokenType;
  constexpr Type kTypes[] = {Type::Normal, Type::Unknown, Type::Control, Type::UserDefined, Type::Unused, Type::Byte};
  TORCH_CHECK(number >= 1 && number <= 6, "SentencePiece: a piece has the type ", number, "; it must be in [1, 6]");
  return kTypes[number - 1];
}

void read_piece(ProtobufReader reader, TokenizerParts& parts) {
  std::string piece;
  float score = 0;
  uint64_t type = 1;
  while (reader.next()) {
    switch (reader.field()) {
      case kPiece:
        piece = std::string(reader.bytes());
        break;
      case kScore:
        score = reader.float_value();
        break;
      case kType:
        type = reader.varint();
        break;
      default:
        break;
    }
  }
  parts.tokens.push_back(std::move(piece));
  parts.scores.push_back(score);
  parts.types.push_back(piece_type(type));
}

/// Sets the kind and gives the id of the token that begins a text; -1 when there is none.
int64_t read_trainer(ProtobufReader reader, TokenizerParts& parts) {
  uint64_t model_type = 1;
  int64_t bos = 1;
  while (reader.next()) {
    if (reader.field() == kModelType) {
      model_type = reader.varint();
    } else if (reader.field() == kBosId) {
      bos = static_cast<int32_t>(reader.varint());
    } else if (reader.field() == kSuffixSpace) {
      TORCH_CHECK(!reader.flag(), "SentencePiece: spaces as suffixes (treat_whitespace_as_suffix) are not supported");
    }
  }
  TORCH_CHECK(
      model_type == 1 || model_type == 2, "SentencePiece: model type ", model_type,
      " is not supported; supported: 1 (unigram), 2 (BPE)");
  parts.kind = model_type == 1 ? TokenizerParts::Kind::SentencePieceUnigram : TokenizerParts::Kind::SentencePieceBpe;
  return bos;
}

void read_normalization(ProtobufReader reader, TokenizerParts& parts) {
  while (reader.next()) {
    switch (reader.field()) {
      case kCharsmap:
        parts.charsmap = std::string(reader.bytes());
        break;
      case kAddDummyPrefix:
        parts.add_prefix_space = reader.flag();
        break;
      case kRemoveExtraSpaces:
        parts.remove_extra_spaces = reader.flag();
        break;
      case kEscapeSpaces:
        TORCH_CHECK(reader.flag(), "SentencePiece: models that do not escape spaces are not supported");
        break;
      default:
        break;
    }
  }
}

} // namespace

Tokenizer Tokenizer::from_sentencepiece(std::string_view bytes) {
  TokenizerParts parts;
  parts.kind = TokenizerParts::Kind::SentencePieceUnigram;
  parts.remove_extra_spaces = true; // the default of the format
  int64_t bos = 1;
  ProtobufReader reader(bytes);
  while (reader.next()) {
    if (reader.field() == kPieces) {
      read_piece(ProtobufReader(reader.bytes()), parts);
    } else if (reader.field() == kTrainer) {
      bos = read_trainer(ProtobufReader(reader.bytes()), parts);
    } else if (reader.field() == kNormalizer) {
      read_normalization(ProtobufReader(reader.bytes()), parts);
    }
  }
  TORCH_CHECK(!parts.tokens.empty(), "SentencePiece: the model has no pieces");
  TORCH_CHECK(
      bos < static_cast<int64_t>(parts.tokens.size()), "SentencePiece: the id ", bos,
      " of the begin of a text is not in the vocabulary of ", parts.tokens.size());
  if (bos >= 0) {
    parts.before = {bos};
  }
  return from_parts(parts);
}

} // namespace torch::llm
