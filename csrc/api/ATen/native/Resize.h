#pragma once

#include <aten/native/resize_impl.h>
