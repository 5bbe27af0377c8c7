#include <csrc/serialize/inflate.h>

#include <c10/util/Exception.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstring>

namespace torch::serialize {

namespace {

constexpr unsigned kMaxCodeLength = 15;
constexpr size_t kLiteralCodes = 288;
constexpr size_t kDistanceCodes = 30;
constexpr size_t kEndOfBlock = 256;
// Code and debug records come to 20 bytes for a byte; the format allows 1032.
constexpr size_t kMaxExpansion = 200;
constexpr size_t kFreeExpansion = 16 << 10;

/// A prefix code in canonical form: how many codes there are of each length, and their symbols in order. Short codes
/// are looked up at once.
class PrefixCode {
 public:
  static constexpr unsigned kShort = 10;
  struct Found {
    uint16_t symbol;
    uint16_t length; // 0: no short code
  };

  /// False if the lengths are those of no prefix code.
  bool set(const uint8_t* lengths, size_t count) {
    counts_.fill(0);
    for (size_t symbol = 0; symbol < count; ++symbol) {
      ++counts_[lengths[symbol]];
    }
    counts_[0] = 0;
    int free_codes = 1;
    std::array<uint16_t, kMaxCodeLength + 2> offsets{};
    std::array<uint32_t, kMaxCodeLength + 2> codes{};
    for (size_t length = 1; length <= kMaxCodeLength; ++length) {
      free_codes = free_codes * 2 - counts_[length];
      if (free_codes < 0) {
        return false;
      }
      offsets[length + 1] = static_cast<uint16_t>(offsets[length] + counts_[length]);
      codes[length + 1] = (codes[length] + counts_[length]) << 1;
    }
    short_.fill(Found{});
    for (size_t symbol = 0; symbol < count; ++symbol) {
      const size_t length = lengths[symbol];
      if (length != 0) {
        symbols_[offsets[length]++] = static_cast<uint16_t>(symbol);
        add_short(static_cast<uint16_t>(symbol), static_cast<uint16_t>(length), codes[length]++);
      }
    }
    return true;
  }

  /// The code that these bits, lowest first, begin with.
  Found find_short(uint64_t bits) const {
    return short_[bits & (short_.size() - 1)];
  }

  /// Takes one bit after the other from `next_bit`; -1 if no code begins so.
  template <class NextBit>
  int read(NextBit&& next_bit) const {
    int code = 0;
    int first = 0;
    int index = 0;
    for (size_t length = 1; length <= kMaxCodeLength; ++length) {
      code |= next_bit();
      const int count = counts_[length];
      if (code - first < count) {
        return symbols_[static_cast<size_t>(index + code - first)];
      }
      index += count;
      first = (first + count) << 1;
      code <<= 1;
    }
    return -1;
  }

 private:
  // Codes come with their highest bit first.
  void add_short(uint16_t symbol, uint16_t length, uint32_t code) {
    if (length > kShort) {
      return;
    }
    uint32_t reversed = 0;
    for (unsigned bit = 0; bit < length; ++bit) {
      reversed |= ((code >> bit) & 1) << (length - 1 - bit);
    }
    for (uint32_t bits = reversed; bits < short_.size(); bits += uint32_t{1} << length) {
      short_[bits] = Found{symbol, length};
    }
  }

  std::array<uint16_t, kMaxCodeLength + 1> counts_{};
  std::array<uint16_t, kLiteralCodes> symbols_{};
  std::array<Found, size_t{1} << kShort> short_{};
};

class Inflater {
 public:
  Inflater(std::string_view packed, size_t size, const std::string& where)
      : packed_(packed), size_(size), where_(where) {}

  std::string run() {
    if (size_ > kFreeExpansion + kMaxExpansion * packed_.size()) {
      damaged("it expands to more than 200 times its size");
    }
    out_.reserve(size_);
    bool last = false;
    while (!last) {
      last = bits(1) == 1;
      switch (bits(2)) {
        case 0:
          copy_stored();
          break;
        case 1:
          set_fixed_codes();
          read_block();
          break;
        case 2:
          read_codes();
          read_block();
          break;
        default:
          damaged("there is no such kind of block");
      }
    }
    if (out_.size() != size_) {
      damaged("it ends early");
    }
    return std::move(out_);
  }

 private:
  [[noreturn]] void damaged(const char* what) const {
    TORCH_CHECK(
        false, where_, ": the compressed entry of ", packed_.size(), " bytes, unpacked ", size_,
        ", is damaged at byte ", position_, ": ", what);
  }

  void refill(unsigned count) {
    while (held_ < count && position_ < packed_.size()) {
      buffer_ |= static_cast<uint64_t>(static_cast<uint8_t>(packed_[position_++])) << held_;
      held_ += 8;
    }
  }

  uint32_t bits(unsigned count) {
    refill(count);
    if (held_ < count) {
      damaged("it is cut short");
    }
    const auto value = static_cast<uint32_t>(buffer_ & ((uint64_t{1} << count) - 1));
    buffer_ >>= count;
    held_ -= count;
    return value;
  }

  size_t symbol(const PrefixCode& code) {
    refill(kMaxCodeLength);
    const PrefixCode::Found near = code.find_short(buffer_);
    if (near.length != 0 && near.length <= held_) {
      buffer_ >>= near.length;
      held_ -= near.length;
      return near.symbol;
    }
    const int found = code.read([this] { return static_cast<int>(bits(1)); });
    if (found < 0) {
      damaged("there is no such code");
    }
    return static_cast<size_t>(found);
  }

