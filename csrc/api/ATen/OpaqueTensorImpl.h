#pragma once

#include <aten/OpaqueTensorImpl.h>
