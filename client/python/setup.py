"""Makes a package of the one file, because only a package can say that it has types (PEP 561)."""
import pathlib

from setuptools import setup
from setuptools.command.build_py import build_py


class OneFile(build_py):
    def run(self):
        package = pathlib.Path(self.build_lib, "locksmith")
        self.mkpath(str(package))
        self.copy_file("locksmith.py", str(package / "__init__.py"))
        (package / "py.typed").touch()


setup(packages=["locksmith"], package_dir={"locksmith": "."}, cmdclass={"build_py": OneFile})
