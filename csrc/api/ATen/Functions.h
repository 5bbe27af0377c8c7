#pragma once

#include <aten/Functions.h>
#include <aten/from_blob.h>
#include <aten/tensor_literal.h>
#include <aten/tensor_properties.h>
#include <c10/util/Optional.h>
