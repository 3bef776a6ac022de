import { open } from 'node:fs/promises';
import { stringify } from 'yaml';
import { printable } from '../../manifests/printable.ts';
import { version } from '../../manifests/release.ts';
import { KubeError, type KubeObject, type Resource, resources } from '../../reconcile/interfaces/kube.ts';
import { type Asked, type ExitCode, Refusal } from './command.ts';
import { say } from './objects.ts';

interface BundleOptions {
  /** The file that is made; it must not exist yet. */
  readonly file?: string;
}

/** The resources collected from a namespace. Secrets are never collected. */
const collected: readonly Resource[] = [
  resources.clusters,
  resources.peers,
  resources.backups,
  resources.schedules,
  resources.restores,
  resources.fleets,
  resources.statefulSets,
  resources.pods,
  resources.volumeClaims,
  resources.services,
  resources.disruptionBudgets,
  resources.networkPolicies,
  resources.jobs,
  resources.events,
];

/** Of one pod's log, from its end. */
const logLines = 500;
const logBytes = 256 * 1024;
const mostLogs = 50;
const logMilliseconds = 15_000;

export type ReadLog = (pod: string, asked: Asked) => Promise<string>;

/**
 * Writes objects, events and logs of a namespace into one YAML stream, and what could not be read. Literal values of
 * environment variables are left out, as are Secrets. @throws {Refusal} when the file exists, or can't be written.
 */
export async function supportBundle(asked: Asked, { file }: BundleOptions, readLog: ReadLog): Promise<ExitCode> {
  const { namespace, now, err } = asked;
  const path = file ?? `etcd-ratchet-${namespace}-${now().toISOString().slice(0, 19).replaceAll(':', '')}.yaml`;
  await using target = await open(path, 'wx', 0o600).catch((error: NodeJS.ErrnoException) => {
    throw new Refusal(`${path} can't be made (${error.code}): name another file by --file`);
  });
  const missing: string[] = [];
  const add = async (document: object) => {
    await target.write(`---\n${stringify(document)}`);
  };
  await add({ kind: 'SupportBundle', version, namespace, at: now().toISOString() });
  for (const resource of collected) {
    err(`${resource.plural} …\n`);
    const items = await listed(resource, asked, missing);
    for (const object of items) await add(withoutSecrets({ ...resourceOf(resource), ...object }));
    if (resource === resources.pods) for (const log of await logsOf(items, asked, readLog, missing)) await add(log);
  }
  await add({ kind: 'Missing', missing });
  const lacks = missing.length === 0 ? '' : `; it lacks: ${missing.join('; ')}`;
  say(asked, printable(`${path} is written${lacks}. Read it before you send it`), { file: path, missing });
  return 0;
}

function resourceOf({ apiVersion, kind }: Resource) {
  return { apiVersion, kind };
}

async function listed(resource: Resource, asked: Asked, missing: string[]): Promise<readonly KubeObject[]> {
  try {
    return (await asked.kube.list<KubeObject>(resource, { namespace: asked.namespace, signal: asked.stop })).items;
  } catch (error) {
    if (!(error instanceof KubeError) || error.class !== 'terminal') throw error;
    missing.push(`${resource.plural} (${error.reason})`);
    return [];
  }
}

async function logsOf(pods: readonly KubeObject[], asked: Asked, readLog: ReadLog, missing: string[]) {
  const logs: object[] = [];
  if (pods.length > mostLogs) missing.push(`the logs of ${pods.length - mostLogs} pods`);
  for (const { metadata } of pods.slice(0, mostLogs)) {
    try {
      logs.push({ kind: 'Log', pod: metadata.name, text: await readLog(metadata.name, asked) });
    } catch (error) {
      missing.push(
        `the log of pod ${metadata.name} (${error instanceof Error ? error.message.split('\n', 1)[0] : error})`,
      );
    }
  }
  return logs;
}

/** As the person's own kubectl reads it. */
export const kubectlLog: ReadLog = async (pod, { namespace, stop, kubectl }) => {
  const what = ['logs', pod, '--all-containers', '--prefix', `--tail=${logLines}`, `--limit-bytes=${logBytes}`];
  const bounds = { milliseconds: logMilliseconds, mostBytes: 32 * logBytes, signal: stop };
  return kubectl.text([...what, '-n', namespace], bounds);
};

/** Written by kubectl: the whole object once more, with what is left out here. */
const copies = ['kubectl.kubernetes.io/last-applied-configuration'];

/** Removes the API server's own notes, and literal values of environment variables: people put passwords there. */
export function withoutSecrets<T extends KubeObject>(object: T): T {
  const { managedFields: _, annotations, ...metadata } = object.metadata as T['metadata'] & { managedFields?: unknown };
  const kept = Object.entries(annotations ?? {}).filter(([name]) => !copies.includes(name));
  const rest = blanked({ ...object, metadata: {} }) as T;
  return { ...rest, metadata: { ...metadata, ...(annotations && { annotations: Object.fromEntries(kept) }) } };
}

function blanked(value: unknown, key = ''): unknown {
  if (Array.isArray(value)) return value.map((item) => blanked(key === 'env' ? withoutValue(item) : item));
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([name, inner]) => [name, blanked(inner, name)]));
}

function withoutValue(variable: unknown): unknown {
  if (typeof variable !== 'object' || variable === null || !('value' in variable)) return variable;
  return { ...variable, value: '(left out)' };
}
