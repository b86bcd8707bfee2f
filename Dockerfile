# The project with its locked environment. It needs a network, and nothing from elsewhere but this base image, git and
# make from Debian, and the packages of uv.lock.
#   docker build -t fairbandits .
#   docker run --rm -v "$PWD/results:/fairbandits/results" fairbandits              # everything
#   docker run --rm -v "$PWD/results:/fairbandits/results" fairbandits replicate --smoke
# Debian 12 has the mathematical library that the content hashes in results.lock were made with.
FROM docker.io/library/python:3.13-slim-bookworm

RUN apt-get update \
    && apt-get install -y --no-install-recommends git make \
    && rm -rf /var/lib/apt/lists/*

WORKDIR /fairbandits
COPY . .
RUN make setup

ENV PATH=/fairbandits/.venv/bin:$PATH
ENTRYPOINT ["fairbandits"]
CMD ["replicate"]
