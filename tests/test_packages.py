"""setup.cfg lists every package by hand; this compares that list with the folders on disk."""

import configparser
import importlib.util

from tests.house import ROOT, source_files


def declared() -> configparser.ConfigParser:
    parser = configparser.ConfigParser()
    parser.read(ROOT / "setup.cfg", encoding="utf-8")
    return parser


def test_the_package_list_is_the_folders_on_disk():
    listed = declared()["options"]["packages"].split()
    on_disk = [file.module for file in source_files() if file.is_package]
    assert listed == sorted(set(listed), key=listed.index), "a package is listed twice"
    assert sorted(listed) == sorted(on_disk)


def test_every_folder_with_modules_is_a_package():
    folders = {(ROOT / file.path).parent for file in source_files()}
    assert [
        str(f.relative_to(ROOT)) for f in sorted(folders) if not (f / "__init__.py").exists()
    ] == []


def test_the_rooms_are_imported_from_this_checkout():
    for file in source_files():
        if not file.is_package:
            continue
        spec = importlib.util.find_spec(file.module)
        assert spec is not None, f"{file.module} is not installed"
        assert spec.origin == str(ROOT / file.path)


def test_the_dev_extra_brings_what_tests_and_tutorials_need():
    extras = declared()["options.extras_require"]
    assert "minitorch2[tutorials]" in extras["dev"].split()
