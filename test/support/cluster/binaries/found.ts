import { execFile } from 'node:child_process';
import { delimiter, join } from 'node:path';
import { isExecutable } from './cache.ts';
import { type Released, title, type Wanted } from './catalogue.ts';
import { ProvisionError } from './error.ts';
import { oldestKubernetesMinor } from './kubernetes.ts';

export interface Found {
  readonly path: string;
  /** As the binary reports it, without a leading `v`. */
  readonly version: string;
}

/**
 * Looks for binaries that somebody already has: named by their variable, on PATH, in KUBEBUILDER_ASSETS.
 *
 * What a variable names must be right, or it is an error: somebody meant it. What merely lies on PATH is passed over.
 *
 * @throws {ProvisionError} when a variable names something that is not that binary in that version.
 */
export async function findInstalled(
  wanted: readonly Wanted[],
  environment: NodeJS.ProcessEnv,
): Promise<ReadonlyMap<Wanted, string>> {
  const found = new Map<Wanted, Found>();
  for (const one of wanted) {
    if (one.onlyBuilt) {
      const path = environment[one.variable];
      // None says which version it is: whoever names one knows.
      if (path) found.set(one, { path, version: one.version });
      continue;
    }
    const candidate = (await named(one, environment)) ?? (await lyingAround(one, environment));
    if (candidate) found.set(one, candidate);
  }
  return new Map(
    [...found].filter(([one, { version }]) => fits(one, version, found)).map(([one, { path }]) => [one, path]),
  );
}

async function named(wanted: Released, environment: NodeJS.ProcessEnv): Promise<Found | undefined> {
  const path = environment[wanted.variable];
  if (!path) return undefined;

  const version = await reportedVersion(wanted, path);
  if (version !== undefined && acceptable(wanted, version)) return { path, version };
  throw new ProvisionError(
    `${wanted.variable} names ${path}, which ${version ? `is version ${version}` : 'does not report a version'}`,
    `point it at ${title(wanted)}, or unset it`,
  );
}

async function lyingAround(wanted: Released, environment: NodeJS.ProcessEnv): Promise<Found | undefined> {
  const directories = [...(environment.PATH ?? '').split(delimiter), environment.KUBEBUILDER_ASSETS ?? ''];
  for (const directory of directories.filter((one) => one.startsWith('/'))) {
    for (const name of [wanted.name, `${wanted.name}-${wanted.version}`]) {
      const path = join(directory, name);
      if (!(await isExecutable(path))) continue;
      const version = await reportedVersion(wanted, path);
      if (version !== undefined && acceptable(wanted, version)) return { path, version };
    }
  }
  return undefined;
}

/** An etcd test is about one exact version; any API server that we support will do, unless one minor is asked for. */
export function acceptable(wanted: Wanted, version: string): boolean {
  if (wanted.onlyBuilt || wanted.module.startsWith('etcd')) return version === wanted.version;
  if (wanted.onlyThisMinor) return minorNumber(version) === minorNumber(wanted.version);
  return minorNumber(version) >= oldestKubernetesMinor;
}

/**
 * Controllers must not be newer than their API server (the version skew policy), and what is not found will be ours. So
 * an older control plane is used only as a whole.
 */
function fits(wanted: Wanted, version: string, found: ReadonlyMap<Wanted, Found>): boolean {
  if (!wanted.name.startsWith('kube-') || minorNumber(version) === minorNumber(wanted.version)) return true;
  const minors = [...found].filter(([{ name }]) => name.startsWith('kube-')).map(([, one]) => minorNumber(one.version));
  return minors.length === 3 && minors.every((minor) => minor === minorNumber(version));
}

function minorNumber(version: string): number {
  const [major, minor] = version.split('.');
  return major === '1' ? Number(minor) : Number.NaN;
}

async function reportedVersion(wanted: Released, path: string): Promise<string | undefined> {
  const args = versionArguments[wanted.name];
  const output = await new Promise<string>((resolve) => {
    // A stranger's binary may hang or be for another machine: then it simply is not ours.
    execFile(path, args, { timeout: 5_000, maxBuffer: 64 * 1024 }, (error, stdout) => resolve(error ? '' : stdout));
  });
  return /(?:version:?|Kubernetes)\s+v?(\d+\.\d+\.\d+)/i.exec(output)?.[1];
}

const versionArguments = {
  'kube-apiserver': ['--version'],
  'kube-controller-manager': ['--version'],
  'kube-scheduler': ['--version'],
  kubectl: ['version', '--client'],
  kubelet: ['--version'],
  'kube-proxy': ['--version'],
  etcd: ['--version'],
  etcdutl: ['version'],
  etcdctl: ['version'],
} as const satisfies Record<Released['name'], readonly string[]>;
