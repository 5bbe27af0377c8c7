// Byte-pair encoding.
#include <csrc/llm/tokenizer/token_model.h>
#include <csrc/llm/tokenizer/utf8.h>

#include <c10/util/Exception.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <queue>

namespace torch::llm {

namespace {

/// What a pair of tokens becomes.
struct BpeMerge {
  uint32_t rank; // lower ranks are merged first
  int32_t id;
};

/// Merges by pair: open addressing, since each pair of neighbours of each word is looked up.
class MergeTable {
 public:
  explicit MergeTable(size_t count) {
    size_t capacity = 16;
    while (capacity < 2 * count) {
      capacity *= 2;
    }
    slots_.resize(capacity);
  }
  /// A later merge of the same pair replaces the earlier one.
  void set(int32_t left, int32_t right, BpeMerge merge) {
    Slot& slot = slots_[slot_of(key_of(left, right))];
    slot = {key_of(left, right), merge};
  }
  const BpeMerge* find(int32_t left, int32_t right) const {
    const Slot& slot = slots_[slot_of(key_of(left, right))];
    return slot.key == kFree ? nullptr : &slot.merge;
  }

 private:
  static constexpr uint64_t kFree = ~uint64_t{0};
  struct Slot {
    uint64_t key = kFree;
    BpeMerge merge{};
  };
  static uint64_t key_of(int32_t left, int32_t right) {
    return static_cast<uint64_t>(left) << 32 | static_cast<uint32_t>(right);
  }
  size_t slot_of(uint64_t key) const {
    const size_t mask = slots_.size() - 1;
    size_t slot = (key * 0x9e3779b97f4a7c15) >> 20 & mask;
    while (slots_[slot].key != kFree && slots_[slot].key != key) {
      slot = (slot + 1) & mask;
    }
    return slot;
  }

  std::vector<Slot> slots_;
};

/// A part of the word that is one token so far.
struct BpeSymbol {
  int32_t id;
  uint32_t length; // 0: it was merged into the one before
  int32_t previous;
  int32_t next; // -1 at the end
};

struct BpeCandidate {
  uint32_t rank;
  int32_t position;
  int32_t id;
  bool operator>(const BpeCandidate& other) const {
    return rank != other.rank ? rank > other.rank : position > other.position;
  }
};

/// The tokens of words seen lately, by hash; a word that falls on a taken place replaces what is there.
class WordCache {
 public:
  static constexpr size_t kMaxWord = 24, kMaxTokens = 6;
  struct Entry {
    uint64_t hash = 0;
    uint8_t word_length = 0; // 0: free
    uint8_t count = 0;
    std::array<uint8_t, kMaxTokens> lengths{};
    std::array<char, kMaxWord> word{};
    std::array<int32_t, kMaxTokens> ids{};
  };

  Entry& at(uint64_t hash) {
    return entries_[hash % kEntries];
  }

 private:
  static constexpr size_t kEntries = 1 << 14;
  std::vector<Entry> entries_{kEntries};
};

struct BpeScratch final : TokenModel::Scratch {
  WordCache cache;
  std::vector<BpeSymbol> symbols;
  std::vector<BpeCandidate> heap;
};

// Up to here looking at all pairs for each merge is faster than a heap.
constexpr size_t kShortWord = 24;

class Bpe final : public TokenModel {
 public:
  Bpe(Vocabulary vocabulary, const std::vector<TokenPair>& merges, BpeOptions options)
      : TokenModel(std::move(vocabulary)),
        options_(std::move(options)),
        merges_(merges.size()),
        unknown_(options_.unknown.empty() ? Vocabulary::kNone : this->vocabulary().find(options_.unknown)),
        is_plain_(options_.continuing_prefix.empty() && options_.end_suffix.empty()) {
    if (options_.byte_fallback) {
      byte_tokens_ = this->vocabulary().byte_tokens();
    }
    for (const TokenPair& pair : merges) {
      add_merge(pair);
    }
    for (char32_t code = 0; code < low_ids_.size(); ++code) {
      std::string character;
      append_utf8(character, code);
      low_ids_[code] = this->vocabulary().find(character);
    }
  }

  std::unique_ptr<Scratch> make_scratch() const override {
    return std::make_unique<BpeScratch>();
  }

