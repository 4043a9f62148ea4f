"""A real control plane in processes of its own: etcd, kube-apiserver with RBAC, controller manager, scheduler.

It may be of either release that is built; the newer one has groups of pods, which is off by default.
"""

import json
import os
import secrets
import ssl
import subprocess
import urllib.error
import urllib.request
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import Any, Self

from simulator.api.server import AuditRecord
from tests.controlplane import binaries
from tests.controlplane.wire import AGENT, Wire
from tests.ports import free_port
from tests.waiting import PATIENCE_S, logged, wait_for

_LOG_TAIL = 2_000

_CONTROLLERS = "*,-node-lifecycle-controller,-node-ipam-controller,-root-ca-certificate-publisher-controller"
"""Nodes that tests make by hand stay schedulable: nobody waits for their heartbeats, nor taints them for it.
Namespaces begin empty.
"""
_GATES = "--feature-gates=GenericWorkload=true,InPlacePodVerticalScalingSchedulerPreemption=true"
_OF_RELEASE: Mapping[str, Mapping[str, Sequence[str]]] = {
    binaries.RELEASE: {"kube-controller-manager": ("--controllers=-node-route-controller,-service-lb-controller",)},
    binaries.GROUPS_RELEASE: {
        "kube-apiserver": (_GATES, "--runtime-config=scheduling.k8s.io/v1beta1=true"),
        "kube-controller-manager": (_GATES,),
        "kube-scheduler": (_GATES,),
    },
}
"""What a release's programs are run with besides."""
_UNHURRIED = ("--kube-api-qps=500", "--kube-api-burst=1000")
"""What they do for hundreds of pods at once must not wait for their own limits."""
_USERS = {
    "admin": "system:masters",
    "system:kube-scheduler": "",
    "system:kube-controller-manager": "",
}


