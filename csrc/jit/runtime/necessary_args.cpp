#include <csrc/jit/runtime/necessary_args.h>

#include <csrc/jit/ir/constants.h>

namespace torch::jit {

namespace {

bool says_the_default(const Argument& parameter, const Value* input) {
  const std::optional<IValue> given = parameter.default_value() ? toIValue(input) : std::nullopt;
  return given && *given == *parameter.default_value();
}

} // namespace

std::pair<int64_t, int64_t> CalculateNecessaryArgs(
    const std::vector<Argument>& schema_args, at::ArrayRef<Value*> actual_inputs, bool allow_trailing_out_args) {
  size_t end = schema_args.size();
  while (allow_trailing_out_args && end > 0 && schema_args[end - 1].is_out()) {
    --end;
  }
  const int64_t num_out = static_cast<int64_t>(schema_args.size() - end);
  if (actual_inputs.size() > schema_args.size()) {
    return {static_cast<int64_t>(actual_inputs.size()), num_out};
  }
  while (end > 0 && (end > actual_inputs.size() || says_the_default(schema_args[end - 1], actual_inputs[end - 1]))) {
    --end;
  }
  return {static_cast<int64_t>(end), num_out};
}

} // namespace torch::jit
