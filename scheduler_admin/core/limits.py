"""How long texts may be, each limit once: for the forms of pages, the serializers of the REST API, and the models."""

REASON = 500
"""Characters of a reason that only the audit log keeps."""
SHOWN_REASON = 300
"""Characters of a reason that pages show in a row of a table: of a pause, a window, a write to a cluster."""
REVISION_REASON = 1000
"""Characters of a reason that is kept with a revision."""
AUDIT_REASON = 1000
"""Characters that the audit log takes: the longest of the reasons above."""

CLUSTER_NAME = 63
CONTEXT = 253
"""Characters of a context's name in a kubeconfig."""
ADDRESS = 500
"""Characters of an API server's address, and of a kubeconfig's path."""
TOKEN = 20_000
CERTIFICATES = 100_000
"""Characters of PEM certificates."""
TIME_ZONE = 64

QUEUE_PATH = 500
QUEUE_NAME = 64
NAMESPACE = 63
OBJECT_NAME = 253
"""Characters of the name of any other Kubernetes object."""
APPLICATION = 300
"""Characters of an application, or of a controller: ``Job/train``."""
USER_NAME = 150
PASSWORD = 1000
TOKEN_NAME = 100
AUDIT_VERB = 50
AUDIT_TARGET = 255
DRAFT_NAME = 100
SNAPSHOT_NAME = 100
COPY_VERSION = 150
"""Characters of a version of a cluster's own copy of the tree."""
COMPARED_TREE = 50
"""Characters of what names a tree, or a policy, to compare."""
TYPED_TIME = 40
"""Characters of a time that somebody types."""
FILTER_NAME = 60
FILTER_ADDRESS = 2000
"""Characters of a saved filter's query string."""

CHANNEL_NAME = 100
CHANNEL_ADDRESS = CALLED_ADDRESS = 2000
"""Characters of an address that this site calls."""
SIGNING_SECRET = 200
MINUTES_BELOW = 1440
"""Minutes below its guarantee after which a channel tells of a queue, at most: a day."""
ISSUER = 500
"""Characters of an issuer of ID tokens, and of the audience of one."""
CLAIMS = 20
CLAIM_NAME = 100
CLAIM_PATTERN = 500
SUBJECT = 500
"""Characters of the subject of an ID token, as it is kept."""
TENANT_NAME = 100
SUPPORT_CONTACT = 500
LINKS = 10
"""Links in a list of the site settings."""
LINK_LABEL = 60
LINK_URL = 2000
NAMES = 20_000
"""Characters of a list of names that somebody types."""
GROUP = 300
"""Characters of a group's name at an OpenID provider or in Kubernetes."""
