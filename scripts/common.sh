# What the scripts share: where the project is, and the packages that it needs.
# Sourced, not run.
set -euo pipefail
top=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
cd "$top"

# usage: prints the first comment of the script that was started.
usage() {
    sed -n '2,${ /^#/!q; s/^# \{0,1\}//p }' "$top/scripts/$(basename "$0")"
}
case "${1:-}" in
    -h | --help)
        usage
        exit
        ;;
esac

fail() {
    printf '%s: %s\n' "$(basename "$0")" "$1" >&2
    exit 1
}

# require_packages NAME…: installs Debian packages that are missing, and says which.
require_packages() {
    local missing=() name
    command -v dpkg-query >/dev/null \
        || fail "this is not Debian or Ubuntu: install what the packages $* hold by hand"
    for name in "$@"; do
        if ! dpkg-query -W -f='${Status}' "$name" 2>/dev/null | grep -q 'install ok installed'; then
            missing+=("$name")
        fi
    done
    [ ${#missing[@]} -gt 0 ] || return 0
    command -v apt-get >/dev/null \
        || fail "this needs the packages ${missing[*]}, and there is no apt-get to install them"
    local run=()
    if [ "$(id -u)" -ne 0 ]; then
        command -v sudo >/dev/null \
            || fail "this needs the packages ${missing[*]}: install them as root, or install sudo"
        run=(sudo)
    fi
    printf 'Installing %s\n' "${missing[*]}"
    "${run[@]}" apt-get update -qq \
        || printf 'apt-get update failed; trying with the lists that are there\n' >&2
    "${run[@]}" env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq "${missing[@]}" \
        >/dev/null || fail "apt-get could not install ${missing[*]}"
}

require_swift() {
    command -v swift >/dev/null || fail "there is no swift on the path: install Swift 6.2 or later"
    local version
    version=$(swift --version 2>/dev/null | sed -n 's/.*Swift version \([0-9]*\.[0-9]*\).*/\1/p')
    [ -n "$version" ] || fail "swift --version gives no version: install Swift 6.2 or later"
    [ "$(printf '%s\n6.2\n' "$version" | sort -V | head -n 1)" = 6.2 ] \
        || fail "this is Swift $version: install Swift 6.2 or later"
}

# build_program FOLDER PRODUCT: builds a program of another package for release, and sets $program to
# its path. These packages share what they build of the library. A plan does not notice new files
# of a package that is found by its path, nor that it is another package's, so it is made anew.
build_program() {
    local options=(-c release --package-path "$1" --scratch-path "$top/.build-programs")
    rm -f "$top/.build-programs/release.yaml"
    swift build "${options[@]}" --product "$2"
    program=$(swift build "${options[@]}" --show-bin-path)/$2
}

# Options of builds of the package itself: those that scripts/test built with, so that no script that
# it runs builds the same again.
read -ra debug_build <<<"${TRELLIS_DEBUG_BUILD:-}"
read -ra release_build <<<"-c release ${TRELLIS_RELEASE_BUILD:-}"
