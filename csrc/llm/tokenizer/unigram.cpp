// The unigram language model of SentencePiece.
#include <csrc/llm/tokenizer/token_model.h>
#include <csrc/llm/tokenizer/utf8.h>

#include <c10/util/Exception.h>

#include <algorithm>
#include <cmath>
#include <limits>

namespace torch::llm {

namespace {

constexpr double kUnknownPenalty = 10; // below the least score

/// Finds all pieces that begin a text.
class PieceTrie {
 public:
  void add(std::string_view piece, int32_t id) {
    int32_t node = 0;
    for (const char c : piece) {
      int32_t child = child_of(node, c);
      if (child < 0) {
        child = static_cast<int32_t>(nodes_.size());
        edges_.set(edge_key(node, c), child);
        nodes_.push_back(Vocabulary::kNone);
      }
      node = child;
    }
    nodes_[static_cast<size_t>(node)] = id;
  }

  /// Calls visit(length, id) for each piece, from the shortest to the longest.
  template <class Visit>
  void for_each_prefix(std::string_view text, Visit&& visit) const {
    int32_t node = 0;
    for (size_t i = 0; i < text.size(); ++i) {
      node = child_of(node, text[i]);
      if (node < 0) {
        return;
      }
      if (nodes_[static_cast<size_t>(node)] != Vocabulary::kNone) {
        visit(i + 1, nodes_[static_cast<size_t>(node)]);
      }
    }
  }

 private:
  /// Children by (node, byte), open addressing.
  class EdgeTable {
   public:
    int32_t find(uint64_t key) const {
      const Edge& edge = edges_[slot_of(key)];
      return edge.key == kFree ? -1 : edge.child;
    }
    void set(uint64_t key, int32_t child) {
      if (2 * (count_ + 1) > edges_.size()) {
        grow();
      }
      edges_[slot_of(key)] = {key, child};
      ++count_;
    }

   private:
    static constexpr uint64_t kFree = ~uint64_t{0};
    struct Edge {
      uint64_t key = kFree;
      int32_t child = -1;
    };
    size_t slot_of(uint64_t key) const {
      const size_t mask = edges_.size() - 1;
      size_t slot = (key * 0x9e3779b97f4a7c15) >> 20 & mask;
      while (edges_[slot].key != kFree && edges_[slot].key != key) {
        slot = (slot + 1) & mask;
      }
      return slot;
    }
    void grow() {
      std::vector<Edge> old(2 * edges_.size());
      old.swap(edges_);
      for (const Edge& edge : old) {
        if (edge.key != kFree) {
          edges_[slot_of(edge.key)] = edge;
        }
      }
    }

    std::vector<Edge> edges_{64};
    size_t count_ = 0;
  };

  static uint64_t edge_key(int32_t node, char c) {
    return static_cast<uint64_t>(node) << 8 | static_cast<unsigned char>(c);
  }
  int32_t child_of(int32_t node, char c) const {
    return edges_.find(edge_key(node, c));
  }

  std::vector<int32_t> nodes_{Vocabulary::kNone}; // the id of the piece that ends there
  EdgeTable edges_;
};

/// The best segmentation of the text up to here.
struct UnigramNode {
  double score = 0;
  int32_t begin = -1; // of its last piece; -1: there is none yet
  int32_t id = Vocabulary::kNone;
};

struct UnigramScratch final : TokenModel::Scratch {
  std::vector<UnigramNode> nodes;
  std::vector<WordToken> reversed;
};

class Unigram final : public TokenModel {
 public:
  Unigram(
      const std::vector<std::string>& pieces,
      std::vector<double> scores,
      UnigramOptions options,
      const std::vector<bool>& usable)
      : TokenModel(Vocabulary(pieces)), scores_(std::move(scores)), options_(options) {
    double least = std::numeric_limits<double>::infinity();
    for (size_t id = 0; id < pieces.size(); ++id) {
      TORCH_CHECK(std::isfinite(scores_[id]), "Unigram: the score of piece ", id, " must be finite");
      if (usable.empty() || usable[id]) {
        least = std::min(least, scores_[id]);
        trie_.add(pieces[id], static_cast<int32_t>(id));
      }
    }
    unknown_score_ = least - kUnknownPenalty;
    if (options_.byte_fallback) {
      byte_tokens_ = vocabulary().byte_tokens();
    }
  }

