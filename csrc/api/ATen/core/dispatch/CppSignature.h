#pragma once

#include <aten/core/dispatch/CppSignature.h>
