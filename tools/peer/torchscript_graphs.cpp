// Writes the graphs of TorchScript programs, for torchscript_graphs: each line of the input is WHAT, FILE with a tab
// between them. WHAT is `load` (an archive), `compile` (a source of functions) or `define` (a source of a module's
// methods). Of each program come the names and graphs of its methods, or what is said against it, then a zero byte.
// Compiles against libtorch and against libtensor.
#include <torch/jit.h>
#include <torch/script.h>

#include <sys/wait.h>
#include <unistd.h>

#include <fstream>
#include <iostream>
#include <sstream>
#include <string>

namespace {

void show(const std::string& name, const torch::jit::Function& function) {
  std::cout << '\1' << name << '\2' << toGraphFunction(const_cast<torch::jit::Function&>(function)).graph()->toString();
}

void show(const std::string& prefix, const torch::jit::Module& module) {
  for (const torch::jit::Method& method : module.get_methods()) {
    show(prefix + method.name(), method.function());
  }
  for (const auto& child : module.named_children()) {
    show(prefix + child.name + '.', child.value);
  }
}

void show_program(const std::string& what, const std::string& file) {
  if (what == "load") {
    show("", torch::jit::load(file));
    return;
  }
  std::ostringstream source;
  source << std::ifstream(file).rdbuf();
  if (what == "define") {
    torch::jit::Module module("M");
    module.define(source.str());
    show("", module);
    return;
  }
  const auto unit = torch::jit::compile(source.str());
  for (torch::jit::Function* function : unit->get_functions()) {
    show(function->name(), *function);
  }
}

} // namespace

int main() {
  for (std::string line; std::getline(std::cin, line);) {
    const size_t tab = line.find('\t');
    const pid_t child = fork();
    if (child == 0) {
      try {
        show_program(line.substr(0, tab), line.substr(tab + 1));
      } catch (const std::exception& error) {
        std::cout << '\3' << error.what();
      }
      std::cout << std::flush;
      _exit(0);
    }
    waitpid(child, nullptr, 0);
    std::cout << '\0' << std::flush;
  }
}
