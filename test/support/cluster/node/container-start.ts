import { randomBytes } from 'node:crypto';
import { existsSync, readFileSync } from 'node:fs';
import { mkdir, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { nextBackOff } from './backoff.ts';
import { startContainer } from './container.ts';
import type { ContainerRecord } from './container-record.ts';
import type { NodeContext } from './context.ts';
import { containerResource, type PodPlace, podField } from './downward.ts';
import { ConfigError, type EnvSources, expand, resolveEnv } from './env.ts';
import { type Image, lookUpImage } from './images.ts';
import { logPath } from './logs.ts';
import { memoryLimitOf } from './memory-limit.ts';
import { serviceEnv } from './service-env.ts';
import { decoded } from './volume-payload.ts';
import type { PodVolumes } from './volumes.ts';
import type { ConfigMap, Pod, Secret } from './wire.ts';

/** A container that did not come to run: what its status says until the next attempt. */
export class NotStarted extends Error {
  override readonly name = 'NotStarted';
  readonly reason: string;
  readonly retryInMs: number;
  constructor(reason: string, message: string, retryInMs: number) {
    super(message);
    this.reason = reason;
    this.retryInMs = retryInMs;
  }
}

export type StartContext = {
  readonly node: NodeContext;
  readonly pod: Pod;
  readonly place: PodPlace;
  readonly podDir: string;
  readonly sandboxPid: number;
  readonly volumes: PodVolumes;
};

const defaultPath = '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin';

/** Everything from the image to the running process, in kubelet's order. @throws NotStarted, or a StartError. */
export async function launch(context: StartContext, record: ContainerRecord): Promise<void> {
  const { node, pod } = context;
  const { image, id } = pullImage(context, record);
  record.imageID = id;
  refuseRoot(pod, record, image);
  record.env = await environment(context, record, image);
  const { spec } = record;
  const command = commandOf(record, image);

  const root = join(context.podDir, 'root', spec.name);
  await mkdir(root, { recursive: true });
  const logFile = logPath(node.dir, pod, spec.name, record.starts);
  await mkdir(join(logFile, '..'), { recursive: true });
  const message = terminationFile(context, record);
  await rm(message, { force: true });
  await writeFile(message, '');
  const etc = (name: string) => ({ source: join(context.podDir, name), target: `/etc/${name}`, readOnly: false });
  record.process = await startContainer({
    image,
    root,
    workingDir: spec.workingDir || image.workingDir,
    readOnly: spec.securityContext?.readOnlyRootFilesystem ?? false,
    memoryLimit: memoryLimitOf(record),
    command,
    env: record.env,
    logFile,
    sandboxPid: context.sandboxPid,
    binds: [
      etc('hosts'),
      etc('resolv.conf'),
      etc('hostname'),
      { source: message, target: spec.terminationMessagePath ?? '/dev/termination-log', readOnly: false },
      ...(await context.volumes.binds(spec, record.env)),
    ],
  });
  record.starts++;
  record.containerID = `containerd://${randomBytes(32).toString('hex')}`;
}

/** A command replaces all that the image would run; args alone are given to its entrypoint. */
function commandOf({ spec: { command = [], args = [] }, env }: ContainerRecord, { entrypoint, cmd }: Image): string[] {
  const own = [...command, ...args].map((word) => expand(word, env));
  if (command.length > 0) return own;
  return [...entrypoint, ...(args.length > 0 ? own : cmd)];
}

function pullImage({ node, pod }: StartContext, record: ContainerRecord): { image: Image; id: string } {
  const name = record.spec.image ?? '';
  const policy = record.spec.imagePullPolicy ?? 'IfNotPresent';
  const found = lookUpImage(node.images, name);
  const present = node.pulled.has(name);
  if (found.found && present && policy !== 'Always') return found;
  if (policy === 'Never') {
    throw new NotStarted(
      'ErrImageNeverPull',
      `Container image "${name}" is not present with pull policy of Never`,
      5000,
    );
  }
  if (node.pulls.paused) throw new NotStarted('ContainerCreating', '', 60_000);
  if (found.found && !present) awaitPull(node, name);
  const event = (type: 'Normal' | 'Warning', reason: string, message: string) =>
    node.events(pod, type, reason, message, record.spec.name);
  if (found.found) {
    event('Normal', 'Pulled', `Successfully pulled image "${name}"`);
    node.pulled.add(name);
    record.pull = undefined;
    return found;
  }
  if (found.reason === 'InvalidImageName') throw new NotStarted('InvalidImageName', found.message, 5000);
  record.pull = nextBackOff(record.pull, node.timing.pull, Date.now());
  event('Warning', 'Failed', `Failed to pull image "${name}": ${found.message}`);
  throw new NotStarted('ErrImagePull', found.message, record.pull.delayMs);
}

/**
 * One after the other is all that a container waits for its image; others that want the same wait for the same pull.
 */
function awaitPull({ pulling, timing }: NodeContext, name: string): void {
  if (timing.pullMs === 0) return;
  const readyAt = pulling.get(name) ?? Date.now() + timing.pullMs;
  pulling.set(name, readyAt);
  const left = readyAt - Date.now();
  if (left > 0) throw new NotStarted('ContainerCreating', '', left);
}

/** After a failed pull and until the next, the status says so in kubelet's words. */
export function pullBackOffMessage(image: string, message = ''): string {
  return `Back-off pulling image "${image}": ErrImagePull: ${message}`;
}

/** Images have users: etcd's run as root, ours does not. Every process here has our own user, whatever is asked for. */
function refuseRoot(pod: Pod, { spec }: ContainerRecord, image: Image): void {
  const setting = { ...definedOnly(pod.spec.securityContext), ...definedOnly(spec.securityContext) };
  if (!setting.runAsNonRoot) return;
  const root = setting.runAsUser === undefined ? image.runsAsRoot : setting.runAsUser === 0;
  if (!root) return;
  const message = `container has runAsNonRoot and image will run as root (pod: "${pod.metadata.name}_${pod.metadata.namespace}(${pod.metadata.uid})", container: ${spec.name})`;
  throw new NotStarted('CreateContainerConfigError', message, 5000);
}

function definedOnly(context: { runAsNonRoot?: boolean; runAsUser?: number } = {}) {
  const { runAsNonRoot, runAsUser } = context;
  return { ...(runAsNonRoot !== undefined && { runAsNonRoot }), ...(runAsUser !== undefined && { runAsUser }) };
}

async function environment(
  { node, pod, place }: StartContext,
  { spec }: ContainerRecord,
  image: Image,
): Promise<Map<string, string>> {
  const { namespace, name } = pod.metadata;
  const base = serviceEnv(node.services.list(), namespace, pod.spec.enableServiceLinks ?? true);
  base
    .set('PATH', defaultPath)
    .set('HOSTNAME', pod.spec.hostname ?? name)
    .set('HOME', '/');
  for (const [variable, value] of Object.entries(image.env)) base.set(variable, value);
  const read = async <T extends ConfigMap | Secret>(
    resource: 'configmaps' | 'secrets',
    object: string,
    optional: boolean,
  ): Promise<T | undefined> => {
    const found = await node.objects.get<T>(pod, resource, object);
    if (!found && !optional) throw new ConfigError(`${resource.slice(0, -1)} "${object}" not found`);
    return found;
  };
  const sources: EnvSources = {
    configMap: async (object, optional) => {
      const data = (await read<ConfigMap>('configmaps', object, optional))?.data;
      return data && new Map(Object.entries(data));
    },
    secret: async (object, optional) => {
      const secret = await read<Secret>('secrets', object, optional);
      return secret && new Map(decoded(secret.data).map(([key, value]) => [key, value.toString('utf8')]));
    },
    field: (path) => podField(pod, place, path),
    resource: (resource, container = spec.name, divisor) =>
      containerResource(pod, node.allocatable, { resource, container, divisor }),
  };
  try {
    return await resolveEnv(base, spec, sources);
  } catch (error) {
    const message = error instanceof Error ? error.message : String(error);
    throw new NotStarted('CreateContainerConfigError', message, 1000);
  }
}

export function terminationFile({ podDir }: { podDir: string }, { spec }: ContainerRecord): string {
  return join(podDir, `termination-log-${spec.name}`);
}

/**
 * The container's last words: what it wrote for that purpose, or, if it failed and asked for it, the end of its log.
 */
export function lastWords(context: StartContext, record: ContainerRecord, exitCode: number): string | undefined {
  const written = tail(terminationFile(context, record), 4096);
  if (written !== '') return written;
  if (exitCode === 0 || record.spec.terminationMessagePolicy !== 'FallbackToLogsOnError') return undefined;
  const log = tail(logPath(context.node.dir, context.pod, record.spec.name, record.starts - 1), 2048);
  return log.split('\n').slice(-80).join('\n') || undefined;
}

/** Empty when there is no such file: a container may do as it likes with its own. */
function tail(path: string, bytes: number): string {
  return existsSync(path) ? readFileSync(path).subarray(-bytes).toString('utf8') : '';
}