  std::unique_ptr<Scratch> make_scratch() const override {
    return std::make_unique<UnigramScratch>();
  }

  void tokenize(std::string_view word, std::vector<WordToken>& out, Scratch* scratch) const override {
    auto& own = static_cast<UnigramScratch&>(*scratch);
    find_best_path(word, own.nodes);
    own.reversed.clear();
    for (auto end = static_cast<uint32_t>(word.size()); end > 0;) {
      const UnigramNode& node = own.nodes[end];
      const auto begin = static_cast<uint32_t>(node.begin);
      // Unknown characters beside each other are one token.
      if (node.id == options_.unknown_id && !own.reversed.empty() && own.reversed.back().id == node.id) {
        own.reversed.back().begin = begin;
      } else {
        own.reversed.push_back({node.id, begin, end});
      }
      end = begin;
    }
    for (auto token = own.reversed.rbegin(); token != own.reversed.rend(); ++token) {
      append_token(word, *token, out);
    }
  }

 private:
  void find_best_path(std::string_view word, std::vector<UnigramNode>& nodes) const {
    nodes.assign(word.size() + 1, UnigramNode{});
    for (size_t begin = 0; begin < word.size();) {
      const double score_here = nodes[begin].score;
      const size_t character = utf8_length(word[begin]);
      bool has_character = false;
      const auto offer = [&](size_t length, int32_t id, double score) {
        score = options_.single_precision ? static_cast<double>(static_cast<float>(score)) : score;
        UnigramNode& node = nodes[begin + length];
        if (node.begin < 0 || score > node.score) {
          node = {score, static_cast<int32_t>(begin), id};
        }
      };
      trie_.for_each_prefix(word.substr(begin), [&](size_t length, int32_t id) {
        offer(length, id, scores_[static_cast<size_t>(id)] + score_here);
        has_character |= length == character;
      });
      if (!has_character) {
        TORCH_CHECK(
            options_.unknown_id != Vocabulary::kNone, "Unigram: the text has the character '",
            word.substr(begin, character), "', which is not in the vocabulary, and there is no unknown token");
        offer(character, options_.unknown_id, unknown_score_ + score_here);
      }
      begin += character;
    }
  }

  void append_token(std::string_view word, const WordToken& token, std::vector<WordToken>& out) const {
    if (token.id != options_.unknown_id) {
      out.push_back(token);
      return;
    }
    const std::string_view text = word.substr(token.begin, token.end - token.begin);
    // Several unknown characters together can be a piece.
    const int32_t piece = vocabulary().find(text);
    if (piece != Vocabulary::kNone) {
      out.push_back({piece, token.begin, token.end});
      return;
    }
    const auto id_of = [this](char byte) { return byte_tokens_[static_cast<unsigned char>(byte)]; };
    if (!options_.byte_fallback ||
        std::any_of(text.begin(), text.end(), [&](char byte) { return id_of(byte) == Vocabulary::kNone; })) {
      out.push_back(token);
      return;
    }
    for (const char byte : text) {
      out.push_back({id_of(byte), token.begin, token.end});
    }
  }

  std::vector<double> scores_;
  UnigramOptions options_;
  PieceTrie trie_;
  double unknown_score_;
  std::vector<int32_t> byte_tokens_;
};

} // namespace

TokenModelPtr make_unigram(
    const std::vector<std::string>& pieces,
    std::vector<double> scores,
    UnigramOptions options,
    const std::vector<bool>& usable) {
  return std::make_unique<Unigram>(pieces, std::move(scores), options, usable);
}

} // namespace torch::llm
