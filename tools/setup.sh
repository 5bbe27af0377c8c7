# Sourced by tools/demo and tools/test: what a fresh Debian 12 lacks, and a configured build folder.
# Needs: ROOT (the source tree), BUILD (the build folder).

packages="g++ cmake ninja-build python3 python3-yaml libfmt-dev libdnnl-dev catch2 libopenblas0-serial libpcre2-dev libutf8proc-dev"

say() { printf '\033[1m== %s\033[0m\n' "$*"; }

have_packages() {
  for package in $packages; do
    dpkg-query -W -f='${Status}' "$package" 2>/dev/null | grep -q 'install ok installed' || return 1
  done
}

install_packages() {
  if have_packages; then
    return
  fi
  local run=""
  if [ "$(id -u)" -ne 0 ]; then
    if ! command -v sudo >/dev/null; then
      echo "These Debian packages are needed: $packages" >&2
      echo "Become root, or install sudo, and run: apt-get install -y $packages" >&2
      exit 1
    fi
    run="sudo"
  fi
  say "Installing packages: $run apt-get install -y --no-install-recommends $packages"
  $run apt-get update -qq
  DEBIAN_FRONTEND=noninteractive $run apt-get install -y -qq --no-install-recommends $packages >/dev/null
}

configure_build() {
  say "Configuring in $BUILD"
  mkdir -p "$BUILD"
  local log=$BUILD/configure.log
  if ! cmake -S "$ROOT" -B "$BUILD" -G Ninja "$@" >"$log" 2>&1; then
    cat "$log" >&2
    return 1
  fi
  grep -E '^-- (CUDA|Tensor|oneDNN)' "$log" || true
}

build_targets() {
  say "Building $* (ninja prints its progress)"
  NINJA_STATUS='[%f/%t %es] ' cmake --build "$BUILD" --target "$@"
}
