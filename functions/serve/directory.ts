import { createHash, randomBytes } from 'node:crypto';
import { abortAfter } from '../../manifests/abort-after.ts';
import type { EtcdFleet, WebhookType } from '../../manifests/api/etcd-fleet.ts';
import { keyOf } from '../../reconcile/fleet/names.ts';
import { type Kube, KubeError, resources } from '../../reconcile/interfaces/kube.ts';
import type { Log } from '../log.ts';
import { type FleetSecret, isShared, shareCommand } from '../pass/secret.ts';
import { remembered } from './remembered.ts';

/** What a delivery to one fleet must prove, and to whom. */
export interface Hook {
  readonly fleet: EtcdFleet;
  readonly type: WebhookType;
  /** Empty: no delivery can be verified. */
  readonly secrets: readonly Uint8Array[];
}

export interface Directory {
  /**
   * `undefined`: there is no such fleet, or it takes no deliveries. Then the Secret of another fleet is read, so that
   * timing reveals nothing. @throws {KubeError} when that can't be found out
   */
  find(namespace: string, name: string): Promise<Hook | undefined>;
  /** @throws {KubeError} */
  look(): Promise<unknown>;
}

interface DirectoryContext {
  readonly kube: Kube;
  readonly namespace?: string | undefined;
  readonly log: Log;
  readonly clock?: () => number;
}

/** Milliseconds. A new fleet or Secret is known that much later; a flood of strangers costs one look in that time. */
const freshMs = 10_000;
const retryMs = 2_000;
const patienceMs = 5_000;
const mostSecrets = 2_000;

/**
 * The fleets that take deliveries, with their secrets; each kept for a moment. All fleets come from one LIST, so that
 * refusing an unknown name costs nothing; Secrets are read by name, one for each fleet that is really called.
 */
export function createDirectory({
  kube,
  namespace,
  log,
  clock = () => performance.now(),
}: DirectoryContext): Directory {
  const memory = { freshMs, retryMs, clock };
  const fleets = remembered<ReadonlyMap<string, EtcdFleet>>({ ...memory, most: 1 }, async () => {
    const { items } = await kube.bounded().list<EtcdFleet>(resources.fleets, {
      namespace,
      signal: abortAfter(patienceMs),
    });
    return new Map(items.filter(({ spec }) => spec.webhook).map((fleet) => [keyOf(fleet), fleet]));
  });
  const secrets = remembered<readonly Uint8Array[]>({ ...memory, most: mostSecrets }, async (key) => {
    const [where = '', name = ''] = key.split('/');
    const read = await readSecrets(kube, where, name);
    if (read.lack !== undefined) log({ secret: key, problem: read.lack }, 'no delivery for it can be verified');
    return read.secrets;
  });
  const salt = randomBytes(16);
  return {
    look: () => fleets.get(''),
    find: async (where, name) => {
      const known = await fleets.get('');
      const key = `${where}/${name}`;
      // The same name has the same one, as that of a fleet has.
      const other = [...known.values()][draw(salt, key, known.size)];
      const fleet = known.get(key);
      const { metadata, spec } = fleet ?? other ?? {};
      if (!spec?.webhook) return undefined;
      const found = await secrets.get(`${metadata?.namespace}/${spec.webhook.secretName}`);
      return fleet && { fleet, type: typeOf(fleet), secrets: found };
    },
  };
}

/** A number below `count`, which no caller can foresee. */
function draw(salt: Uint8Array, key: string, count: number): number {
  return createHash('sha256').update(salt).update(key).digest().readUInt32BE() % Math.max(count, 1);
}

/** Unless the spec names one: the forge that hosts the repository. */
function typeOf({ spec }: EtcdFleet): WebhookType {
  return spec.webhook?.type ?? spec.forge?.type ?? 'Generic';
}

async function readSecrets(
  kube: Kube,
  namespace: string,
  name: string,
): Promise<{ readonly secrets: readonly Uint8Array[]; readonly lack?: string }> {
  try {
    const signal = abortAfter(patienceMs);
    const secret = await kube.get<FleetSecret>(resources.secrets, namespace, name, { signal });
    if (!secret) return { secrets: [], lack: 'there is no such Secret: create it, or correct spec.webhook.secretName' };
    if (!isShared(secret)) {
      return { secrets: [], lack: `it is not for fleets; let them use it: ${shareCommand(namespace, name)}` };
    }
    const [current, previous] = ['secret', 'previousSecret'].map((key) => bytesOf(secret.data?.[key]));
    if (!current) return { secrets: [], lack: "its key secret is missing or empty: put the webhook's secret there" };
    return { secrets: [current, ...(previous ? [previous] : [])] };
  } catch (error) {
    if (!(error instanceof KubeError) || error.class !== 'terminal') throw error;
    // Not the caller's fault: answer 401 as for any other failure, and log why.
    return { secrets: [], lack: error.message };
  }
}

/** `echo secret | base64` leaves an unintended line feed. */
function bytesOf(encoded: string | undefined): Uint8Array | undefined {
  if (encoded === undefined) return undefined;
  const text = Buffer.from(encoded, 'base64')
    .toString('latin1')
    .replace(/\r?\n$/, '');
  return text === '' ? undefined : Buffer.from(text, 'latin1');
}
