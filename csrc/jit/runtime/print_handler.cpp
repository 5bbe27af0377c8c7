#include <csrc/jit/runtime/print_handler.h>

#include <atomic>
#include <iostream>

namespace torch::jit {

namespace {

void print_to_cout(const std::string& text) {
  std::cout << text;
}

std::atomic<PrintHandler> print_handler{print_to_cout};

} // namespace

PrintHandler getDefaultPrintHandler() {
  return print_to_cout;
}
PrintHandler getPrintHandler() {
  return print_handler.load();
}
void setPrintHandler(PrintHandler handler) {
  print_handler.store(handler);
}

} // namespace torch::jit