  void need_room(size_t count) {
    if (count > size_ - out_.size()) {
      damaged("it stands for more bytes");
    }
  }

  void copy_stored() {
    // Whole bytes that were taken in advance belong to the block.
    position_ -= held_ / 8;
    buffer_ = 0;
    held_ = 0;
    const uint32_t length = bits(16);
    if (bits(16) != (length ^ 0xffff)) {
      damaged("the length of a stored block");
    }
    position_ -= held_ / 8;
    buffer_ = 0;
    held_ = 0;
    if (length > packed_.size() - position_) {
      damaged("it is cut short");
    }
    need_room(length);
    out_.append(packed_.substr(position_, length));
    position_ += length;
  }

  void set_fixed_codes() {
    std::array<uint8_t, kLiteralCodes> lengths{};
    for (size_t i = 0; i < kLiteralCodes; ++i) {
      lengths[i] = i < 144 ? 8 : i < 256 ? 9 : i < 280 ? 7 : 8;
    }
    literals_.set(lengths.data(), lengths.size());
    std::array<uint8_t, kDistanceCodes> distances{};
    distances.fill(5);
    distances_.set(distances.data(), distances.size());
  }

  void read_codes() {
    constexpr std::array<uint8_t, 19> kOrder = {16, 17, 18, 0, 8, 7, 9, 6, 10, 5, 11, 4, 12, 3, 13, 2, 14, 1, 15};
    const size_t literal_count = bits(5) + 257;
    const size_t distance_count = bits(5) + 1;
    const size_t order_count = bits(4) + 4;
    if (literal_count > 286 || distance_count > kDistanceCodes) {
      damaged("the number of codes");
    }
    std::array<uint8_t, kLiteralCodes + kDistanceCodes> lengths{};
    for (size_t i = 0; i < order_count; ++i) {
      lengths[kOrder[i]] = static_cast<uint8_t>(bits(3));
    }
    PrefixCode code;
    if (!code.set(lengths.data(), kOrder.size())) {
      damaged("the lengths of codes");
    }
    lengths.fill(0);
    const size_t total = literal_count + distance_count;
    for (size_t i = 0; i < total;) {
      const size_t value = symbol(code);
      if (value < 16) {
        lengths[i++] = static_cast<uint8_t>(value);
        continue;
      }
      if (value == 16 && i == 0) {
        damaged("the lengths of codes");
      }
      const uint8_t repeated = value == 16 ? lengths[i - 1] : uint8_t{0};
      const size_t count = value == 16 ? 3 + bits(2) : value == 17 ? 3 + bits(3) : 11 + bits(7);
      if (count > total - i) {
        damaged("the lengths of codes");
      }
      std::fill_n(lengths.begin() + static_cast<ptrdiff_t>(i), count, repeated);
      i += count;
    }
    if (!literals_.set(lengths.data(), literal_count) ||
        !distances_.set(lengths.data() + literal_count, distance_count)) {
      damaged("the lengths of codes");
    }
  }

  void read_block() {
    constexpr std::array<uint16_t, 29> kLengthBase = {3,  4,  5,  6,  7,  8,  9,  10, 11,  13,  15,  17,  19,  23, 27,
                                                      31, 35, 43, 51, 59, 67, 83, 99, 115, 131, 163, 195, 227, 258};
    constexpr std::array<uint8_t, 29> kLengthBits = {0, 0, 0, 0, 0, 0, 0, 0, 1, 1, 1, 1, 2, 2, 2,
                                                     2, 3, 3, 3, 3, 4, 4, 4, 4, 5, 5, 5, 5, 0};
    constexpr std::array<uint16_t, 30> kDistanceBase = {1,    2,    3,    4,    5,    7,    9,    13,    17,    25,
                                                        33,   49,   65,   97,   129,  193,  257,  385,   513,   769,
                                                        1025, 1537, 2049, 3073, 4097, 6145, 8193, 12289, 16385, 24577};
    while (true) {
      const size_t value = symbol(literals_);
      if (value < kEndOfBlock) {
        need_room(1);
        out_.push_back(static_cast<char>(value));
        continue;
      }
      if (value == kEndOfBlock) {
        return;
      }
      const size_t length_code = value - kEndOfBlock - 1;
      if (length_code >= kLengthBase.size()) {
        damaged("a length");
      }
      const size_t length = kLengthBase[length_code] + bits(kLengthBits[length_code]);
      const size_t distance_code = symbol(distances_);
      const auto distance_bits = static_cast<unsigned>(distance_code < 2 ? 0 : distance_code / 2 - 1);
      const size_t distance = kDistanceBase[distance_code] + bits(distance_bits);
      if (distance > out_.size()) {
        damaged("a distance");
      }
      need_room(length);
      // The source may reach into what is being written.
      for (size_t i = 0; i < length; ++i) {
        out_.push_back(out_[out_.size() - distance]);
      }
    }
  }

  std::string_view packed_;
  size_t size_;
  const std::string& where_;
  size_t position_ = 0;
  uint64_t buffer_ = 0;
  unsigned held_ = 0;
  PrefixCode literals_;
  PrefixCode distances_;
  std::string out_;
};

} // namespace

std::string inflate(std::string_view packed, size_t size, const std::string& where) {
  return Inflater(packed, size, where).run();
}

} // namespace torch::serialize
