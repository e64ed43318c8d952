# The front door. Everything real is in CMakeLists.txt; see CMakePresets.json for other builds.
#
# Each target first installs the Debian packages that it needs and that are missing.

.PHONY: help build install uninstall deb blender-addon demo test validate bench gallery format tidy clean

help:
	@echo "make build      the library and the command, into build/"
	@echo "make install    into /usr/local (PREFIX=/opt/treacle, DESTDIR=...)"
	@echo "make uninstall  removes what the last make install has put there"
	@echo "make deb        a Debian package, into build/"
	@echo "make blender-addon   build/share/treacle-blender.zip, for Blender 3.4 and later"
	@echo "make demo       a first film, into out/demo"
	@echo "make test       all tests"
	@echo "make validate   physics against known solutions, quick tier (TIER=full, TIER=long)"
	@echo "make bench      speed, against yardsticks measured in the same run"
	@echo "make gallery    a picture of every scene, into docs/gallery"
	@echo "make format     lay out all C sources as the house does"
	@echo "make tidy       static analysis"
	@echo "make clean      remove build folders and out/demo"

build:
	@tools/install_packages.sh build
	@cmake --preset release --log-level=WARNING
	@cmake --build --preset release

PREFIX = /usr/local
install: build
	@cmake --install build --prefix $(PREFIX) >/dev/null
	@echo "installed into $(DESTDIR)$(PREFIX)"

uninstall:
	@packaging/uninstall.sh build/install_manifest.txt "$(DESTDIR)"

deb: build
	@cd build && cpack -G DEB | tail -1

blender-addon:
	@mkdir -p build/share
	@python3 tools/make_addon.py build/share/treacle-blender.zip
	@echo build/share/treacle-blender.zip

# The command alone: tests, validation and benches are not needed for a first film.
demo:
	@tools/install_packages.sh build film
	@cmake --preset release --log-level=WARNING >/dev/null
	@echo "building the command ..."
	@cmake --build --preset release --target treacle_cli >build/demo_build.log || \
	    { tail -30 build/demo_build.log; exit 1; }
	@tools/run_demo.sh

# The command on ranks is built where its packages are: they come first.
test:
	@tools/install_packages.sh build film test ranks
	@$(MAKE) --no-print-directory build
	@ctest --preset release

TIER = quick
validate: build
	build/validate --tier $(TIER)

bench:
	@tools/install_packages.sh build bench ranks
	@$(MAKE) --no-print-directory build
	build/bench

gallery: build
	-@test -f build/bunny.ply || tools/make_bunny.py
	@tools/make_gallery.py

format:
	@tools/install_packages.sh checks
	@find include src apps validate bench examples tests -name '*.[ch]' -print0 | \
	    xargs -0 clang-format -i

tidy: build
	@tools/install_packages.sh checks
	@tools/run_tidy.sh

clean:
	rm -rf build build-* out/demo
