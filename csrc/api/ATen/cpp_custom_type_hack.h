#pragma once

#include <aten/cpp_custom_type_hack.h>