  void tokenize(std::string_view word, std::vector<WordToken>& out, Scratch* scratch) const override {
    auto& own = static_cast<BpeScratch&>(*scratch);
    if (word.size() > WordCache::kMaxWord) {
      tokenize_uncached(word, out, own);
      return;
    }
    const uint64_t hash = hash_bytes(word);
    WordCache::Entry& entry = own.cache.at(hash);
    if (entry.hash == hash && entry.word_length == word.size() &&
        std::memcmp(entry.word.data(), word.data(), word.size()) == 0) {
      uint32_t begin = 0;
      for (size_t i = 0; i < entry.count; ++i) {
        out.push_back({entry.ids[i], begin, begin + entry.lengths[i]});
        begin += entry.lengths[i];
      }
      return;
    }
    const size_t first = out.size();
    tokenize_uncached(word, out, own);
    const size_t count = out.size() - first;
    if (count <= WordCache::kMaxTokens) {
      entry.hash = hash;
      entry.word_length = static_cast<uint8_t>(word.size());
      entry.count = static_cast<uint8_t>(count);
      std::memcpy(entry.word.data(), word.data(), word.size());
      for (size_t i = 0; i < count; ++i) {
        entry.ids[i] = out[first + i].id;
        entry.lengths[i] = static_cast<uint8_t>(out[first + i].end - out[first + i].begin);
      }
    }
  }

 private:
  void add_merge(const TokenPair& pair) {
    const auto& [left, right, rank] = pair;
    const auto id_of = [this, &pair](std::string_view token) {
      const int32_t id = vocabulary().find(token);
      TORCH_CHECK(
          id != Vocabulary::kNone, "BPE: the merge of '", pair.left, "' and '", pair.right, "' needs the token '",
          token, "', which the vocabulary does not have");
      return id;
    };
    const size_t prefix = std::min(options_.continuing_prefix.size(), right.size());
    merges_.set(id_of(left), id_of(right), {rank, id_of(left + right.substr(prefix))});
  }

  void tokenize_uncached(std::string_view word, std::vector<WordToken>& out, BpeScratch& scratch) const {
    if (options_.ignore_merges) {
      const int32_t id = vocabulary().find(word);
      if (id != Vocabulary::kNone) {
        out.push_back({id, 0, static_cast<uint32_t>(word.size())});
        return;
      }
    }
    split_into_symbols(word, scratch.symbols);
    scratch.symbols.size() <= kShortWord ? merge_by_scan(scratch.symbols) : merge_by_heap(scratch);
    uint32_t begin = 0;
    for (const BpeSymbol& symbol : scratch.symbols) {
      if (symbol.length > 0) {
        out.push_back({symbol.id, begin, begin + symbol.length});
        begin += symbol.length;
      }
    }
  }

  int32_t id_of_character(std::string_view word, size_t offset, size_t length) const {
    if (is_plain_) {
      const char32_t code = length <= 2 ? utf8_decode(word.data() + offset) : low_ids_.size();
      return code < low_ids_.size() ? low_ids_[code] : vocabulary().find(word.substr(offset, length));
    }
    std::string token = offset > 0 ? options_.continuing_prefix : "";
    token += word.substr(offset, length);
    if (offset + length == word.size()) {
      token += options_.end_suffix;
    }
    return vocabulary().find(token);
  }

  /// The bytes of a character as tokens; false when one of them has none. With a prefix or suffix its bytes count too.
  bool add_byte_tokens(std::string_view word, size_t offset, size_t length, std::vector<BpeSymbol>& symbols) const {
    if (!options_.byte_fallback) {
      return false;
    }
    std::string bytes = offset > 0 ? options_.continuing_prefix : "";
    bytes += word.substr(offset, length);
    if (offset + length == word.size()) {
      bytes += options_.end_suffix;
    }
    const auto id_of = [this](char byte) { return byte_tokens_[static_cast<unsigned char>(byte)]; };
    if (std::any_of(bytes.begin(), bytes.end(), [&](char byte) { return id_of(byte) == Vocabulary::kNone; })) {
      return false;
    }
    for (const char byte : bytes) {
      symbols.push_back({id_of(byte), 1, 0, 0});
    }
    return true;
  }

