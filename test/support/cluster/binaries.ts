import { join } from 'node:path';
import {
  certManager,
  type EmulatorBinary,
  type EtcdBinary,
  type EtcdVersion,
  emulators,
  etcdctlVersion,
  gitea,
  helm,
  type KubernetesBinary,
  type MonitoringBinary,
  monitoring,
  type OnlyBuilt,
  type Wanted,
} from './binaries/catalogue.ts';
import { ProvisionError } from './binaries/error.ts';
import { chosenKubernetes, type KubernetesVersion } from './binaries/kubernetes.ts';
import { type ProvideOptions, provide } from './binaries/provide.ts';
import { sourceOf } from './binaries/source.ts';
import { catalogueFor } from './binaries/whole-cluster.ts';
import { currentSandbox } from './sandbox.ts';

export { type EtcdVersion, etcdVersions } from './binaries/catalogue.ts';

/** Absolute paths of everything the local cluster runs. */
export interface Binaries {
  readonly kubernetes: Readonly<Record<KubernetesBinary, string>>;
  readonly etcd: Readonly<Record<EtcdVersion, string>>;
  readonly etcdutl: Readonly<Record<EtcdVersion, string>>;
  readonly etcdctl: string;
}

/** Carries the paths into the sandbox and into test processes, where there is no network to provision with. */
const variable = 'RATCHET_BINARIES';
const emulatorsVariable = 'RATCHET_EMULATORS';
const helmVariable = 'RATCHET_HELM_BINARY';
const monitoringVariable = 'RATCHET_MONITORING';
const giteaVariable = 'RATCHET_GITEA_BINARY';
const certManagerVariable = 'RATCHET_CERT_MANAGER_BINARY';

/** Absolute paths. */
export type Emulators = Readonly<Record<EmulatorBinary, string>>;
export type Monitoring = Readonly<Record<MonitoringBinary, string>>;

/**
 * Finds every binary, or downloads or builds what is missing. The first time may take minutes; later, milliseconds.
 *
 * @throws {ProvisionError} naming the binary and what to do, when no source has it; or what may be asked for instead.
 */
export async function provisionBinaries(options: ProvideOptions = {}): Promise<Binaries> {
  const handed = process.env[variable];
  if (handed !== undefined) return JSON.parse(handed) as Binaries;
  const chosen = chosenKubernetes(options.environment ?? process.env);
  const interruption = interruptible(options.signal);
  try {
    const paths = await provide(catalogueFor(chosen), { ...options, signal: interruption.signal });
    return arrange(paths, chosen.version);
  } finally {
    interruption.end();
  }
}

/**
 * Object stores for tests of backups, by the same ways.
 *
 * @throws {ProvisionError}
 */
export async function provisionEmulators(options: ProvideOptions = {}): Promise<Emulators> {
  const handed = process.env[emulatorsVariable];
  if (handed !== undefined) return JSON.parse(handed) as Emulators;
  const interruption = interruptible(options.signal);
  try {
    const paths = await provide(emulators, { ...options, signal: interruption.signal });
    const path = pathIn(paths);
    const [gcs, s3] = emulators;
    return { 'fake-gcs-server': path(gcs.name, gcs.version), versitygw: path(s3.name, s3.version) };
  } finally {
    interruption.end();
  }
}

/**
 * Helm, by the same ways.
 *
 * @throws {ProvisionError}
 */
export async function provisionHelm(options: ProvideOptions = {}): Promise<string> {
  const handed = process.env[helmVariable];
  if (handed !== undefined) return handed;
  const interruption = interruptible(options.signal);
  try {
    return pathIn(await provide([helm], { ...options, signal: interruption.signal }))(helm.name, helm.version);
  } finally {
    interruption.end();
  }
}

/**
 * What reads metrics, by the same ways.
 *
 * @throws {ProvisionError}
 */
export async function provisionMonitoring(options: ProvideOptions = {}): Promise<Monitoring> {
  const handed = process.env[monitoringVariable];
  if (handed !== undefined) return JSON.parse(handed) as Monitoring;
  const interruption = interruptible(options.signal);
  try {
    const paths = await provide(monitoring, { ...options, signal: interruption.signal });
    return Object.fromEntries(monitoring.map((one) => [one.name, pathIn(paths)(one.name, one.version)])) as Monitoring;
  } finally {
    interruption.end();
  }
}

export interface GiteaBinary {
  readonly path: string;
  /** Its templates and translations; a distribution's binary has them in itself. */
  readonly staticRoot?: string;
}

export interface CertManagerBinary {
  readonly path: string;
  /** The directory of the CustomResourceDefinitions that belong to it. */
  readonly crds: string;
}

/** Why there is none: a stand-in serves. */
export interface Missing {
  readonly missing: string;
}

