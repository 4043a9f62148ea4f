"""Writes the kubeconfig that points a client to the server."""

import json


def kubeconfig(address: str, token: str | None = None) -> str:
    """Return a kubeconfig for a server at an address such as http://127.0.0.1:8001; JSON, which is valid YAML."""
    user = {"token": token} if token else {}
    name = "simulator"
    document = {
        "apiVersion": "v1",
        "kind": "Config",
        "clusters": [{"name": name, "cluster": {"server": address}}],
        "users": [{"name": name, "user": user}],
        "contexts": [{"name": name, "context": {"cluster": name, "user": name}}],
        "current-context": name,
    }
    return json.dumps(document, indent=2) + "\n"
