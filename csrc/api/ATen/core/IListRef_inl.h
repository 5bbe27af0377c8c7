#pragma once

#include <aten/core/IListRef.h>
