# The one image: every entry point, bundled. Build with: docker build -t ghcr.io/etcd-ratchet/etcd-ratchet:v0.1.0 .
FROM node:24-slim AS build
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
# Compiled once, here, for this very Node and these very paths, also what is imported lazily.
RUN NODE_COMPILE_CACHE=/app/.compile-cache node --input-type=module -e \
  "import { globSync } from 'node:fs'; for (const chunk of globSync('/app/chunks/*.js')) await import(chunk)" \
  && NODE_COMPILE_CACHE=/app/.compile-cache node /app/tick.js --help > /dev/null \
  # With nothing enabled it says so and exits with 2.
  && (NODE_COMPILE_CACHE=/app/.compile-cache node /app/serve.js || test $? = 2)

FROM node:24-slim
# npm and yarn are of no use to whoever might get in.
RUN rm -rf /usr/local/lib/node_modules /usr/local/bin/npm /usr/local/bin/npx /usr/local/bin/corepack /opt/yarn*
COPY --from=build /app /app
COPY LICENSE /app/
ENV NODE_ENV=production NODE_COMPILE_CACHE=/app/.compile-cache
USER 65532:65532
WORKDIR /tmp
ENTRYPOINT ["node", "/app/tick.js"]
