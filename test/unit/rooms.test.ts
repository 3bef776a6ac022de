import assert from 'node:assert/strict';
import { globSync, readFileSync } from 'node:fs';
import { dirname, join, normalize } from 'node:path';
import { test } from 'node:test';

const checkout = join(import.meta.dirname, '../..');

/** What each room may import of ours, besides itself. */
const mayImport: Readonly<Record<string, readonly string[]>> = {
  manifests: [],
  gitops: ['manifests'],
  reconcile: ['manifests'],
  functions: ['manifests', 'gitops', 'reconcile'],
};

/**
 * What each room of a cluster's step may import of the others. Rules name actions by their words, which the table of
 * actions has: no rule carries one out.
 */
const mayKnow: Readonly<Record<string, readonly string[]>> = {
  know: [],
  observe: ['know'],
  act: ['know', 'observe'],
  decide: ['know', 'act'],
  report: ['know', 'observe', 'act', 'decide'],
  foresee: ['know', 'observe', 'act', 'decide', 'report'],
};

/** Packages that only their own client file speaks to. */
const clientOf: Readonly<Record<string, RegExp>> = {
  '@kubernetes/client-node': /^reconcile\/clients\/kube[^/]*\.ts$/,
  etcd3: /^reconcile\/clients\/etcd[^/]*\.ts$/,
  '@grpc/grpc-js': /^reconcile\/clients\/etcd[^/]*\.ts$/,
  'isomorphic-git': /^gitops\//,
  '@azure/storage-blob': /^reconcile\/backup\/stores\/azure\/azure\.ts$/,
  '@aws-sdk/client-s3': /^reconcile\/backup\/stores\/s3\/s3\.ts$/,
  croner: /^reconcile\/time\/due\.ts$/,
  'age-encryption': /^reconcile\/backup\/agent\/age\.ts$/,
  '@google-cloud/storage': /^reconcile\/backup\/stores\/gcs\/gcs\.ts$/,
  '@peculiar/asn1-x509': /^reconcile\/clients\/x509\.ts$/,
};

const pure = [
  'reconcile/cluster/{know,decide,foresee}/**/*.ts',
  'reconcile/reasons/*.ts',
  'reconcile/requests/*.ts',
  'reconcile/backup/{decide,decision,orders,job-state,reasons,report,said,situation}.ts',
  'reconcile/time/*.ts',
  'reconcile/jobs/{disk-log,failure,job-end,pod-start}.ts',
  'reconcile/nodes/{act,begun,change-node,cluster-seen,decide,decision,drain,etcd,evict,foresee,looks,marks,may-begin,outside,pods,reasons,report,sim-host,simulate,way}.ts',
  'reconcile/nodes/agent/order.ts',
  'manifests/render/**/*.ts',
  'functions/page/{home,fleet,cluster,check,layout,parts,members,plan,attention,short,state,time}.ts',
];

for (const [room, allowed] of Object.entries(mayImport)) {
  test(`${room} imports nothing of ours but ${allowed.join(', ') || 'itself'}`, () => {
    const files = globSync(`${room}/**/*.ts`, { cwd: checkout });
    assert.ok(files.length > 0, `no file in ${room}`);
    for (const file of files) {
      for (const target of importsOf(file).filter((name) => name.startsWith('.'))) {
        const other = normalize(join(dirname(file), target)).split('/')[0] ?? '';
        assert.ok(other === room || allowed.includes(other), `${file} imports ${target}`);
      }
    }
  });
}

for (const [room, allowed] of Object.entries(mayKnow)) {
  test(`reconcile/cluster/${room} imports no other room but ${allowed.join(', ') || 'itself'}`, () => {
    const files = globSync(`reconcile/cluster/${room}/**/*.ts`, { cwd: checkout });
    assert.ok(files.length > 0, `no file in ${room}`);
    for (const file of files) {
      for (const target of importsOf(file).flatMap((name) => within(file, name) ?? [])) {
        const [, other] = /^reconcile\/cluster\/([^/]+)\//.exec(target) ?? [];
        assert.ok(!other || other === room || allowed.includes(other), `${file} imports ${target}`);
      }
    }
  });
}

