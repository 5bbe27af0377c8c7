#pragma once

#include <aten/core/op_registration/op_registration.h>
