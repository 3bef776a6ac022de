import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { get } from 'node:https';
import { join } from 'node:path';
import { urlOf } from '../../../manifests/render/hosts.ts';
import type { Binaries, LeastBinaries } from './binaries.ts';
import { type Daemon, startDaemon, untilReady } from './daemon.ts';
import { addressesOf, type Families } from './families.ts';
import { apiServerFlags, controllerManagerFlags, etcdFlags, schedulerFlags } from './flags.ts';
import { type Identities, kubeconfig, makeIdentities, tokenFile } from './identities.ts';
import type { Paths } from './paths.ts';

export interface ControlPlane extends AsyncDisposable {
  readonly url: string;
  /** PEM; what the API server's certificate is verified with. */
  readonly ca: string;
  /** Full rights. */
  readonly kubeconfigPath: string;
  readonly identities: Identities;
}

export interface ControlPlaneOptions {
  readonly families?: Families;
  /** Controllers and scheduler beside the API server, unless this is false: what they do comes at a time of its own. */
  readonly withControllers?: boolean;
}

/**
 * Starts etcd, the API server, the controllers and the scheduler; resolves when the API server is ready and the other
 * two are healthy. Everything they write is below `directory`.
 *
 * @throws with the last lines of the log of what failed. Whatever had been started is stopped then.
 */
export async function startControlPlane(
  binaries: LeastBinaries,
  directory: string,
  { families = ['IPv4'], withControllers = true }: ControlPlaneOptions = {},
): Promise<ControlPlane> {
  // The Service `kubernetes`. Nobody forwards it: the API server itself listens there.
  const url = urlOf('https', addressesOf[families[0]].apiServer, 443);
  const paths = await layout(directory);
  const identities = makeIdentities();
  await writeFile(paths.tokens, tokenFile(identities), { mode: 0o600 });

  const daemons: Daemon[] = [];
  const start: Start = (binary, name, flags) => {
    const daemon = startDaemon(binary, flags, join(paths.logs, `${name}.log`));
    daemons.push(daemon);
    return daemon;
  };
  // In the opposite order of their starting: what depends on the others goes first.
  const stop = async () => {
    for (const daemon of daemons.toReversed()) await daemon.stop();
  };

  try {
    // Both at once: the API server waits for its etcd by itself, and spends the time on its keys.
    start(binaries.etcd['3.6.16'], 'etcd', etcdFlags(paths));
    const apiServer = start(binaries.kubernetes['kube-apiserver'], 'kube-apiserver', apiServerFlags(paths, families));
    const ca = () => readFile(paths.certificate, 'utf8');
    await untilReady(apiServer, async (signal) => answersOk(`${url}/readyz`, await ca(), signal));

    const access = { url, ca: await ca() };
    for (const [name, identity] of Object.entries(identities)) {
      const text = kubeconfig({ ...access, token: identity.token });
      await writeFile(join(directory, `${name}.kubeconfig`), text, { mode: 0o600 });
    }
    if (withControllers) await startControllers(binaries.kubernetes, paths, start);

    const kubeconfigPath = join(directory, 'admin.kubeconfig');
    return { ...access, kubeconfigPath, identities, [Symbol.asyncDispose]: stop };
  } catch (error) {
    await stop();
    throw error;
  }
}

type Start = (binary: string, name: string, flags: readonly string[]) => Daemon;

async function startControllers(kubernetes: Binaries['kubernetes'], paths: Paths, start: Start): Promise<void> {
  const controllers = start(kubernetes['kube-controller-manager'], 'controllers', controllerManagerFlags(paths));
  const scheduler = start(kubernetes['kube-scheduler'], 'scheduler', schedulerFlags(paths));
  await untilReady(controllers, (signal) => answersOk('https://127.0.0.1:10257/healthz', undefined, signal));
  await untilReady(scheduler, (signal) => answersOk('https://127.0.0.1:10259/healthz', undefined, signal));
}

async function layout(directory: string): Promise<Paths> {
  const certificates = join(directory, 'certificates');
  const paths = {
    directory,
    logs: join(directory, 'logs'),
    etcdData: join(directory, 'etcd'),
    certificates,
    certificate: join(certificates, 'apiserver.crt'),
    certificateKey: join(certificates, 'apiserver.key'),
    tokens: join(directory, 'tokens.csv'),
  };
  for (const each of [paths.logs, paths.etcdData, paths.certificates])
    await mkdir(each, { recursive: true, mode: 0o700 });
  return paths;
}

/** @param ca `undefined`: a component's own throw-away certificate, on loopback, whose health is all that is asked. */
function answersOk(address: string, ca: string | undefined, signal: AbortSignal): Promise<boolean> {
  return new Promise((resolve, reject) => {
    const trust = ca === undefined ? { rejectUnauthorized: false } : { ca };
    get(address, { ...trust, signal, agent: false }, (response) => {
      response.resume();
      resolve(response.statusCode === 200);
    }).on('error', reject);
  });
}
