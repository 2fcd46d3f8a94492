"""Settings of the kernels in .venv, copied there by make.

JupyterLab marks a notebook as changed on opening when the kernel's Python has another patch version than the stored
one. So kernels name the minor version alone, as the stored notebooks do. And papermill would begin each run with the
kernel's warning that it talks to its own machine without encryption.
"""

c = get_config()  # noqa: F821 - IPython provides it
c.IPKernelApp.exec_lines = [
    "get_ipython().kernel.language_info['version'] = '.'.join(map(str, __import__('sys').version_info[:2]))"
]
c.IPKernelApp.log_level = "ERROR"
