# The one image: every entry point, bundled. Build with: docker build -t ghcr.io/etcd-ratchet/etcd-ratchet:v0.1.0 .
# Bases by digest: what is built tomorrow is what was tested today. Of the second one, the release workflow checks who signed it.
FROM node:24.18.0-bookworm-slim@sha256:6f7b03f7c2c8e2e784dcf9295400527b9b1270fd37b7e9a7285cf83b6951452d AS build
WORKDIR /src
COPY package.json package-lock.json ./
# No package's own script runs: what is bundled is JavaScript, and none of it has to be built.
RUN npm ci --no-audit --no-fund --ignore-scripts
COPY tsconfig.json ./
COPY manifests manifests
COPY gitops gitops
COPY reconcile reconcile
COPY functions functions
# With the bill of its materials and the notices of their licences.
RUN node functions/build.ts --materials --outdir /app

# Node and what it is linked with: no shell, no package manager, nothing else that runs.
FROM gcr.io/distroless/nodejs24-debian12:nonroot@sha256:14d42e2511532589a7c7e01a753667a74fcc96266e137e8125006b87b0c32d0a AS run
ENV PATH=/nodejs/bin NODE_ENV=production NODE_COMPILE_CACHE=/app/.compile-cache
USER 65532:65532
WORKDIR /tmp

# Compiled once, here, for this very Node, these very paths and this very user: Node looks for what it has compiled under the user's number.
FROM run AS compiled
COPY --from=build --chown=65532:65532 /app /app
RUN ["node", "--input-type=module", "-e", "import { globSync } from 'node:fs'; for (const chunk of globSync('/app/chunks/*.js')) await import(chunk)"]
RUN ["node", "/app/tick.js", "--help"]
# With nothing enabled it says so and exits with 2.
RUN ["node", "-e", "process.exit(require('child_process').spawnSync('node', ['/app/serve.js']).status === 2 ? 0 : 1)"]

FROM run
# Of root: what runs can't change it.
COPY --from=compiled --chown=0:0 /app /app
COPY LICENSE /app/
ENTRYPOINT ["node", "/app/tick.js"]
