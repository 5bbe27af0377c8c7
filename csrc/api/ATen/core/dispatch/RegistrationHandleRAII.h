#pragma once

#include <aten/core/dispatch/RegistrationHandleRAII.h>
