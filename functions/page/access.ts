import { createHash } from 'node:crypto';
import { abortAfter } from '../../manifests/abort-after.ts';
import { type Kube, resources } from '../../reconcile/interfaces/kube.ts';
import { createRoom, remembered } from '../serve/remembered.ts';

export interface Question {
  readonly verb: 'get' | 'list';
  readonly resource: 'etcdfleets' | 'etcdclusters' | 'etcdbackups' | 'etcdbackupschedules' | 'etcdnodepolicies';
  /** Absent: in all of them. */
  readonly namespace?: string;
  readonly name?: string;
}

export interface Viewer {
  /** @throws {KubeError} */
  may(question: Question): Promise<boolean>;
}

type Admission =
  | { readonly kind: 'viewer'; readonly viewer: Viewer }
  | { readonly kind: 'nobody'; readonly because: string }
  | { readonly kind: 'elsewhere'; readonly because: string }
  | { readonly kind: 'crowded' };

interface Knock {
  header(name: string): string | undefined;
}

/** Decides about a visitor. @throws {KubeError} when the API server can't say */
export type Access = (knock: Knock) => Promise<Admission>;

const everything: Viewer = { may: async () => true };

/**
 * For a page that listens on loopback only: a caller came through `kubectl port-forward` (or is in the pod), and the
 * platform decides who may do that. Other host names and proxied requests are refused: that is how a web page elsewhere
 * (DNS rebinding), or the network behind a sidecar, would get in.
 */
export const loopbackAccess: Access = async ({ header }) => {
  const host = header('host') ?? '';
  if (!/^(localhost|127(\.\d{1,3}){3}|\[::1\])(:\d{1,5})?$/.test(host)) {
    return { kind: 'elsewhere', because: 'This page answers at localhost only.' };
  }
  if (['forwarded', 'x-forwarded-for', 'x-forwarded-host'].some((name) => header(name) !== undefined)) {
    return { kind: 'elsewhere', because: 'This page listens at localhost only, and takes no forwarded requests.' };
  }
  return { kind: 'viewer', viewer: everything };
};

interface User {
  readonly username: string;
  readonly uid?: string;
  readonly groups?: readonly string[];
  readonly extra?: Readonly<Record<string, readonly string[]>>;
}

/** Milliseconds for which an answer of the API server holds. */
const fresh = { tokens: 30_000, answers: 15_000 };
const most = { tokens: 1_000, answers: 10_000 };
/** Questions to the API server at once, before a caller is known. */
const reviewsAtOnce = 32;
const patienceMs = 5_000;
const longestToken = 12_000;

/** A visitor who is known already is let in all the same. */
class Crowded extends Error {}

/**
 * Asks the API server about every caller, as kube-rbac-proxy does: who the bearer token is (TokenReview), and whether
 * that user may see what is asked for (SubjectAccessReview). So the page shows a user exactly what kubectl shows.
 */
export function reviewedAccess(kube: Kube, { audience }: { readonly audience?: string | undefined } = {}): Access {
  const clock = () => performance.now();
  const retryMs = 1_000;
  const users = remembered({ freshMs: fresh.tokens, retryMs, most: most.tokens, clock }, (_key, token: string) => {
    const asking = room(() => whoIs(kube, token, audience));
    return asking ?? Promise.reject(new Crowded());
  });
  const answers = remembered(
    { freshMs: fresh.answers, retryMs, most: most.answers, clock },
    (_key, user: User, question: Question) => isAllowed(kube, user, question),
  );
  const room = createRoom(reviewsAtOnce);

  return async ({ header }) => {
    const authorization = header('authorization');
    if (authorization === undefined)
      return { kind: 'nobody', because: 'This page is only for users that the API server knows.' };
    const [, token] = /^bearer +([\x21-\x7e]+)$/i.exec(authorization) ?? [];
    if (token === undefined || token.length > longestToken) {
      return { kind: 'nobody', because: 'The Authorization header holds no bearer token.' };
    }
    // The token itself is kept nowhere.
    const key = createHash('sha256').update(token).digest('base64');
    const user = await users.get(key, token).catch((error: unknown) => {
      if (error instanceof Crowded) return error;
      throw error;
    });
    if (user instanceof Crowded) return { kind: 'crowded' };
    if (!user) return { kind: 'nobody', because: 'The API server does not accept this token, or it has expired.' };
    const may = (question: Question) => answers.get(`${key} ${JSON.stringify(question)}`, user, question);
    return { kind: 'viewer', viewer: { may } };
  };
}

interface TokenReview {
  readonly metadata: { readonly name: string };
  readonly spec: { readonly token: string; readonly audiences?: readonly string[] };
  readonly status?: { readonly authenticated?: boolean; readonly user?: User; readonly audiences?: readonly string[] };
}

interface AccessReview {
  readonly metadata: { readonly name: string };
  readonly spec: object;
  readonly status?: { readonly allowed?: boolean; readonly denied?: boolean };
}

/** Reviews have no name: an empty one is none. */
const nameless = { name: '' };

async function whoIs(kube: Kube, token: string, audience: string | undefined): Promise<User | undefined> {
  const { status } = await kube.create<TokenReview>(
    resources.tokenReviews,
    { metadata: nameless, spec: { token, ...(audience !== undefined && { audiences: [audience] }) } },
    { signal: abortAfter(patienceMs) },
  );
  if (status?.authenticated !== true || !status.user?.username) return undefined;
  // An authenticator that knows nothing of audiences leaves them out.
  if (audience !== undefined && !status.audiences?.includes(audience)) return undefined;
  return status.user;
}

async function isAllowed(kube: Kube, user: User, { verb, resource, namespace, name }: Question): Promise<boolean> {
  const resourceAttributes = {
    group: 'etcd.ratchet.dev',
    resource,
    verb,
    ...(namespace !== undefined && { namespace }),
    ...(name !== undefined && { name }),
  };
  const { username, uid, groups, extra } = user;
  const { status } = await kube.create<AccessReview>(
    resources.accessReviews,
    { metadata: nameless, spec: { user: username, uid, groups, extra, resourceAttributes } },
    { signal: abortAfter(patienceMs) },
  );
  return status?.allowed === true && status.denied !== true;
}
