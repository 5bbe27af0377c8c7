// Modes of QR factorizations.
#pragma once

#include <string_view>
#include <utility>

namespace at::shape {

/// What linalg_qr gives in a mode: {Q is wanted, as many columns as fit}.
std::pair<bool, bool> qr_mode(std::string_view mode);

} // namespace at::shape
