// Operands and wanted results of the pointwise rows.

#include <cmath>
#include <stdexcept>

#include "test/ops/samples.h"
#include "test/support/host_view.h"
#include "test/support/layouts.h"

namespace test {

std::vector<Sample> pointwise_samples(const OpRow& row, const BoxedOp& op, c10::ScalarType dtype, Purpose purpose);

namespace {

using Shape = std::vector<int64_t>;
using Setting = std::vector<NamedValue>;

bool contains(const std::vector<int>& list, size_t value) {
  for (const int item : list) {
    if (static_cast<size_t>(item) == value) {
      return true;
    }
  }
  return false;
}

class PointwiseSamples {
 public:
  PointwiseSamples(const OpRow& row, const BoxedOp& op, c10::ScalarType dtype, Purpose purpose)
      : row_(row), op_(op), dtype_(dtype), purpose_(purpose), random_(std::hash<std::string>()(row.name)) {
    settings_ = row.settings;
    if (settings_.empty()) {
      settings_.emplace_back();
    }
  }

  std::vector<Sample> make() {
    for (const Setting& setting : settings_) {
      add_shapes(setting);
    }
    if (purpose_ == Purpose::Values) {
      add_layouts();
    }
    return std::move(samples_);
  }

 private:
  void add_shapes(const Setting& setting) {
    if (purpose_ == Purpose::Gradient) {
      add({{2, 3}}, setting);
      add({{}}, setting);
      if (row_.operands.size() > 1) {
        add({{2, 1}, {3}, {2, 1, 1}}, setting);
      }
      return;
    }
    for (const Shape& shape : common_shapes()) {
      add({shape}, setting);
    }
    if (row_.operands.size() > 1) {
      add({{3, 1, 4}, {2, 1}, {4}}, setting);
      add({{4}, {2, 3, 4}, {3, 1}}, setting);
      add({{}, {5}, {2, 1}}, setting);
      add({{1, 3}, {0, 1}, {3}}, setting);
    }
  }

  /// Operand i has shape i of the list; the last one goes on for the rest.
  void add(const std::vector<Shape>& shapes, const Setting& setting) {
    Stack args;
    std::string note;
    for (size_t i = 0; i < op_.argument_count(); ++i) {
      const auto operand = operand_index(i);
      if (operand.has_value()) {
        const Shape& shape = shapes[std::min(*operand, shapes.size() - 1)];
        args.push_back(operand_value(i, *operand, shape));
        note += show(shape) + " ";
      } else {
        args.push_back(other_argument(i, setting));
      }
    }
    for (const NamedValue& named : setting) {
      note += std::string(named.name) + " set ";
    }
    samples_.push_back({std::move(args), note + dtype_name(dtype_)});
  }

  std::optional<size_t> operand_index(size_t argument) const {
    for (size_t i = 0; i < row_.operands.size(); ++i) {
      if (static_cast<size_t>(row_.operands[i]) == argument) {
        return i;
      }
    }
    return std::nullopt;
  }

  c10::IValue other_argument(size_t i, const Setting& setting) const {
    const auto& argument = op_.schema().arguments()[i];
    for (const NamedValue& named : setting) {
      if (argument.name() == named.name) {
        return named.value;
      }
    }
    if (argument.default_value().has_value()) {
      return *argument.default_value();
    }
    if (argument.type()->str() == "Scalar" || argument.type()->str() == "number") {
      return c10::IValue(2);
    }
    throw std::runtime_error("no value for argument " + argument.name() + ": add it to the entry's samples");
  }

  c10::IValue operand_value(size_t argument, size_t operand, const Shape& shape) {
    const std::string type = op_.schema().arguments()[argument].type()->str();
    if (type.rfind("Tensor", 0) == 0) {
      return operand_tensor(argument, operand, shape);
    }
    const Category category = dtype_info(dtype_).category;
    if (category == Category::Bool) {
      return true;
    }
    const Range range = range_of(operand);
    if (category == Category::Integer) {
      return random_.integer(1, std::max<int64_t>(1, static_cast<int64_t>(std::min(range.high, 100.0))));
    }
    // A multiple of 1/8, which all floating dtypes hold: whether a number is rounded to the tensor's dtype before use
    // is the operator's choice, and a discontinuous reference must not depend on it.
    return std::round(random_.uniform(range.low, range.high) * 8) / 8;
  }

  Range range_of(size_t operand) const {
    return operand < row_.ranges.size() ? row_.ranges[operand] : Range{row_.low, row_.high};
  }

