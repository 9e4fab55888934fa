"""A real nginx on a free port of the loopback device, in a directory of its own, that keeps
what is PUT in the layout of a store."""

import os
import shutil
import signal
import socket
import subprocess
import time

PATH = os.environ.get("PATH", "") + ":/usr/sbin:/usr/local/sbin"
CONF = """\
daemon off;
worker_processes 1;
{user}
pid {top}/pid;
error_log {top}/error.log;
events {{ worker_connections 512; }}
http {{
  access_log off;
  sendfile on;
  tcp_nopush on;
  keepalive_requests 100000;
  client_max_body_size 0;
  client_body_temp_path {top}/store/tmp;
  proxy_temp_path {top}/proxy; fastcgi_temp_path {top}/fastcgi;
  uwsgi_temp_path {top}/uwsgi; scgi_temp_path {top}/scgi;
  server {{
    listen 127.0.0.1:{port};
    location ~ "^/cache/(ac|cas)/(..)([0-9a-f]{{62}})$" {{
      alias {top}/store/$1/$2/$2$3;
      dav_methods PUT;
      create_full_put_path on;
      {location}
    }}
  }}
}}
"""


def found():
    return shutil.which("nginx", path=PATH) is not None


class Nginx:
    """Runs from when it is made until it is stopped. `location` has more lines of it."""

    def __init__(self, top, location=""):
        self.top = top
        self.store = top / "store"
        self.store.mkdir(parents=True)
        with socket.create_server(("127.0.0.1", 0)) as free:
            port = free.getsockname()[1]
        self.url = f"http://127.0.0.1:{port}/cache"
        conf = top / "nginx.conf"
        conf.write_text(CONF.format(top=top, port=port, location=location,
                                    user="user root;" if os.geteuid() == 0 else ""))
        self.process = subprocess.Popen(
            ["nginx", "-p", str(top), "-e", str(top / "error.log"), "-c", str(conf)],
            env=dict(os.environ, PATH=PATH))
        deadline = time.monotonic() + 10
        while True:
            try:
                socket.create_connection(("127.0.0.1", port)).close()
                return
            except OSError:
                if time.monotonic() > deadline or self.process.poll() is not None:
                    raise RuntimeError("nginx does not start") from None
                time.sleep(0.01)  # nothing tells when it listens

    def stop(self):
        self.process.send_signal(signal.SIGTERM)
        self.process.wait()
