# One image for web, worker, beat, migrate and agent; docker-compose.yml says which.
FROM python:3.13-slim AS build
WORKDIR /app
COPY requirements.txt ./
RUN python -m venv /app/.venv && /app/.venv/bin/pip install --no-cache-dir --require-hashes -r requirements.txt
COPY agents/program agents/program
COPY agents/loadgen agents/loadgen
RUN /app/.venv/bin/pip install --no-cache-dir --no-deps --no-build-isolation agents/program

FROM python:3.13-slim
RUN useradd --system --create-home --uid 10001 benchsite && install -d -o benchsite -m 711 /state
WORKDIR /app
COPY --from=build /app/.venv .venv
COPY manage.py ./
COPY benchsite benchsite
COPY runs runs
COPY agents agents
COPY templates templates
COPY static static
ENV PATH=/app/.venv/bin:$PATH STATE=/state PYTHONUNBUFFERED=1
USER benchsite
VOLUME /state
EXPOSE 8000
CMD ["python", "-m", "gunicorn", "-c", "python:benchsite.gunicorn_conf", "--worker-tmp-dir", "/dev/shm", "--bind", "0.0.0.0:8000"]
