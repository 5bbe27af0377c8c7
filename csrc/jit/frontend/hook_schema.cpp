#include <csrc/jit/frontend/hook_schema.h>

#include <csrc/jit/types.h>

namespace torch::jit {

namespace {

/// What hooks of one class are checked against.
struct Forward {
  explicit Forward(const c10::ClassType& type) : class_name(type.str()), schema(type.getMethod("forward").getSchema()) {
    std::vector<TypePtr> types;
    for (size_t i = 1; i < schema.arguments().size(); ++i) {
      types.push_back(schema.arguments()[i].type());
    }
    inputs = TupleType::create(std::move(types));
    output = schema.returns().at(0).type();
  }

  std::string class_name;
  const FunctionSchema& schema;
  TupleTypePtr inputs;
  TypePtr output;
};

template <class... Words>
void check(bool holds, const char* kind, const Function& hook, const Forward& forward, const Words&... words) {
  TORCH_CHECK(holds, kind, " '", hook.name(), "' of '", forward.class_name, "' ", words...);
}

// Self, the tuple of forward's arguments and, of a hook, the result so far.
void check_arguments(const char* kind, const Function& hook, const Forward& forward, const TypePtr& output) {
  const std::vector<Argument>& arguments = hook.getSchema().arguments();
  const size_t expected = output ? 3 : 2;
  check(
      arguments.size() == expected, kind, hook, forward, "has ", arguments.size(), " arguments but must have ",
      expected,
      output ? ": self, the tuple of forward's arguments, and its result"
             : ": self and the tuple of forward's arguments");
  check(
      *arguments[1].type() == *forward.inputs, kind, hook, forward, "takes '", arguments[1].type()->annotation_str(),
      "' as inputs, but forward's arguments are '", forward.inputs->annotation_str(), "': annotate it as that");
  if (output) {
    check(
        *arguments[2].type() == *output, kind, hook, forward, "takes '", arguments[2].type()->annotation_str(),
        "' as result, but forward, or the hook before it, gives '", output->annotation_str(), "': annotate it as that");
  }
}

// None, new arguments as a tuple, or the only one as it is unless that is a tuple.
void check_pre_hook(const Function& hook, const Forward& forward) {
  constexpr const char* kKind = "pre-hook";
  check_arguments(kKind, hook, forward, nullptr);
  const TypePtr given = hook.getSchema().returns().at(0).type();
  const bool is_only_argument = forward.inputs->elements().size() == 1 && *forward.inputs->elements()[0] == *given &&
      given->kind() != TypeKind::TupleType;
  check(
      given->kind() == TypeKind::NoneType || is_only_argument || *given == *forward.inputs, kKind, hook, forward,
      "gives '", given->annotation_str(), "' but must give None or the arguments of forward, '",
      forward.inputs->annotation_str(), "'");
}

// What the next hook gets, which is as before where the hook gives None.
TypePtr check_hook(const Function& hook, const Forward& forward, const TypePtr& output) {
  check_arguments("hook", hook, forward, output);
  const TypePtr given = hook.getSchema().returns().at(0).type();
  return given->kind() == TypeKind::NoneType ? output : given;
}

} // namespace

void check_hook_schemas(
    const c10::ClassType& type, const std::vector<Function*>& pre_hooks, const std::vector<Function*>& hooks) {
  if (pre_hooks.empty() && hooks.empty()) {
    return;
  }
  const Forward forward(type);
  for (const Function* hook : pre_hooks) {
    check_pre_hook(*hook, forward);
  }
  TypePtr output = forward.output;
  for (const Function* hook : type.getForwardHooks()) {
    output = check_hook(*hook, forward, output);
  }
  for (const Function* hook : hooks) {
    output = check_hook(*hook, forward, output);
  }
}

} // namespace torch::jit
