# What "make install" puts where, and the Debian package that "make deb" makes of it.
include(GNUInstallDirs)
include(CMakePackageConfigHelpers)

install(TARGETS treacle_cli treacle treacle_shared)
install(DIRECTORY include/treacle TYPE INCLUDE)
install(DIRECTORY looks DESTINATION ${CMAKE_INSTALL_DATADIR}/treacle)

# Both find the rest from where they are, so the prefix may be chosen when installing.
file(RELATIVE_PATH TREACLE_PC_TO_PREFIX /x/${CMAKE_INSTALL_LIBDIR}/pkgconfig /x)
# What a static link needs beside: pkg-config --static --libs treacle.
set(TREACLE_PC_REQUIRES "yaml-0.1 jansson libpng zlib blosc libxxhash ode")
set(TREACLE_PC_LIBS "")
foreach(library ${EMBREE} ${EXR_CORE})
  string(APPEND TREACLE_PC_LIBS " ${library}")
endforeach()
if(TARGET treacle_vdb)
  string(APPEND TREACLE_PC_LIBS " ${OPENVDB} ${TBB} ${IMATH} -lstdc++")
endif()
string(APPEND TREACLE_PC_LIBS " -pthread -lm")
string(STRIP "${TREACLE_PC_LIBS}" TREACLE_PC_LIBS)
configure_file(packaging/treacle.pc.in treacle.pc @ONLY)
install(FILES ${CMAKE_CURRENT_BINARY_DIR}/treacle.pc
  DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
set(TREACLE_CONFIG_FOLDER ${CMAKE_INSTALL_LIBDIR}/cmake/treacle)
file(RELATIVE_PATH TREACLE_CONFIG_TO_PREFIX /x/${TREACLE_CONFIG_FOLDER} /x)
configure_file(packaging/treacle-config.cmake.in treacle-config.cmake @ONLY)
write_basic_package_version_file(treacle-config-version.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${CMAKE_CURRENT_BINARY_DIR}/treacle-config.cmake
  ${CMAKE_CURRENT_BINARY_DIR}/treacle-config-version.cmake DESTINATION ${TREACLE_CONFIG_FOLDER})

# Man pages and completions say what the command's help says.
add_custom_command(OUTPUT share/treacle.bash
  COMMAND ${Python3_EXECUTABLE} ${PROJECT_SOURCE_DIR}/tools/make_man.py
    $<TARGET_FILE:treacle_cli> share
  DEPENDS treacle_cli tools/make_man.py VERBATIM)
add_custom_command(OUTPUT share/treacle-blender.zip
  COMMAND ${CMAKE_COMMAND} -E make_directory share
  COMMAND ${Python3_EXECUTABLE} ${PROJECT_SOURCE_DIR}/tools/make_addon.py share/treacle-blender.zip
  DEPENDS tools/make_addon.py VERBATIM)
add_custom_target(share ALL DEPENDS share/treacle.bash share/treacle-blender.zip)
install(DIRECTORY ${CMAKE_CURRENT_BINARY_DIR}/share/man/ DESTINATION ${CMAKE_INSTALL_MANDIR}/man1)
install(FILES ${CMAKE_CURRENT_BINARY_DIR}/share/treacle.bash
  DESTINATION ${CMAKE_INSTALL_DATADIR}/bash-completion/completions RENAME treacle)
install(FILES ${CMAKE_CURRENT_BINARY_DIR}/share/_treacle
  DESTINATION ${CMAKE_INSTALL_DATADIR}/zsh/site-functions)
install(FILES ${CMAKE_CURRENT_BINARY_DIR}/share/treacle-blender.zip
  DESTINATION ${CMAKE_INSTALL_DATADIR}/treacle)
install(DIRECTORY scenes DESTINATION ${CMAKE_INSTALL_DATADIR}/treacle)
# Where Debian's Python looks: below /usr for all versions at once, elsewhere for each its own.
find_program(TREACLE_DEBIAN_PYTHON python3 PATHS /usr/bin NO_DEFAULT_PATH)
find_program(TREACLE_DEBIAN_PYTHON python3)
execute_process(COMMAND ${TREACLE_DEBIAN_PYTHON} -c
  "import sys; print('%d.%d' % sys.version_info[:2])"
  OUTPUT_VARIABLE TREACLE_PYTHON_VERSION OUTPUT_STRIP_TRAILING_WHITESPACE)
install(CODE "
  set(folder python${TREACLE_PYTHON_VERSION})
  if(CMAKE_INSTALL_PREFIX MATCHES \"/usr\$\")
    set(folder python3)
  endif()
  file(INSTALL DESTINATION \"\${CMAKE_INSTALL_PREFIX}/lib/\${folder}/dist-packages\"
    TYPE DIRECTORY FILES \"${PROJECT_SOURCE_DIR}/python/treacle\"
    FILES_MATCHING PATTERN \"*.py\" PATTERN \"py.typed\")
")
install(FILES LICENSE DESTINATION ${CMAKE_INSTALL_DOCDIR} RENAME copyright)

set(CPACK_GENERATOR DEB)
set(CPACK_PACKAGE_NAME treacle)
set(CPACK_PACKAGE_CONTACT "The Treacle authors <treacle@example.org>")
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "simulates thick liquids: honey, wax, lava, gel")
set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_SECTION graphics)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
set(CPACK_DEBIAN_PACKAGE_SUGGESTS "ffmpeg, python3-numpy, blender")
set(CPACK_STRIP_FILES ON)
include(CPack)
