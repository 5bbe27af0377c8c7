#pragma once

#include <aten/core/boxing/impl/make_boxed_from_unboxed_functor.h>