test('signals of several, or of a time, are made where no garbage collector takes them', () => {
  const files = globSync(`{${Object.keys(mayImport).join(',')}}/**/*.ts`, { cwd: checkout });
  const found = files.filter((file) => /AbortSignal\.(any|timeout)\(/.test(readFileSync(join(checkout, file), 'utf8')));
  assert.deepEqual(found, ['manifests/abort-after.ts']);
});

for (const room of ['requests', 'interfaces', 'jobs', 'objects', 'time', 'x509', 'reasons']) {
  test(`reconcile/${room} lies below the kinds, and imports none of them`, () => {
    const files = globSync(`reconcile/${room}/**/*.ts`, { cwd: checkout });
    assert.ok(files.length > 0, `no file in ${room}`);
    for (const file of files)
      for (const target of importsOf(file).flatMap((name) => within(file, name) ?? []))
        assert.doesNotMatch(
          target,
          /^reconcile\/(cluster|backup|schedule|restore|nodes|fleet)\//,
          `${file} imports ${target}`,
        );
  });
}

for (const [name, owner] of Object.entries(clientOf)) {
  test(`${name} is imported only where it belongs`, () => {
    const files = globSync('{functions,gitops,reconcile,manifests}/**/*.ts', { cwd: checkout });
    const importers = files.filter((file) =>
      importsOf(file).some((target) => target === name || target.startsWith(`${name}/`)),
    );
    assert.ok(importers.length > 0, `nobody imports ${name}`);
    for (const file of importers) assert.match(file, owner);
  });
}

test('decide, its rules, the builders and the pages read no clock, no environment and no network', () => {
  for (const file of globSync(pure, { cwd: checkout })) {
    const source = readFileSync(join(checkout, file), 'utf8');
    assert.doesNotMatch(
      source,
      /Date\.now\(|new Date\(\)|process\.env|fetch\(|Math\.random|node:(fs|net|http|https)/,
      file,
    );
  }
});

test('every comment fits 120 columns', () => {
  const files = globSync('{functions,gitops,reconcile,manifests,test,docs}/**/*.ts', {
    cwd: checkout,
    exclude: ['**/node_modules'],
  });
  const long = files.flatMap((file) => {
    const lines = readFileSync(join(checkout, file), 'utf8').split('\n');
    return lines.flatMap((line, index) =>
      line.length > 120 && /^\s*(\/\*\*|\*|\/\/)/.test(line) ? [`${file}:${index + 1}`] : [],
    );
  });
  assert.deepEqual(long, []);
});

test('no file imports itself by way of others, types included', () => {
  const files = globSync('{functions,gitops,reconcile,manifests,test}/**/*.ts', { cwd: checkout });
  const graph = new Map(files.map((file) => [file, importsOf(file).flatMap((target) => within(file, target) ?? [])]));
  assert.deepEqual(
    circlesIn(graph).map((circle) => circle.toSorted()),
    [],
  );
});

test('a circle is found, however long it is', () => {
  const graph = new Map([
    ['a', ['b', 'x']],
    ['b', ['c']],
    ['c', ['a']],
    ['x', []],
  ]);
  assert.deepEqual(
    circlesIn(graph).map((circle) => circle.toSorted()),
    [['a', 'b', 'c']],
  );
});

function within(file: string, target: string): string | undefined {
  return target.startsWith('.') ? normalize(join(dirname(file), target)) : undefined;
}

/** Tarjan's strongly connected components, those of more than one file. */
function circlesIn(graph: ReadonlyMap<string, readonly string[]>): readonly (readonly string[])[] {
  const index = new Map<string, number>();
  const low = new Map<string, number>();
  const path: string[] = [];
  const open = new Set<string>();
  const circles: string[][] = [];

  function visit(file: string): number {
    const own = index.size;
    index.set(file, own);
    path.push(file);
    open.add(file);
    let lowest = own;
    for (const next of graph.get(file) ?? []) {
      if (!index.has(next)) lowest = Math.min(lowest, visit(next));
      else if (open.has(next)) lowest = Math.min(lowest, low.get(next) ?? index.get(next) ?? own);
      low.set(file, lowest);
    }
    if (lowest === own) {
      const circle = path.splice(path.indexOf(file));
      for (const one of circle) open.delete(one);
      if (circle.length > 1) circles.push(circle);
    }
    return lowest;
  }

  for (const file of graph.keys()) if (!index.has(file)) visit(file);
  return circles;
}

function importsOf(file: string): readonly string[] {
  const source = readFileSync(join(checkout, file), 'utf8');
  return [...source.matchAll(/(?:from|import)\s*\(?\s*'([^']+)'/g)].map(([, target]) => target ?? '');
}
