// A Mersenne Twister (MT19937) with the state layout and the draws of PyTorch's CPU generator.
#pragma once

#include <aten/core/Generator.h>
#include <aten/core/random.h>

#include <array>
#include <cstdint>
#include <optional>

namespace at {

/// The 32-bit Mersenne Twister of Matsumoto and Nishimura (1998).
class TORCH_API mt19937 {
 public:
  static constexpr int kStateSize = 624;

  explicit mt19937(uint64_t seed = 5489) {
    init(seed);
  }

  uint32_t operator()() {
    if (left_ == 1) {
      refill();
    } else {
      --left_;
    }
    return temper(state_[next_++]);
  }

  /// The words that the next draws are made of by temper(): at least one, at most `most`. Those draws are then done.
  struct Words {
    const uint32_t* data;
    int count;
  };
  C10_ALWAYS_INLINE Words take(int64_t most) {
    if (left_ == 1) {
      refill();
      left_ = kStateSize + 1; // the first draw after refilling is not counted down
    }
    const int count = most < left_ - 1 ? static_cast<int>(most) : left_ - 1;
    left_ -= count;
    next_ += count;
    return {state_.data() + next_ - count, count};
  }
  static C10_ALWAYS_INLINE uint32_t temper(uint32_t y) {
    y ^= y >> 11;
    y ^= (y << 7) & 0x9d2c5680;
    y ^= (y << 15) & 0xefc60000;
    y ^= y >> 18;
    return y;
  }

  uint64_t seed() const {
    return seed_;
  }
  bool operator==(const mt19937& other) const {
    return seed_ == other.seed_ && left_ == other.left_ && next_ == other.next_ && state_ == other.state_;
  }

  struct Data {
    uint64_t seed;
    int left;
    int next;
    std::array<uint32_t, kStateSize> state;
  };
  Data data() const {
    return {seed_, left_, next_, state_};
  }
  /// Throws when the positions are not those of a Mersenne Twister.
  void set_data(const Data& data);

 private:
  void init(uint64_t seed);
  void refill();

  uint64_t seed_ = 0;
  int left_ = 1;
  int next_ = 0;
  std::array<uint32_t, kStateSize> state_{};
};

struct TORCH_API CPUGeneratorImpl final : public c10::GeneratorImpl {
  explicit CPUGeneratorImpl(uint64_t seed_in = c10::default_rng_seed_val);

  void set_current_seed(uint64_t seed) override;
  void set_offset(uint64_t offset) override;
  uint64_t get_offset() const override;
  uint64_t current_seed() const override {
    return engine_.seed();
  }
  uint64_t seed() override;
  void set_state(const c10::TensorImpl& new_state) override;
  c10::intrusive_ptr<c10::TensorImpl> get_state() const override;
  static c10::DeviceType device_type() {
    return c10::DeviceType::CPU;
  }

  /// 32 and 64 fresh random bits.
  uint32_t random() {
    return engine_();
  }
  uint64_t random64() {
    const uint64_t high = engine_();
    return high << 32 | engine_();
  }
  /// The words of the next draws of 32 bits, see mt19937.
  C10_ALWAYS_INLINE mt19937::Words take(int64_t most) {
    return engine_.take(most);
  }
  /// Normal samples come in pairs; the second waits here. The operators draw doubles for every dtype.
  std::optional<double> next_double_normal_sample() const {
    return next_normal_;
  }
  void set_next_double_normal_sample(std::optional<double> value) {
    next_normal_ = value;
  }
  std::optional<float> next_float_normal_sample() const;
  void set_next_float_normal_sample(std::optional<float> value);

  mt19937 engine() const {
    return engine_;
  }
  void set_engine(mt19937 engine) {
    engine_ = engine;
  }

 private:
  CPUGeneratorImpl* clone_impl() const override;

  mt19937 engine_;
  std::optional<double> next_normal_;
  bool has_next_float_normal_ = false;
  float next_float_normal_ = 0;
};

} // namespace at
