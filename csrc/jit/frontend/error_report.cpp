#include <csrc/jit/frontend/error_report.h>

#include <csrc/jit/frontend/lexer.h>

#include <vector>

namespace torch::jit {

namespace {

struct Compiled {
  std::string name;
  SourceRange range;
};

thread_local std::vector<Compiled> compiled_functions;

} // namespace

ErrorReport::ErrorReport(SourceRange range)
    : c10::Error({__func__, __FILE__, static_cast<uint32_t>(__LINE__)}, ""),
      range_(std::move(range)),
      call_stack_(current_call_stack()) {}

ErrorReport::ErrorReport(const Token& token) : ErrorReport(token.range) {}

ErrorReport::ErrorReport(const ErrorReport& other)
    : c10::Error(other), range_(other.range_), call_stack_(other.call_stack_) {
  message_ << other.message_.str();
}

const char* ErrorReport::what() const noexcept {
  std::ostringstream text;
  text << '\n' << message_.str() << ":\n";
  range_.highlight(text);
  text << call_stack_;
  what_ = text.str();
  return what_.c_str();
}

ErrorReport::CallStack::CallStack(const std::string& name, const SourceRange& range) {
  compiled_functions.push_back(Compiled{name, range});
}

ErrorReport::CallStack::~CallStack() {
  compiled_functions.pop_back();
}

void ErrorReport::CallStack::update_pending_range(const SourceRange& range) {
  if (!compiled_functions.empty()) {
    compiled_functions.back().range = range;
  }
}

std::string ErrorReport::current_call_stack() {
  std::ostringstream text;
  for (size_t i = compiled_functions.size(); i-- > 1;) {
    text << '\'' << compiled_functions[i].name << "' is being compiled since it was called from '"
         << compiled_functions[i - 1].name << "'\n";
    compiled_functions[i - 1].range.highlight(text);
  }
  return text.str();
}

} // namespace torch::jit
