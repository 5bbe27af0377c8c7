#pragma once

#include <aten/core/List_inl.h>
