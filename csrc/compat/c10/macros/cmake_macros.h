#pragma once

// libtorch keeps build options here; this library has none that change its headers.
