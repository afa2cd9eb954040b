# The workflow with its environment. This file was never built.
#
#   docker build -t localizer .
#   docker run --rm -v "$PWD/results:/localizer/results" localizer           # the whole paper
#   docker run --rm -v "$PWD/results:/localizer/results" localizer make smoke
FROM python:3.11-slim-bookworm

# make runs the set-up; git tells the provenance which commit it is
RUN apt-get update \
    && apt-get install -y --no-install-recommends git make \
    && rm -rf /var/lib/apt/lists/*

WORKDIR /localizer
COPY Makefile ./
COPY envs ./envs
RUN make setup PYTHON=python3.11

COPY . .
RUN git config --system --add safe.directory /localizer
CMD ["make"]
