import type { EtcdCluster } from '../../../../manifests/api/etcd-cluster.ts';
import { existingOf } from '../../../../manifests/api/existing-cluster.ts';
import type { TlsMode } from '../../../../manifests/api/tls-settings.ts';
import type { Secret } from '../../../../manifests/kube-types.ts';
import type { NameAllowance } from '../../../../manifests/render/certificate-allowance.ts';
import {
  type Authority,
  authoritySecretName,
  type LeafPlan,
  memberLeaves,
} from '../../../../manifests/render/certificate-names.ts';
import { peerName, podHost, ports } from '../../../../manifests/render/names.ts';
import { type Kube, resources } from '../../../interfaces/kube.ts';
import { isFatal } from '../../../x509/defect.ts';
import { isDue, saysWhatIsPlanned } from '../../know/certificates/due.ts';
import { callsForAll, certManagerCallsForAll, itsTurn } from '../../know/certificates/occasion.ts';
import type { Requested } from '../../know/certificates/requested.ts';
import { isRevoked } from '../../know/certificates/revoked.ts';
import { refusedNames, sourceNameOf, tlsModeOf, wantedLeaves } from '../../know/certificates/wanted.ts';
import type {
  AuthorityView,
  Certificates,
  CertManagerView,
  IssuedView,
  LeafView,
  ReadCertificates,
  Slot,
} from '../../know/observation.ts';
import { credentialsIn, type EtcdAccess } from './credentials.ts';
import { askedIn, issuedView, withUnlabelled } from './issued.ts';
import { providedView } from './provided.ts';
import { withSigning } from './signing.ts';
import { authorityView, leafView } from './views.ts';

/** What one port of one member presents right now, by its fingerprint; `undefined` when it does not answer. */
export type AskWire = (
  target: { readonly host: string; readonly port: number; readonly serverName: string; readonly ca: string },
  signal: AbortSignal,
) => Promise<string | undefined>;

export interface CertificateReading {
  readonly certificates: Certificates;
  readonly access: EtcdAccess;
  /** All of them after all: something came up that did not call for it before. @throws {KubeError} */
  readonly whole: () => Promise<Certificates>;
}

interface Question {
  readonly kube: Kube;
  readonly wire: AskWire;
  readonly cluster: EtcdCluster;
  readonly slots: readonly Slot[];
  readonly requested: Requested;
  readonly at: Date;
  readonly nameAllowances?: readonly NameAllowance[];
  readonly signal: AbortSignal;
}

/**
 * Looks at a cluster's certificates, as far as there is an occasion to. No private key but our own leaves this file,
 * and that only as the credentials for etcd.
 *
 * @throws {KubeError}
 */
export async function readCertificates(asked: Question): Promise<CertificateReading> {
  const mode = tlsModeOf(asked.cluster, asked.slots);
  if (mode === 'Disabled') return withoutAny;

  const question = await withKeptNames(asked, mode);
  const { cluster, slots, requested, at, nameAllowances: allowances } = question;
  const kept = requested.kind === 'known' ? { asked: askedIn(question, requested) } : {};
  const plans = wantedLeaves(cluster, slots, mode, { allowances, ...kept });
  const [own] = plans;
  const whole = callsForAll(cluster, slots, at) || certManagerCallsForAll({ cluster, slots }, plans, requested);
  const read = secretsOf(question);
  const all = () => readAll(question, mode, plans, read);
  if (!own) return { certificates: await all(), access: noSecretNamed, whole: all };
  const turn = whole ? undefined : itsTurn([...plans, ...(mode === 'Managed' ? bothAuthorities : [])], at);
  const source = typeof turn === 'object' ? sourceNameOf(cluster, mode, turn) : undefined;
  const [mine, sampled, issued] = await Promise.all([
    read(own.secretName),
    turn && read(secretNameOf(cluster, turn)),
    source === undefined ? undefined : read(source),
  ]);
  const access = await accessBy({ mine, own, cluster, slots, mode, read });
  // Judging a certificate costs a millisecond, too much for a hundred clusters. Our own is tested by the members that
  // are asked with it.
  const sound = !whole && access.kind === 'tls' && turnIsSound(question, mode, turn, sampled);
  const handedOver = source === undefined || issued?.data?.['tls.crt'] === sampled?.data?.['tls.crt'];
  return { certificates: sound && handedOver ? { kind: 'unread' } : await all(), access, whole: all };
}

interface Own {
  readonly mine: Secret | undefined;
  readonly own: LeafPlan;
  readonly cluster: EtcdCluster;
  readonly slots: readonly Slot[];
  readonly mode: TlsMode;
  readonly read: Read;
}

/**
 * Members that are taken over are asked before there is any member whose start would make our Secret: with what a
 * person provides for it.
 */
async function accessBy({ mine, own, cluster, slots, mode, read }: Own): Promise<EtcdAccess> {
  const isAsked = !mine && mode === 'Provided' && existingOf(cluster) !== undefined;
  const provided = isAsked ? sourceNameOf(cluster, mode, own) : undefined;
  return provided === undefined
    ? credentialsIn(mine, own.secretName, cluster, slots)
    : credentialsIn(await read(provided), provided, cluster, slots);
}

/** A name that is refused costs a read only where the Certificate that may have it is not listed. */
async function withKeptNames(question: Question, mode: TlsMode): Promise<Question> {
  const { cluster, requested, nameAllowances = [] } = question;
  if (requested.kind !== 'known' || refusedNames(cluster, mode, nameAllowances).length === 0) return question;
  return { ...question, requested: await withUnlabelled(question, requested) };
}