class ControlPlane:
    """Up within some 15 s between ``start`` and ``stop``; everything lives in ``folder``."""

    def __init__(self, folder: Path, release: str = binaries.RELEASE) -> None:
        self.folder, self.release = folder, release
        self.port, self.scheduler_port = free_port(), free_port()
        self._etcd_address = f"http://127.0.0.1:{free_port()}"
        self._audit_log = folder / "audit.log"
        self.tokens = {user: secrets.token_urlsafe(24) for user in _USERS}
        self._processes: dict[str, subprocess.Popen[bytes]] = {}
        self._logged = ExitStack()

    @property
    def address(self) -> str:
        """Of the API server."""
        return f"https://127.0.0.1:{self.port}"

    def __enter__(self) -> Self:
        self.start()
        return self

    def __exit__(self, *_error: object) -> None:
        self.stop()

    def start(self) -> None:
        """Start all of it and wait until pods can be made and are scheduled."""
        self._logged.enter_context(logged(f"control plane {self.port}", self.last_words))
        self._write_keys()
        self._run("etcd", self._etcd(self._etcd_address))
        self._run("kube-apiserver", self._apiserver(self._etcd_address))
        self._wait(self._ready, "the API server")
        for program, options in (
            ("kube-controller-manager", self._controllers()),
            ("kube-scheduler", self._scheduler()),
        ):
            user = f"system:{program}"
            config = self.kubeconfig(user)
            common = [f"--kubeconfig={config}", "--leader-elect=false", *_UNHURRIED]
            self._run(program, [*common, *options])
        self._wait(lambda: self.get("/api/v1/namespaces/default/serviceaccounts/default"), "the controllers")

    def stop(self) -> None:
        """End all of it, the last started first."""
        self._logged.close()
        for process in reversed(self._processes.values()):
            process.terminate()
            try:
                process.wait(15)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()
        self._processes.clear()

    def kubeconfig(self, user: str = "admin", token: str = "") -> Path:
        """A kubeconfig of one of the users, or of whoever has the token."""
        path = self.folder / f"{user.replace(':', '-')}.kubeconfig"
        ca = str(self.folder / "ca.crt")
        document = {
            "apiVersion": "v1",
            "kind": "Config",
            "current-context": "real",
            "clusters": [{"name": "real", "cluster": {"server": self.address, "certificate-authority": ca}}],
            "users": [{"name": user, "user": {"token": token or self.tokens[user]}}],
            "contexts": [{"name": "real", "context": {"cluster": "real", "user": user}}],
        }
        path.write_text(json.dumps(document))
        return path

    def wire(self, user: str = "admin") -> Wire:
        """A connection of one of the users'."""
        return Wire(self.address, self.tokens[user], self.folder / "ca.crt")

    def compact(self) -> None:
        """Let etcd forget all versions but the newest, as it does every few minutes."""
        newest = self.get("/api/v1/namespaces")["metadata"]["resourceVersion"]
        body = json.dumps({"revision": newest, "physical": True}).encode()
        with urllib.request.urlopen(f"{self._etcd_address}/v3/kv/compaction", body, timeout=PATIENCE_S):
            pass

    def audited(self) -> int:
        """How long the audit log is by now."""
        return self._audit_log.stat().st_size

    def audit(self, since: int) -> list[AuditRecord]:
        """What the API server was asked by admins from an offset of its log on, in the simulator's words."""
        return [_record(event) for event in self.events(since) if event["user"].get("username") == "admin"]

    def events(self, since: int) -> list[dict[str, Any]]:
        """What the API server was asked by anybody from an offset of its log on, each request once."""
        mark = secrets.token_hex(8)
        self.request("GET", f"/version?mark={mark}")
        wait_for(lambda: mark in self._audited_since(since), "the audit log follows")
        text = self._audited_since(since)
        events = {event["auditID"]: event for event in map(json.loads, text[: text.rindex("\n")].splitlines())}
        return list(events.values())

    def _audited_since(self, offset: int) -> str:
        with self._audit_log.open("rb") as log:
            log.seek(offset)
            return log.read().decode()

    def get(self, path: str) -> Any:
        """What the API server says to an admin; None where it does not answer, or has nothing there."""
        return self.request("GET", path)

    def request(
        self, method: str, path: str, body: Mapping[str, Any] | None = None, media: str = "application/json"
    ) -> Any:
        """One request of an admin's; None for any failure."""
        headers = {"Authorization": f"Bearer {self.tokens['admin']}", "Content-Type": media, "User-Agent": AGENT}
        data = None if body is None else json.dumps(body).encode()
        request = urllib.request.Request(f"{self.address}{path}", data=data, headers=headers, method=method)
        context = ssl.create_default_context(cafile=str(self.folder / "ca.crt"))
        try:
            with urllib.request.urlopen(request, timeout=PATIENCE_S, context=context) as answer:
                text = answer.read()
        except (urllib.error.URLError, OSError):
            return None
        return json.loads(text) if text.startswith(b"{") else text

    # What is run

    def _etcd(self, client: str) -> list[str]:
        peer = f"http://127.0.0.1:{free_port()}"
        return [
            *(f"--data-dir={self.folder / 'etcd'}", "--unsafe-no-fsync", "--log-level=warn"),
            *(f"--listen-client-urls={client}", f"--advertise-client-urls={client}"),
            *(
                f"--listen-peer-urls={peer}",
                f"--initial-advertise-peer-urls={peer}",
                f"--initial-cluster=default={peer}",
            ),
        ]

    def _apiserver(self, etcd: str) -> list[str]:
        at = self.folder
        return [
            *(f"--etcd-servers={etcd}", "--bind-address=127.0.0.1", f"--secure-port={self.port}"),
            *("--authorization-mode=Node,RBAC", f"--token-auth-file={at / 'tokens.csv'}"),
            *(f"--tls-cert-file={at / 'server.crt'}", f"--tls-private-key-file={at / 'server.key'}"),
            *(f"--client-ca-file={at / 'ca.crt'}", "--service-account-issuer=https://kubernetes.default.svc"),
            *(
                f"--service-account-key-file={at / 'accounts.key'}",
                f"--service-account-signing-key-file={at / 'accounts.key'}",
            ),
            *("--service-cluster-ip-range=10.96.0.0/24", "--endpoint-reconciler-type=none"),
            "--enable-aggregator-routing",  # services without a kube-proxy
            "--disable-admission-plugins=TaintNodesByCondition",
            *(f"--audit-policy-file={at / 'audit.json'}", f"--audit-log-path={self._audit_log}"),
        ]

    def _controllers(self) -> list[str]:
        return [
            *(f"--controllers={_CONTROLLERS}", "--use-service-account-credentials", "--secure-port=0"),
            "--pvclaimbinder-sync-period=1s",
            *(
                f"--service-account-private-key-file={self.folder / 'accounts.key'}",
                f"--root-ca-file={self.folder / 'ca.crt'}",
            ),
        ]

    def _scheduler(self) -> list[str]:
        """With its metrics for whoever asks, at an address that the API server proxies to."""
        return [
            *("--bind-address=0.0.0.0", f"--secure-port={self.scheduler_port}", f"--cert-dir={self.folder}"),
            *("--authorization-always-allow-paths=/healthz,/readyz,/livez,/metrics", "--authentication-skip-lookup"),
            *(f"--authentication-kubeconfig={self.kubeconfig('system:kube-scheduler')}",),
            *(f"--authorization-kubeconfig={self.kubeconfig('system:kube-scheduler')}",),
        ]

    def _run(self, program: str, options: Sequence[str]) -> None:
        with (self.folder / f"{program}.log").open("wb") as log:
            gates = _OF_RELEASE[self.release].get(program, ())
            command = [str(binaries.folder(self.release) / program), *options, *gates]
            self._processes[program] = subprocess.Popen(command, stdout=log, stderr=subprocess.STDOUT, env=os.environ)

    def _write_keys(self) -> None:
        """An authority of our own, the server's certificate, the key of service accounts, a token for each user."""
        self.folder.mkdir(parents=True, exist_ok=True)
        names = "subjectAltName=IP:127.0.0.1,DNS:localhost,DNS:kubernetes.default.svc"
        for command in (
            "req -x509 -newkey rsa:2048 -nodes -days 2 -subj /CN=test-ca -keyout ca.key -out ca.crt",
            "req -newkey rsa:2048 -nodes -subj /CN=kube-apiserver -keyout server.key -out server.csr",
            "x509 -req -in server.csr -CA ca.crt -CAkey ca.key -CAcreateserial -days 2 -out server.crt -extfile names",
            "genrsa -out accounts.key 2048",
        ):
            (self.folder / "names").write_text(names)
            subprocess.run(["openssl", *command.split()], cwd=self.folder, check=True, capture_output=True)
        lines = [f'{self.tokens[user]},{user},{user},"{groups}"' for user, groups in _USERS.items()]
        (self.folder / "tokens.csv").write_text("\n".join(lines))
        audit = {
            "apiVersion": "audit.k8s.io/v1",
            "kind": "Policy",
            "rules": [{"level": "Metadata"}],
            "omitStages": ["RequestReceived"],
        }
        (self.folder / "audit.json").write_text(json.dumps(audit))

    def _ready(self) -> bool:
        return self.get("/readyz") == b"ok"

    def _wait(self, ready: Callable[[], Any], what: str) -> None:
        def answer() -> Any:
            ended = [program for program, process in self._processes.items() if process.poll() is not None]
            assert not ended, f"{' and '.join(ended)} ended"
            return ready()

        wait_for(answer, what)

    def last_words(self) -> str:
        """The end of what each of its programs has written."""
        return "\n".join(
            f"--- {program}\n{(self.folder / f'{program}.log').read_text(errors='replace')[-_LOG_TAIL:]}"
            for program in self._processes
        )


def _record(event: Mapping[str, Any]) -> AuditRecord:
    about = event.get("objectRef", {})
    group, resource = about.get("apiGroup"), about.get("resource", "")
    return AuditRecord(
        event["verb"],
        f"{resource}.{group}" if group else resource,
        about.get("subresource", ""),
        about.get("namespace", ""),
        about.get("name", ""),
        event.get("responseStatus", {}).get("code", 0),
        event.get("userAgent", ""),
        dry_run="dryRun=All" in event["requestURI"],
    )
