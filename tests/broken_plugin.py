"""A package whose code is not what its entry points promise."""

from pathlib import Path


def broken(folder: Path, entry_points: str) -> Path:
    """``folder``, with such a package as an installer leaves it: a module, and two files of metadata.

    Written by hand because nothing is built here.
    """
    info = folder / "podium_broken-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: podium-broken\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text(entry_points)
    (folder / "podium_broken.py").write_text("RECORD = 42\n")
    return folder
