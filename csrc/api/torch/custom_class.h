#pragma once

#include <aten/core/op_registration/op_registration.h>
#include <aten/custom_class.h>
