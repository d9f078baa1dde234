"""A PostgreSQL server of a test's own: a folder, a socket in it, an ordinary user (initdb refuses root)."""
import glob
import os
import shutil
import subprocess
import sys
import tempfile


def program(name):
    """Of the newest version that is installed; None: there is none."""
    found = sorted(glob.glob(f"/usr/lib/postgresql/*/bin/{name}"), key=lambda path: int(path.split("/")[4]))
    return found[-1] if found else shutil.which(name)


class Server:
    """With role `owner`, who needs no password; all others do."""

    def __init__(self):
        if not program("initdb") or os.getuid() == 0 and not shutil.which("setpriv"):
            print("skipped: PostgreSQL's initdb is not installed")
            sys.exit(77)
        self.folder = tempfile.mkdtemp(prefix="foretell-postgres-")
        self.user = ["setpriv", "--reuid=nobody", "--regid=nogroup", "--clear-groups"] if os.getuid() == 0 else []
        if self.user:
            shutil.chown(self.folder, "nobody", "nogroup")
        self.data = f"{self.folder}/data"
        self.run(program("initdb"), "-D", self.data, "-A", "trust", "-U", "owner", "--no-sync", "-E", "UTF8",
                 "--locale=C")
        with open(f"{self.data}/pg_hba.conf", "w", encoding="ascii") as hba:
            hba.write("local all owner trust\nlocal all all scram-sha-256\n")
        with open(f"{self.data}/postgresql.conf", "a", encoding="ascii") as conf:
            conf.write(f"unix_socket_directories='{self.folder}'\nlisten_addresses=''\nfsync=off\n"
                       "shared_buffers=64MB\nmax_connections=40\n")
        self.start()

    def run(self, *command):
        done = subprocess.run([*self.user, *command], cwd=self.folder, stdout=subprocess.DEVNULL,
                              stderr=subprocess.PIPE, text=True)
        if done.returncode:
            raise RuntimeError(f"{command}: {done.stderr}")

    def start(self):
        self.run(program("pg_ctl"), "-D", self.data, "-w", "-t", "300", "-l", f"{self.folder}/log", "start")

    def stop(self, mode="immediate"):
        """At once, as if it were killed."""
        self.run(program("pg_ctl"), "-D", self.data, "-w", "-t", "300", "-m", mode, "stop")

    def url(self, database="postgres", user="owner", password=None):
        secret = f"{user}:{password}" if password else user
        return f"postgresql://{secret}@/{database}?host={self.folder}"

    def cpu_s(self):
        """What its processes that have ended took of processors."""
        with open(f"{self.data}/postmaster.pid", encoding="ascii") as file:
            pid = file.readline().strip()
        with open(f"/proc/{pid}/stat", encoding="ascii") as file:
            return sum(map(int, file.read().rsplit(")", 1)[1].split()[13:15])) / os.sysconf("SC_CLK_TCK")

    def sql(self, text, database="postgres"):
        """What psql prints of it, columns apart by |."""
        done = subprocess.run([program("psql"), "-X", "-q", "-A", "-t", "-v", "ON_ERROR_STOP=1", self.url(database)],
                              input=text, capture_output=True, text=True)
        if done.returncode:
            raise RuntimeError(done.stderr)
        return done.stdout.strip()

    def close(self):
        subprocess.run([*self.user, program("pg_ctl"), "-D", self.data, "-w", "-m", "immediate", "stop"],
                       cwd=self.folder, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=False)
        shutil.rmtree(self.folder, ignore_errors=True)
