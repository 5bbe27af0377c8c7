#pragma once

#include <aten/core/op_registration/infer_schema.h>