const withoutAny: CertificateReading = {
  certificates: { kind: 'none' },
  access: { kind: 'plaintext' },
  whole: async () => ({ kind: 'none' }),
};

function turnIsSound(
  question: Question,
  mode: TlsMode,
  turn: LeafPlan | Authority | undefined,
  secret: Secret | undefined,
): boolean {
  if (turn === undefined) return true;
  if (typeof turn === 'string') return authorityView(question, turn, secret).facts !== undefined;
  const view = leafView(question, turn, secret);
  // An older certificate may have been put there.
  const isGood = isSound(view, mode) && !isRevoked(view, question);
  return isGood && view.facts !== undefined && !isDue(view.facts, question.at);
}

/** A CA counts as well: one that was deleted is noticed while members still present what it signed. */
const bothAuthorities = ['peer', 'client'] as const satisfies readonly Authority[];

function secretNameOf({ metadata }: EtcdCluster, turn: LeafPlan | Authority): string {
  return typeof turn === 'string' ? authoritySecretName(metadata.name, turn) : turn.secretName;
}

function isSound(leaf: LeafView, mode: TlsMode): boolean {
  return !leaf.defects.some(isFatal) && (mode !== 'Managed' || saysWhatIsPlanned(leaf));
}

const noSecretNamed: EtcdAccess = {
  kind: 'none',
  cause: 'spec.tls names no Secret for etcd-ratchet to speak to etcd with',
};

type Read = (name: string) => Promise<Secret | undefined>;

/** Each once, however many members share it. */
function secretsOf({ kube, cluster, signal }: Question): Read {
  const reading = new Map<string, Promise<Secret | undefined>>();
  return (name) => {
    const found =
      reading.get(name) ?? kube.get<Secret>(resources.secrets, cluster.metadata.namespace, name, { signal });
    reading.set(name, found);
    return found;
  };
}

async function readAll(
  question: Question,
  mode: TlsMode,
  plans: readonly LeafPlan[],
  read: Read,
): Promise<Certificates> {
  const authority = async (which: Authority) =>
    authorityView(question, which, await read(authoritySecretName(question.cluster.metadata.name, which)));
  const [leaves, authorities, forMembersToCome] = await Promise.all([
    Promise.all(
      plans.map(async (plan): Promise<LeafView> => {
        const secret = await read(plan.secretName);
        const [served, issued] = await Promise.all([
          servedBy(question, plan, secret),
          sourceOf(question, mode, plan, read),
        ]);
        const view = leafView(question, plan, secret);
        return { ...view, ...(served !== undefined && { served }), ...(issued && { issued }) };
      }),
    ),
    mode === 'Managed' ? bothOf(authority, question) : {},
    mode === 'Provided' ? providedForMembersToCome(question, plans, read) : [],
  ]);
  return {
    kind: 'read',
    authorities,
    leaves,
    ...(mode === 'CertManager' && { certManager: certManagerView(question.requested) }),
    ...(forMembersToCome.length > 0 && { forMembersToCome }),
  };
}

async function bothOf(
  authority: (which: Authority) => Promise<AuthorityView>,
  question: Question,
): Promise<ReadCertificates['authorities']> {
  const [peer, client] = await Promise.all([authority('peer'), authority('client')]);
  return withSigning(question, { peer, client });
}

/** A plan of a birth says whether they are good. Once there is a member, its leaves say it. */
async function providedForMembersToCome(
  { cluster, at }: Question,
  plans: readonly LeafPlan[],
  read: Read,
): Promise<readonly IssuedView[]> {
  if (plans.some(({ peer }) => peer !== undefined)) return [];
  const { name, namespace = '' } = cluster.metadata;
  const views = await Promise.all(
    memberLeaves({ namespace, cluster: name }, peerName(name, 0)).map(async (plan) => {
      const source = sourceNameOf(cluster, 'Provided', plan);
      return source === undefined ? [] : [providedView(plan, source, await read(source), at)];
    }),
  );
  return views.flat();
}

/** What others have for this leaf. */
async function sourceOf(
  question: Question,
  mode: TlsMode,
  plan: LeafPlan,
  read: Read,
): Promise<IssuedView | undefined> {
  const { cluster, requested, at } = question;
  if (requested.kind === 'known') return issuedView(question, plan, requested, read);
  const name = mode === 'Provided' ? sourceNameOf(cluster, mode, plan) : undefined;
  return name === undefined ? undefined : providedView(plan, name, await read(name), at);
}

function certManagerView(requested: Requested): CertManagerView {
  if (requested.kind === 'unknown') return requested;
  if (requested.kind === 'known') return { kind: 'known' };
  return {
    kind: 'unknown',
    reason: 'CertManagerUnreachable',
    message: 'the Certificates were not listed in this pass',
  };
}

async function servedBy(
  { cluster, slots, wire, signal }: Question,
  { peer, purpose }: LeafPlan,
  secret: Secret | undefined,
): Promise<string | undefined> {
  const ca = Buffer.from(secret?.data?.['ca.crt'] ?? '', 'base64').toString('utf8');
  const pod = peer === undefined ? undefined : slots.find(({ name }) => name === peer)?.pod;
  if (peer === undefined || pod?.address === undefined || pod.container.state !== 'running') return undefined;
  const { name, namespace = '' } = cluster.metadata;
  const port = purpose === 'peer' ? ports.peer : ports.client;
  return wire({ host: pod.address, port, serverName: podHost(namespace, name, peer), ca }, signal);
}
