# One image for migrate, web, worker, beat and agent; docker-compose.yml says which.
# BASE: another Python of 3.11 or newer on Debian, as one with a company's authority and pip.conf.
ARG BASE=python:3.13-slim
FROM $BASE AS build
WORKDIR /app
COPY requirements.txt ./
RUN python -m venv /app/.venv && /app/.venv/bin/pip install --no-cache-dir --require-hashes -r requirements.txt
COPY agents/program agents/program
COPY agents/loadgen agents/loadgen
RUN /app/.venv/bin/pip install --no-cache-dir --no-deps --no-build-isolation agents/program

FROM $BASE
# A new volume takes owner and folders from here; jobs of an agent have to pass through /state.
RUN useradd --system --create-home --uid 10001 benchsite \
    && install -d -o benchsite -m 711 /state && install -d -o benchsite -m 700 /state/tmp
WORKDIR /app
COPY --from=build /app/.venv .venv
COPY manage.py ./
COPY benchsite benchsite
COPY runs runs
COPY agents agents
COPY templates templates
COPY static static
# Compiled here: the root file system is read-only.
RUN python -m compileall -q benchsite runs agents
ENV PATH=/app/.venv/bin:$PATH STATE=/state TMPDIR=/state/tmp PYTHONUNBUFFERED=1
# By its number: Kubernetes cannot tell of a name that it is not root.
USER 10001
VOLUME /state
EXPOSE 8000
CMD ["python", "manage.py", "web", "--listen", "0.0.0.0:8000"]
