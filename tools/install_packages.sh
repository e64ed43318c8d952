#!/bin/sh
# Installs the Debian packages that are missing. This is the only list of them.
#
# usage: tools/install_packages.sh [GROUP ...]     groups: build film test ranks page blender bench checks; none
#                                               means all
#
# A moment when everything is there; otherwise apt-get, by sudo where we are not root.
set -eu

packages_build="build-essential cmake ninja-build pkg-config
    libyaml-dev libjansson-dev libpng-dev zlib1g-dev libblosc-dev libxxhash-dev
    libode-dev libembree-dev libopenexr-dev libopenvdb-dev libboost-dev libtbb-dev libimath-dev
    libmicrohttpd-dev libjs-three libcmocka-dev python3 python3-numpy"
packages_film="ffmpeg"
packages_test="python3-openvdb libopenvdb-tools jq python3-yaml python3-jsonschema
    python3-venv python3-nbconvert python3-ipykernel python3-xarray python3-vtk9" # readers of other makers, and the manual's commands
packages_ranks="libopenmpi-dev openmpi-bin libp4est-dev" # for -DTREACLE_MPI=ON and its tests
packages_page="chromium"
command -v npm >/dev/null || packages_page="chromium nodejs npm"
packages_blender="blender"
packages_bench="libhypre-dev"
packages_checks="git clang libclang-rt-14-dev clang-format clang-tidy"

wanted=""
for group in ${*:-build film test ranks page blender bench checks}; do
    case $group in
    build) wanted="$wanted $packages_build" ;;
    film) wanted="$wanted $packages_film" ;;
    test) wanted="$wanted $packages_test" ;;
    ranks) wanted="$wanted $packages_ranks" ;;
    page) wanted="$wanted $packages_page" ;;
    blender) wanted="$wanted $packages_blender" ;;
    bench) wanted="$wanted $packages_bench" ;;
    checks) wanted="$wanted $packages_checks" ;;
    *)
        echo "install_packages: unknown group \"$group\"; see the top of this script" >&2
        exit 2
        ;;
    esac
done

if ! command -v dpkg-query >/dev/null; then
    echo "install_packages: this is not a Debian system; install what corresponds to:" >&2
    echo $wanted >&2
    exit 0
fi

present=" $(dpkg-query -W -f='${db:Status-Abbrev}${Package}\n' $wanted 2>/dev/null |
    sed -n 's/^.i. *//p' | tr '\n' ' ') "
missing=""
for package in $wanted; do
    case $present in
    *" $package "*) ;;
    *) missing="$missing $package" ;;
    esac
done
[ -n "$missing" ] || exit 0

as_root=""
if [ "$(id -u)" != 0 ]; then
    if ! command -v sudo >/dev/null; then
        echo "install_packages: packages are missing, and without root or sudo they cannot be" >&2
        echo "installed from here. Please have someone run, as root:" >&2
        echo "    apt-get install --no-install-recommends" $missing >&2
        exit 1
    fi
    as_root=sudo
fi

echo "installing$missing"
install="$as_root env DEBIAN_FRONTEND=noninteractive apt-get -o Dpkg::Use-Pty=0 -qq \
    install -y --no-install-recommends"
# The package lists are fetched only where there are none or they are too old to work.
if ls /var/lib/apt/lists/*_Packages* >/dev/null 2>&1 && $install $missing; then
    exit 0
fi
$as_root apt-get -qq update
$install $missing
