#pragma once

#include <aten/tensor_literal.h>