  at::Tensor operand_tensor(size_t argument, size_t operand, const Shape& shape) {
    const c10::ScalarType dtype = contains(row_.masks, argument) ? c10::ScalarType::Bool : dtype_;
    const Range range = range_of(operand);
    at::Tensor tensor = random_.tensor(dtype, shape, range.low, range.high);
    const Category category = dtype_info(dtype).category;
    if (category == Category::Integer && operand > 0) {
      replace_zeros(tensor);
    }
    if (purpose_ == Purpose::Values && (category == Category::Float || category == Category::Complex)) {
      mix_in_extra(tensor);
    }
    return tensor;
  }

  // x / 0 of integers is an error or undefined; the entries' error samples see to it.
  static void replace_zeros(at::Tensor& tensor) {
    const HostView view(tensor);
    auto* data = static_cast<std::byte*>(tensor.data_ptr());
    for (int64_t i = 0; i < tensor.numel(); ++i) {
      if (view.integer(i) == 0) {
        write_integer(tensor.scalar_type(), 1, data + i * tensor.element_size());
      }
    }
  }

  void mix_in_extra(at::Tensor& tensor) {
    if (row_.extra.empty()) {
      return;
    }
    const bool is_complex = dtype_info(tensor.scalar_type()).category == Category::Complex;
    auto* data = static_cast<std::byte*>(tensor.data_ptr());
    for (int64_t i = 0; i < tensor.numel(); ++i) {
      if (random_.integer(0, 3) != 0) {
        continue;
      }
      const double value = row_.extra[random_.integer(0, static_cast<int64_t>(row_.extra.size()) - 1)];
      // What complex functions give for infinities is a matter of library versions.
      if (is_complex && !std::isfinite(value)) {
        continue;
      }
      write_number(tensor.scalar_type(), value, data + i * tensor.element_size());
    }
  }

  void add_layouts() {
    const size_t first = samples_.size();
    for (const Shape& shape : {Shape{5, 7}, Shape{2, 3, 4}, Shape{70, 33}}) {
      add({shape}, settings_.front());
    }
    const std::vector<Sample> bases(
        std::make_move_iterator(samples_.begin() + static_cast<std::ptrdiff_t>(first)),
        std::make_move_iterator(samples_.end()));
    samples_.resize(first);
    for (const Sample& base : bases) {
      std::vector<std::vector<Layout>> placed;
      for (const at::Tensor& tensor : tensors_of(base.args)) {
        placed.push_back(layouts(tensor));
      }
      const auto first_placed = [&](size_t count, size_t k) {
        size_t next = 0;
        return with_tensors(base.args, [&](const at::Tensor& tensor) {
          const size_t i = next++;
          return i < count ? placed[i][k].tensor : tensor;
        });
      };
      const size_t contiguous = samples_.size();
      for (size_t k = 0; k < placed.front().size(); ++k) {
        const std::string& name = placed.front()[k].name;
        samples_.push_back({first_placed(placed.size(), k), base.note + ", all " + name, contiguous});
        if (row_.operands.size() > 1) {
          samples_.push_back({first_placed(1, k), base.note + ", first " + name, contiguous});
        }
      }
      samples_[contiguous].same_elements.reset();
      const at::Tensor row = random_.tensor(dtype_, {7}, range_of(0).low, range_of(0).high);
      bool is_first = true;
      if (base.args[0].isTensor() && tensors_of(base.args)[0].sizes().equals({5, 7}) && !contains(row_.masks, 0)) {
        samples_.push_back(
            {with_tensors(
                 base.args,
                 [&](const at::Tensor& tensor) {
                   return std::exchange(is_first, false) ? expanded(row, {5, 7}) : tensor;
                 }),
             base.note + ", first expanded"});
      }
    }
  }

