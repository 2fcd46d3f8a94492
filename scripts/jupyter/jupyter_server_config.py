"""JupyterLab reads the style sheet beside this file, unless the reader's own folder has one."""

from pathlib import Path

from jupyter_core.paths import jupyter_config_dir

c = get_config()  # noqa: F821  a name that Jupyter defines
c.LabApp.custom_css = True
c.ServerApp.tornado_settings = {
    "static_custom_path": [str(Path(folder) / "custom") for folder in (jupyter_config_dir(), Path(__file__).parent)]
}
