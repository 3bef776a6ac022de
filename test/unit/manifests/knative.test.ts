import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { globSync, readFileSync } from 'node:fs';
import { mkdtemp, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { promisify } from 'node:util';
import { Broker, Trigger } from '@kubernetes-models/knative/eventing.knative.dev/v1';
import { Service } from '@kubernetes-models/knative/serving.knative.dev/v1';
import { ApiServerSource, PingSource, SinkBinding } from '@kubernetes-models/knative/sources.knative.dev/v1';
import { parseAllDocuments } from 'yaml';
import { triggerLabel } from '../../../functions/serve/hand-over.ts';

/**
 * What manifests/knative says, held against models that others generate from Knative's own sources: their validators
 * for what is required and of which type, and the TypeScript compiler for what does not exist.
 */

const checkout = join(import.meta.dirname, '../../..');
const models = { Broker, Trigger, Service, ApiServerSource, PingSource, SinkBinding };
const modules: Readonly<Record<string, string>> = {
  'eventing.knative.dev/v1': 'Broker, Trigger',
  'serving.knative.dev/v1': 'Service',
  'sources.knative.dev/v1': 'ApiServerSource, PingSource, SinkBinding',
};

/** Knative's own to write; its types do not say that it may be missing. */
function statusOf(kind: string): object {
  return kind === 'SinkBinding' ? { status: {} } : {};
}

interface Manifest {
  readonly file: string;
  readonly apiVersion: string;
  readonly kind: string;
  readonly metadata: { readonly name: string; readonly namespace?: string };
  /** A Broker needs none. */
  readonly spec: Readonly<Record<string, unknown>>;
}

const manifests = globSync('manifests/knative/*/*.yaml', { cwd: checkout }).flatMap((file) =>
  parseAllDocuments(readFileSync(join(checkout, file), 'utf8')).map(
    (document) => ({ file, ...document.toJS() }) as Manifest,
  ),
);
const ours = manifests.filter(({ apiVersion }) => apiVersion in modules);

test('each kind that is needed is there', () => {
  const kinds = ours.map(({ kind }) => kind).toSorted();
  assert.deepEqual(kinds, [
    'ApiServerSource',
    'Broker',
    'PingSource',
    'Service',
    'Service',
    'SinkBinding',
    'SinkBinding',
    'Trigger',
  ]);
});

for (const { file, ...manifest } of ours) {
  test(`${file}: ${manifest.kind} ${manifest.metadata.name} is valid to Knative`, () => {
    const Model = models[manifest.kind as keyof typeof models];
    new Model({ ...statusOf(manifest.kind), ...manifest } as never).validate();
  });
}

test('the validators would tell', () => {
  const source = ours.find(({ kind }) => kind === 'PingSource');
  assert.throws(() => new PingSource({ ...source, spec: { schedule: 7 } } as never).validate());
});

test('no field is there that Knative does not have', { timeout: 120_000 }, async () => {
  assert.equal(await compilerSays(ours), '');
  const typo = ours.map((manifest) =>
    manifest.kind === 'Trigger' ? { ...manifest, spec: { ...manifest.spec, deliverry: { retry: 1 } } } : manifest,
  );
  assert.match(await compilerSays(typo), /deliverry/, 'and the compiler would tell');
});

/** As literals of Knative's types: those may have no property that the type has not. */
async function compilerSays(all: readonly Manifest[]): Promise<string> {
  const directory = await mkdtemp(join(tmpdir(), 'ratchet-knative-'));
  try {
    await symlink(join(checkout, 'node_modules'), join(directory, 'node_modules'));
    const imports = Object.entries(modules).map(
      ([module, names]) => `import { ${names} } from '@kubernetes-models/knative/${module}';`,
    );
    const literals = all.map(
      ({ file: _, apiVersion: _version, kind, ...rest }) =>
        `new ${kind}(${JSON.stringify({ ...statusOf(kind), ...rest })});`,
    );
    await writeFile(join(directory, 'manifests.ts'), [...imports, ...literals].join('\n'));
    await writeFile(join(directory, 'package.json'), '{ "type": "module" }');
    const options = ['--noEmit', '--strict', '--skipLibCheck', '--module', 'nodenext', '--target', 'esnext'];
    const tsc = join(checkout, 'node_modules/.bin/tsc');
    await promisify(execFile)(tsc, [...options, '--types', '', 'manifests.ts'], { cwd: directory });
    return '';
  } catch (error) {
    return String((error as { readonly stdout?: string }).stdout ?? error);
  } finally {
    await rm(directory, { recursive: true });
  }
}

interface KnativeService {
  readonly metadata: { readonly labels: Readonly<Record<string, string>> };
  readonly spec: {
    readonly template: {
      readonly spec: {
        readonly timeoutSeconds: number;
        readonly serviceAccountName: string;
        readonly containers: readonly { readonly env: readonly { readonly name: string; readonly value?: string }[] }[];
      };
    };
  };
}

function service(name: string): KnativeService {
  const found = ours.find(({ kind, metadata }) => kind === 'Service' && metadata.name === name);
  assert.ok(found);
  return found as unknown as KnativeService;
}

test('what acts as etcd-ratchet is not public, and what is public may almost nothing', () => {
  const events = service('etcd-ratchet-events');
  assert.equal(events.metadata.labels['networking.knative.dev/visibility'], 'cluster-local');
  assert.equal(events.spec.template.spec.serviceAccountName, 'etcd-ratchet');
  assert.equal(service('etcd-ratchet-webhooks').spec.template.spec.serviceAccountName, 'etcd-ratchet-webhooks');
});

test('a Service enables only its own routes, without fields that Knative refuses', () => {
  for (const [name, variable] of [
    ['etcd-ratchet-events', 'RATCHET_EVENTS'],
    ['etcd-ratchet-webhooks', 'RATCHET_WEBHOOKS'],
  ] as const) {
    const { env = [] } = service(name).spec.template.spec.containers[0] ?? {};
    assert.deepEqual(
      env.filter(({ value }) => value === 'Enabled').map(({ name: enabled }) => enabled),
      [variable],
    );
    assert.ok(
      env.every((one) => !('valueFrom' in one)),
      'fieldRef is behind a feature flag',
    );
  }
});

test('a request may take as long as the longest pass, and the Trigger waits for it', () => {
  assert.ok(service('etcd-ratchet-events').spec.template.spec.timeoutSeconds > 55);
  const trigger = ours.find(({ kind }) => kind === 'Trigger');
  assert.equal(
    (trigger?.spec.delivery as { readonly timeout?: string } | undefined)?.timeout,
    `PT${service('etcd-ratchet-events').spec.template.spec.timeoutSeconds}S`,
  );
});

test('all that is named is there: brokers, services, accounts', () => {
  const names = (kind: string) => manifests.filter((one) => one.kind === kind).map(({ metadata }) => metadata.name);
  for (const { kind, spec } of ours.filter((one) => one.spec)) {
    const target = (spec.sink ?? spec.subscriber) as { ref: { kind: string; name: string } } | undefined;
    if (target) assert.ok(names(target.ref.kind).includes(target.ref.name), `${kind}: ${target.ref.name}`);
    if (kind === 'ApiServerSource') assert.ok(names('ServiceAccount').includes(String(spec.serviceAccountName)));
  }
});

test('no sink is written into the Jobs of webhooks, whose policy admits no other container', () => {
  const binding = ours.find(({ metadata }) => metadata.name === 'etcd-ratchet-jobs');
  const subject = binding?.spec.subject as { readonly selector: object } | undefined;
  assert.deepEqual(subject?.selector, {
    matchLabels: { 'app.kubernetes.io/name': 'etcd-ratchet' },
    matchExpressions: [{ key: triggerLabel, operator: 'DoesNotExist' }],
  });
});
