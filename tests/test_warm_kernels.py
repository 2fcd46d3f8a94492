"""Kernels forked from a warm process: each a process of its own, that ends with whoever asked for it."""

import os
import socket
import subprocess
import sys
import time
from pathlib import Path

import pytest
from jupyter_client.manager import KernelManager

pytestmark = [pytest.mark.thorough, pytest.mark.skipif(sys.platform != "linux", reason="a fork, on Linux alone")]
HERE = Path(__file__).parent
SERVE = """
import sys, warm_kernels as w
w.IMPORTED, w.read_the_code_of_runs = w.IMPORTED[:3], lambda: None
w.serve(w.socket.socket(fileno=int(sys.argv[1])))
"""


@pytest.fixture
def server(tmp_path, monkeypatch):
    monkeypatch.setenv("JUPYTER_PATH", str(HERE))
    monkeypatch.setenv("SUPERPOSITION_WARM_KERNELS", str(tmp_path / "door"))
    with socket.socket(socket.AF_UNIX) as door:
        door.bind(str(tmp_path / "door"))
        door.listen()
        command, environment = [sys.executable, "-c", SERVE, str(door.fileno())], os.environ | {"PYTHONPATH": str(HERE)}
        process = subprocess.Popen(command, stdin=subprocess.PIPE, pass_fds=[door.fileno()], env=environment)
    yield process
    process.stdin.close()
    process.wait(10)


@pytest.fixture
def started(tmp_path):
    """Start a kernel; what cells print there comes from a function."""
    running = []

    def start():
        manager = KernelManager(kernel_name="warm")
        manager.start_kernel(cwd=tmp_path)
        client = manager.client()
        client.start_channels()
        client.wait_for_ready(timeout=60)
        running.append((manager, client))
        return manager, lambda code: printed(client, code)

    yield start
    for manager, client in running:
        client.stop_channels()
        manager.shutdown_kernel(now=True)
        manager.context.destroy()


def printed(client, code):
    found = []
    reply = client.execute_interactive(code, timeout=60, output_hook=found.append, store_history=False)
    texts = [message["content"]["text"] for message in found if message["header"]["msg_type"] == "stream"]
    return reply["content"].get("ename") or "".join(texts).strip()


def has_ended(pid):
    end = time.monotonic() + 10
    while Path(f"/proc/{pid}").exists() and time.monotonic() < end:
        time.sleep(0.05)
    return not Path(f"/proc/{pid}").exists()


def test_each_is_a_process_of_its_own_with_the_folder_and_environment_of_who_asked(server, started, tmp_path):
    (_, first), (_, second) = started(), started()
    ask = "import os; print(os.getppid(), os.getcwd(), os.environ['JUPYTER_PATH'], 'a' in globals())"
    assert first("a = 1") == "" and first(ask) == f"{server.pid} {tmp_path} {HERE} True"
    assert second(ask) == f"{server.pid} {tmp_path} {HERE} False"
    assert first("import subprocess; print(subprocess.run('exit 3', shell=True).returncode)") == "3"


READ = """
import sys, warm_kernels
warm_kernels.read_the_code_of_runs()
from defprint import fingerprint
print(fingerprint._code.cache_info().currsize > 50, [n for n in sys.modules if n.startswith("superposition")])
"""


def test_the_code_of_runs_is_read_and_the_library_is_not_there():
    path = os.pathsep.join([str(HERE), *filter(None, [os.environ.get("PYTHONPATH")])])
    how = {"env": os.environ | {"PYTHONPATH": path}, "capture_output": True, "text": True, "check": True}
    assert subprocess.run([sys.executable, "-c", READ], **how).stdout == "True []\n"


def test_a_figure_says_what_it_warns_of(server, started):
    _, answer = started()
    assert answer("from matplotlib_inline import backend_inline as i; i.set_matplotlib_formats('svg', 'png')") == ""
    draw = "import matplotlib.pyplot as plt; plt.plot([0, 1]); plt.title('{}'); plt.show()"
    assert "missing from font" in answer(draw.format(chr(0x4E00))) and "missing" not in answer(draw.format("a"))


def test_an_interrupt_stops_a_cell_and_not_the_kernel(server, started):
    manager, answer = started()
    with subprocess.Popen(["/bin/sh", "-c", f"sleep 2; kill -INT {manager.provisioner.pid}"]):
        assert answer("import time; time.sleep(30)") == "KeyboardInterrupt"
    assert answer("print(1)") == "1"


def test_a_kernel_ends_when_it_is_killed_and_when_the_server_loses_its_owner(server, started):
    (killed, first), (_, second) = started(), started()
    pids = [int(answer("import os; print(os.getpid())")) for answer in (first, second)]
    killed.shutdown_kernel(now=True)
    assert has_ended(pids[0]) and server.poll() is None
    server.stdin.close()
    assert has_ended(pids[1])


def test_where_nobody_answers_it_is_an_ordinary_kernel(monkeypatch, started):
    monkeypatch.setenv("JUPYTER_PATH", str(HERE))
    monkeypatch.delenv("SUPERPOSITION_WARM_KERNELS", raising=False)
    _, answer = started()
    assert answer("import os; print(os.getppid())") == str(os.getpid())
