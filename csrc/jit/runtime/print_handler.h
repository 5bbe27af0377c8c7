// Where programs print.
#pragma once

#include <c10/macros/Export.h>

#include <string>

namespace torch::jit {

/// Takes the text of one call of print, with its newline.
using PrintHandler = void (*)(const std::string&);

/// The default writes to std::cout.
TORCH_API PrintHandler getDefaultPrintHandler();
TORCH_API PrintHandler getPrintHandler();
TORCH_API void setPrintHandler(PrintHandler handler);

} // namespace torch::jit