  void split_into_symbols(std::string_view word, std::vector<BpeSymbol>& symbols) const {
    symbols.clear();
    uint32_t unknown_length = 0; // of the unknown token that is not yet added
    const auto end_unknown = [&] {
      if (unknown_length > 0) {
        symbols.push_back({unknown_, unknown_length, 0, 0});
        unknown_length = 0;
      }
    };
    for (size_t offset = 0; offset < word.size();) {
      const size_t length = utf8_length(word[offset]);
      const int32_t id = id_of_character(word, offset, length);
      if (id != Vocabulary::kNone) {
        end_unknown();
        symbols.push_back({id, static_cast<uint32_t>(length), 0, 0});
      } else if (!add_byte_tokens(word, offset, length, symbols) && !options_.unknown.empty()) {
        TORCH_CHECK(
            unknown_ != Vocabulary::kNone, "BPE: the unknown token '", options_.unknown, "' is not in the vocabulary");
        if (!options_.fuse_unknown) {
          end_unknown();
        }
        unknown_length += static_cast<uint32_t>(length);
      }
      offset += length;
    }
    end_unknown();
  }

  void merge_by_scan(std::vector<BpeSymbol>& symbols) const {
    for (;;) {
      BpeMerge best{UINT32_MAX, 0};
      size_t position = 0;
      for (size_t i = 0; i + 1 < symbols.size(); ++i) {
        const BpeMerge* const merge = merges_.find(symbols[i].id, symbols[i + 1].id);
        if (merge && merge->rank < best.rank) {
          best = *merge;
          position = i;
        }
      }
      if (best.rank == UINT32_MAX) {
        return;
      }
      symbols[position].id = best.id;
      symbols[position].length += symbols[position + 1].length;
      symbols.erase(symbols.begin() + static_cast<ptrdiff_t>(position) + 1);
    }
  }

  void merge_by_heap(BpeScratch& scratch) const {
    std::vector<BpeSymbol>& symbols = scratch.symbols;
    std::vector<BpeCandidate>& heap = scratch.heap;
    heap.clear();
    const auto add_pair = [&](int32_t position) {
      const BpeSymbol& left = symbols[static_cast<size_t>(position)];
      if (left.next >= 0) {
        if (const BpeMerge* const merge = merges_.find(left.id, symbols[static_cast<size_t>(left.next)].id)) {
          heap.push_back({merge->rank, position, merge->id});
          std::push_heap(heap.begin(), heap.end(), std::greater<>());
        }
      }
    };
    const auto count = static_cast<int32_t>(symbols.size());
    for (int32_t i = 0; i < count; ++i) {
      symbols[static_cast<size_t>(i)].previous = i - 1;
      symbols[static_cast<size_t>(i)].next = i + 1 < count ? i + 1 : -1;
    }
    for (int32_t i = 0; i < count; ++i) {
      add_pair(i);
    }
    while (!heap.empty()) {
      std::pop_heap(heap.begin(), heap.end(), std::greater<>());
      const BpeCandidate top = heap.back();
      heap.pop_back();
      BpeSymbol& left = symbols[static_cast<size_t>(top.position)];
      if (left.length == 0 || left.next < 0) {
        continue;
      }
      BpeSymbol& right = symbols[static_cast<size_t>(left.next)];
      const BpeMerge* const merge = merges_.find(left.id, right.id);
      if (!merge || merge->id != top.id) { // the pair has changed since it came onto the heap
        continue;
      }
      left.id = top.id;
      left.length += right.length;
      left.next = right.next;
      right.length = 0;
      if (left.next >= 0) {
        symbols[static_cast<size_t>(left.next)].previous = top.position;
      }
      if (left.previous >= 0) {
        add_pair(left.previous);
      }
      add_pair(top.position);
    }
  }

  BpeOptions options_;
  MergeTable merges_;
  int32_t unknown_;
  bool is_plain_;
  std::vector<int32_t> byte_tokens_;
  std::array<int32_t, 0x200> low_ids_{}; // of characters below U+0200
};

} // namespace

TokenModelPtr make_bpe(Vocabulary vocabulary, const std::vector<TokenPair>& merges, BpeOptions options) {
  return std::make_unique<Bpe>(std::move(vocabulary), merges, std::move(options));
}

} // namespace torch::llm