  const OpRow& row_;
  const BoxedOp& op_;
  c10::ScalarType dtype_;
  Purpose purpose_;
  Random random_;
  std::vector<Setting> settings_;
  std::vector<Sample> samples_;
};

Shape broadcast_shape(const std::vector<at::Tensor>& tensors) {
  Shape shape;
  for (const at::Tensor& tensor : tensors) {
    const auto rank = static_cast<size_t>(tensor.dim());
    if (rank > shape.size()) {
      shape.insert(shape.begin(), rank - shape.size(), 1);
    }
    for (size_t d = 0; d < rank; ++d) {
      int64_t& size = shape[shape.size() - rank + d];
      if (tensor.size(static_cast<int64_t>(d)) != 1) {
        size = tensor.size(static_cast<int64_t>(d));
      }
    }
  }
  return shape;
}

c10::ScalarType result_dtype(Result result, c10::ScalarType common) {
  switch (result) {
    case Result::Bool:
      return c10::ScalarType::Bool;
    case Result::Float:
      return c10::isIntegralType(common, /*includeBool=*/true) ? c10::ScalarType::Float : common;
    case Result::Real:
      if (common == c10::ScalarType::ComplexFloat) {
        return c10::ScalarType::Float;
      }
      return common == c10::ScalarType::ComplexDouble ? c10::ScalarType::Double : common;
    default:
      return common;
  }
}

template <class T>
T element(const at::Tensor& tensor, const HostView& view, int64_t position) {
  const bool integer = c10::isIntegralType(tensor.scalar_type(), /*includeBool=*/true);
  if constexpr (std::is_same_v<T, int64_t>) {
    return view.integer(position);
  } else if constexpr (std::is_same_v<T, double>) {
    return integer ? static_cast<double>(view.integer(position)) : view.number(position).real();
  } else {
    return view.number(position);
  }
}

template <class T>
T scalar_operand(const c10::IValue& value) {
  if (value.isBool()) {
    return T(value.toBool() ? 1 : 0);
  }
  if constexpr (std::is_same_v<T, int64_t>) {
    return value.toScalar().toLong();
  } else if constexpr (std::is_same_v<T, double>) {
    return value.toScalar().toDouble();
  } else {
    const c10::complex<double> number = value.toScalar().toComplexDouble();
    return {number.real(), number.imag()};
  }
}

/// Applies a reference to every element of the broadcast operands.
template <class T>
at::Tensor apply(
    const OpRow& row, const BoxedOp& op, const Stack& args, T (*function)(const Operands<T>&), c10::ScalarType out) {
  std::vector<at::Tensor> tensors;
  for (const int i : row.operands) {
    if (args[i].isTensor()) {
      tensors.push_back(args[i].toTensor());
    }
  }
  const Shape shape = broadcast_shape(tensors);
  std::vector<at::Tensor> wide;
  std::vector<HostView> views;
  for (const at::Tensor& tensor : tensors) {
    wide.push_back(expanded(tensor, shape));
  }
  for (const at::Tensor& tensor : wide) {
    views.emplace_back(tensor);
  }

  const bool integer_result = std::is_same_v<T, int64_t> && c10::isIntegralType(out, /*includeBool=*/true);
  at::Tensor result = tensor_of(out, shape, [](int64_t) { return 0.0; });
  auto* data = static_cast<std::byte*>(result.data_ptr());
  for (int64_t position = 0; position < result.numel(); ++position) {
    Operands<T> operands(op.schema(), args);
    size_t tensor = 0;
    for (const int i : row.operands) {
      if (args[i].isTensor()) {
        operands.push(element<T>(wide[tensor], views[tensor], position));
        ++tensor;
      } else {
        operands.push(scalar_operand<T>(args[i]));
      }
    }
    std::byte* at = data + position * result.element_size();
    const T value = function(operands);
    if constexpr (std::is_same_v<T, int64_t>) {
      if (integer_result) {
        write_integer(out, value, at);
      } else {
        write_number(out, static_cast<double>(value), at);
      }
    } else if (out == c10::ScalarType::Bool) {
      write_integer(out, value != T(0), at);
    } else {
      write_number(out, value, at);
    }
  }
  return result;
}

} // namespace

std::vector<Sample> pointwise_samples(const OpRow& row, const BoxedOp& op, c10::ScalarType dtype, Purpose purpose) {
  return PointwiseSamples(row, op, dtype, purpose).make();
}

at::Tensor pointwise_reference(const OpRow& row, const BoxedOp& op, const Stack& args) {
  c10::ScalarType common = c10::ScalarType::Undefined;
  for (const int i : row.operands) {
    if (args[i].isTensor() && !contains(row.masks, static_cast<size_t>(i))) {
      common = args[i].toTensor().scalar_type();
    }
  }
  const c10::ScalarType out = result_dtype(row.result, common);
  if (c10::isComplexType(common)) {
    return row.complex != nullptr ? apply(row, op, args, row.complex, out) : at::Tensor();
  }
  const bool in_integers = c10::isIntegralType(common, /*includeBool=*/true) && row.result != Result::Float;
  if (in_integers && row.integer != nullptr) {
    return apply(row, op, args, row.integer, out);
  }
  if (in_integers || row.real == nullptr) {
    return {};
  }
  return apply(row, op, args, row.real, out);
}

} // namespace test
