// Batches of sequences of different lengths.
#pragma once

#include <csrc/namespace.h>

#include <cstdint>
#include <optional>
#include <string_view>
#include <tuple>
#include <vector>

namespace torch::nn::utils::rnn {

/// The permutation that undoes `permutation`; undefined for an undefined one.
TORCH_API Tensor invert_permutation(const Tensor& permutation);

/// Sequences with their steps interleaved: first step 0 of all, then step 1 of all that have one, and so on, the
/// longest sequence first. Made by pack_padded_sequence and pack_sequence; recurrent modules take it in
/// `forward_with_packed_input`.
class TORCH_API PackedSequence {
 public:
  /// Throws unless `batch_sizes` is on the CPU.
  explicit PackedSequence(Tensor data, Tensor batch_sizes, Tensor sorted_indices = {}, Tensor unsorted_indices = {});

  /// [total number of steps, ...].
  const Tensor& data() const {
    return data_;
  }
  /// How many sequences have a step 0, a step 1, ...; on the CPU.
  const Tensor& batch_sizes() const {
    return batch_sizes_;
  }
  /// From the order here to that of the sequences given, and the other way; undefined if they are the same.
  const Tensor& sorted_indices() const {
    return sorted_indices_;
  }
  const Tensor& unsorted_indices() const {
    return unsorted_indices_;
  }

  PackedSequence pin_memory() const;
  /// With data of this dtype on this device. batch_sizes stays on the CPU.
  PackedSequence to(TensorOptions options) const;
  PackedSequence cuda() const {
    return to(kCUDA);
  }
  PackedSequence cpu() const {
    return to(kCPU);
  }
  bool is_cuda() const {
    return data_.is_cuda();
  }
  bool is_pinned() const {
    return data_.is_pinned();
  }

 private:
  Tensor data_;
  Tensor batch_sizes_;
  Tensor sorted_indices_;
  Tensor unsorted_indices_;
};

/// Packs `input` [length, batch, ...], or [batch, length, ...] with `batch_first`, of which each sequence counts only
/// up to its length. Lengths, positive and on the CPU, must fall unless `enforce_sorted` is false.
TORCH_API PackedSequence
pack_padded_sequence(Tensor input, Tensor lengths, bool batch_first = false, bool enforce_sorted = true);

/// Undoes pack_padded_sequence: the padded batch, in the order of the sequences given, and their lengths. Throws when
/// `total_length` is below the longest.
TORCH_API std::tuple<Tensor, Tensor> pad_packed_sequence(
    const PackedSequence& sequence,
    bool batch_first = false,
    double padding_value = 0.0,
    std::optional<int64_t> total_length = std::nullopt);

/// Sequences [length, ...] in one tensor [longest, batch, ...], or [batch, longest, ...] with `batch_first`, padded on
/// the "right" or the "left".
TORCH_API Tensor pad_sequence(
    ArrayRef<Tensor> sequences,
    bool batch_first = false,
    double padding_value = 0,
    std::string_view padding_side = "right");
/// The sequences out of such a tensor again.
TORCH_API std::vector<Tensor> unpad_sequence(const Tensor& padded, const Tensor& lengths, bool batch_first = false);

/// Packs sequences [length, ...].
TORCH_API PackedSequence pack_sequence(ArrayRef<Tensor> sequences, bool enforce_sorted = true);
/// The sequences out of a PackedSequence again.
TORCH_API std::vector<Tensor> unpack_sequence(const PackedSequence& sequence);

} // namespace torch::nn::utils::rnn