/**
 * Gitea by the same ways, or why there is none: what needs a forge has a stand-in for it.
 *
 * @throws {ProvisionError} when it was interrupted
 */
export async function provisionGitea(options: ProvideOptions = {}): Promise<GiteaBinary | Missing> {
  const handed = process.env[giteaVariable];
  if (handed !== undefined) return JSON.parse(handed) as GiteaBinary | Missing;
  return await orMissing(options, gitea, async (path) => {
    const named = (options.environment ?? process.env)[gitea.variable];
    return named ? { path } : { path, staticRoot: await sourceOf(gitea.module, 'code.gitea.io/gitea') };
  });
}

/**
 * cert-manager's controllers by the same ways, or why there are none.
 *
 * @throws {ProvisionError} when it was interrupted
 */
export async function provisionCertManager(options: ProvideOptions = {}): Promise<CertManagerBinary | Missing> {
  const handed = process.env[certManagerVariable];
  if (handed !== undefined) return JSON.parse(handed) as CertManagerBinary | Missing;
  return await orMissing(options, certManager, async (path) => {
    const source = await sourceOf(certManager.module, 'github.com/cert-manager/cert-manager');
    return { path, crds: join(source, 'deploy/crds') };
  });
}

async function orMissing<T>(
  options: ProvideOptions,
  wanted: OnlyBuilt,
  furnish: (path: string) => Promise<T>,
): Promise<T | Missing> {
  // In there nothing can be built, and a stand-in would serve wherever somebody forgot to hand the real one in.
  if (currentSandbox()) throw new Error(`${wanted.name} is to be provided before the sandbox, and handed into it`);
  const interruption = interruptible(options.signal);
  try {
    const paths = await provide([wanted], { ...options, signal: interruption.signal });
    return await furnish(pathIn(paths)(wanted.name, wanted.version));
  } catch (error) {
    if (interruption.signal.aborted || !(error instanceof ProvisionError)) throw error;
    return { missing: inOneLine(error.message) };
  } finally {
    interruption.end();
  }
}

/** What was tried, and the compiler's last line. */
function inOneLine(message: string): string {
  const [what = '', ...said] = message.split('\n').filter((line) => line !== '');
  return [what, said.at(-2) ?? ''].join(' ').trim();
}

export function monitoringEnvironment(paths: Monitoring): Record<string, string> {
  return { [monitoringVariable]: JSON.stringify(paths) };
}

export function giteaEnvironment(found: GiteaBinary | Missing): Record<string, string> {
  return { [giteaVariable]: JSON.stringify(found) };
}

export function certManagerEnvironment(found: CertManagerBinary | Missing): Record<string, string> {
  return { [certManagerVariable]: JSON.stringify(found) };
}

export function helmEnvironment(path: string): Record<string, string> {
  return { [helmVariable]: path };
}

export function emulatorsEnvironment(paths: Emulators): Record<string, string> {
  return { [emulatorsVariable]: JSON.stringify(paths) };
}

/** Environment variables with which a child process finds the same binaries without looking. */
export function binariesEnvironment(binaries: Binaries): Record<string, string> {
  return { [variable]: JSON.stringify(binaries) };
}

/** A compiler must not outlive a Ctrl-C: while one may run, signals stop it, and then us with an error. */
export function interruptible(signal: AbortSignal | undefined): { signal: AbortSignal; end(): void } {
  const interrupted = new AbortController();
  const stop = () => interrupted.abort();
  for (const name of signals) process.on(name, stop);
  return {
    signal: signal ? AbortSignal.any([signal, interrupted.signal]) : interrupted.signal,
    end: () => {
      for (const name of signals) process.off(name, stop);
    },
  };
}

const signals = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;

function arrange(paths: ReadonlyMap<Wanted, string>, kubernetesVersion: KubernetesVersion): Binaries {
  const path = pathIn(paths);
  const inEveryVersion = (name: EtcdBinary) => ({
    '3.5.35': path(name, '3.5.35'),
    '3.6.16': path(name, '3.6.16'),
    '3.7.3': path(name, '3.7.3'),
  });
  return {
    kubernetes: {
      'kube-apiserver': path('kube-apiserver', kubernetesVersion),
      'kube-controller-manager': path('kube-controller-manager', kubernetesVersion),
      'kube-scheduler': path('kube-scheduler', kubernetesVersion),
      kubectl: path('kubectl', kubernetesVersion),
    },
    etcd: inEveryVersion('etcd'),
    etcdutl: inEveryVersion('etcdutl'),
    etcdctl: path('etcdctl', etcdctlVersion),
  };
}

export function pathIn(paths: ReadonlyMap<Wanted, string>) {
  return (name: Wanted['name'], version: string): string => {
    for (const [wanted, found] of paths) if (wanted.name === name && wanted.version === version) return found;
    throw new Error(`no path was provided for ${name} ${version}`);
  };
}
