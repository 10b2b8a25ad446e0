"""The recipe of libcertreg for Conan 2, without OpenBLAS: conan create pkgconfig"""

import re

from conan import ConanFile
from conan.tools.cmake import CMake
from conan.tools.files import copy, load, rm, rmdir


class Certreg(ConanFile):
    name, license, languages = "certreg", "MIT", "C"
    settings = "os", "arch", "compiler", "build_type"
    options, default_options = {"shared": [True, False]}, {"shared": False}
    generators = "CMakeToolchain"

    def set_version(self):
        header = load(self, f"{self.recipe_folder}/../include/certreg/certreg.h")
        self.version = re.search(r"  Version (\S+)$", header, re.MULTILINE)[1]

    def export_sources(self):
        for pattern in ("CMakeLists.txt", "LICENSE", "include/*", "pkgconfig/*.in", "src/*"):
            copy(self, pattern, f"{self.recipe_folder}/..", self.export_sources_folder)

    def build(self):
        cmake = CMake(self)
        cmake.configure(variables={"CERTREG_BLAS": "OFF"})
        cmake.build()

    def package(self):
        CMake(self).install()
        copy(self, "LICENSE", self.source_folder, f"{self.package_folder}/licenses")
        for folder in ("cmake", "pkgconfig"):  # Conan writes these files itself
            rmdir(self, f"{self.package_folder}/lib/{folder}")
        shared = ("*.so*", "*.dylib", "*.dll*")
        for pattern in ("libcertreg.a",) if self.options.shared else shared:
            rm(self, pattern, self.package_folder, recursive=True)

    def package_info(self):
        self.cpp_info.libs = ["certreg"]
        if self.settings.os == "Linux":
            self.cpp_info.system_libs = ["m", "pthread", "dl"]
            if not self.options.shared:  # linking_static of src/flags.mk
                self.cpp_info.sharedlinkflags = ["-Wl,--exclude-libs,libcertreg.a"]
                self.cpp_info.exelinkflags = self.cpp_info.sharedlinkflags
