# The project with its locked environment. It needs a network, and nothing from elsewhere but this base image, git and
# make from Debian, and the packages of uv.lock. It runs as a user without rights, who writes the results as you.
#   docker build -t fairbandits .
#   mkdir -p results
#   docker run --rm --user "$(id -u)" -v "$PWD/results:/fairbandits/results" fairbandits              # everything
#   docker run --rm --user "$(id -u)" -v "$PWD/results:/fairbandits/results" fairbandits replicate --smoke
# Debian 12 has the mathematical library that the content hashes in results.lock were made with.
FROM docker.io/library/python:3.13-slim-bookworm@sha256:01f42367a0a94ad4bc17111776fd66e3500c1d87c15bbd6055b7371d39c124fb

RUN apt-get update \
    && apt-get install -y --no-install-recommends git make \
    && rm -rf /var/lib/apt/lists/* \
    && git config --system --add safe.directory /fairbandits

WORKDIR /fairbandits
COPY --chown=1000:0 . .
# any user of a container is in group 0, whose members may write here
RUN chown 1000:0 . && chmod -R g=u .
USER 1000:0
RUN umask 002 && make setup

ENV PATH=/fairbandits/.venv/bin:$PATH
ENTRYPOINT ["fairbandits"]
CMD ["replicate"]
