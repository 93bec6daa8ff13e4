"""Start Inspector from one file. The first start unpacks it into the user's cache: compiled modules need files."""

import os
import sys
import sysconfig
import zipfile


def cache_folder():
    """Return the folder of caches of this user: the one that Inspector itself uses."""
    home = os.path.expanduser("~")
    if os.environ.get("INSPECTOR_STATE_HOME"):
        return os.path.join(os.environ["INSPECTOR_STATE_HOME"], "cache")
    if sys.platform == "win32":
        local = os.environ.get("LOCALAPPDATA") or os.path.join(home, "AppData", "Local")
        return os.path.join(local, "inspector", "Cache")
    if sys.platform == "darwin":
        return os.path.join(home, "Library", "Caches", "inspector")
    return os.path.join(os.environ.get("XDG_CACHE_HOME") or os.path.join(home, ".cache"), "inspector")


def unpacked(path):
    """Return the folder with the packages of an archive, which is unpacked if it is the first start."""
    with zipfile.ZipFile(path) as archive:
        build, made_for = archive.read("BUILD").decode().split("\n")[:2]
        here = f"{sys.implementation.cache_tag} {sysconfig.get_platform()}"
        if made_for != here:
            sys.exit(f"{path} was made for {made_for}, and this Python is {here}.")
        folder = os.path.join(cache_folder(), f"zipapp-{build}")
        if not os.path.isdir(folder):
            # Another start may unpack it, too: each into a folder of its own, and the first one keeps the name.
            temporary = f"{folder}.{os.getpid()}"
            os.makedirs(temporary, mode=0o700)
            archive.extractall(temporary, [name for name in archive.namelist() if name.startswith("site/")])
            try:
                os.rename(temporary, folder)
            except OSError:
                import shutil

                shutil.rmtree(temporary)
    return os.path.join(folder, "site")


def main():
    path = os.path.abspath(sys.argv[0])
    sys.path[0] = unpacked(path)
    from inspector import own_commands

    own_commands.archive = path
    if sys.argv[1:2] == ["-m"]:
        import runpy

        del sys.argv[1]
        runpy.run_module(sys.argv.pop(1), run_name="__main__", alter_sys=True)
        return
    from inspector.cli.main import main as run

    sys.exit(run())


main()
