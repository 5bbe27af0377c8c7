#pragma once

#include <aten/core/dispatch/BuiltinRegistration.h>
