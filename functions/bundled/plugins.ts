import { createRequire } from 'node:module';
import { join } from 'node:path';
import type { Plugin } from 'esbuild';
import { servicesIn } from './etcd-protocol.ts';

const here = import.meta.dirname;
const proto = join(createRequire(import.meta.url).resolve('etcd3'), '../../proto/rpc.proto');

/** etcd's protocol as etcd3 brings it, parsed now. See proto-loader.ts; gRPC itself asks for another one only. */
const etcdProtocol: Plugin = {
  name: 'etcd-protocol',
  setup(build) {
    build.onResolve({ filter: /^@grpc\/proto-loader$/ }, ({ importer }) => ({
      path: join(here, importer.includes('/node_modules/etcd3/') ? 'proto-loader.ts' : 'left-out.ts'),
    }));
    // By a name that is the same on every machine: it stands in the bill of materials.
    build.onResolve({ filter: /^etcd-protocol$/ }, ({ path }) => ({ path, namespace: 'etcd-protocol' }));
    build.onLoad({ filter: /./, namespace: 'etcd-protocol' }, () => ({
      contents: JSON.stringify(servicesIn(proto)),
      loader: 'json',
    }));
  },
};

/** See left-out.ts. */
const leftOut: Plugin = {
  name: 'left-out',
  setup(build) {
    build.onResolve({ filter: /^(undici|\.\/gen\/index\.js)$/ }, ({ importer }) =>
      importer.endsWith('@kubernetes/client-node/dist/config.js') ? { path: join(here, 'left-out.ts') } : undefined,
    );
  },
};

export const plugins = [etcdProtocol, leftOut];
