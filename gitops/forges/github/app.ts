import { createPrivateKey, sign } from 'node:crypto';
import Type from 'typebox';
import type { Purpose } from '../answer.ts';
import { apiAt, type Call, shaped } from '../api.ts';
import type { ForgeCredentials } from '../credentials.ts';
import type { ForgeAccess } from '../forge.ts';

export type AppCredentials = Extract<ForgeCredentials, { kind: 'app' }>;

/** What a token for each purpose may do: nothing else, and in no other repository of the installation. */
export const appPermissions = {
  statuses: { statuses: 'write' },
  readStatuses: { statuses: 'read' },
  requests: { pull_requests: 'read' },
  comments: { pull_requests: 'write' },
  contents: { contents: 'read' },
} as const satisfies Record<Purpose, object>;

export const installationToken = Type.Object({ token: Type.String({ minLength: 1 }), expires_at: Type.String() });

interface AppPlace extends Pick<ForgeAccess, 'caBundle' | 'network'> {
  readonly address: string;
  /** Its name, without the owner's. */
  readonly repository: string;
}

/** Installation tokens, one per purpose: made when needed, and kept while the forge is open (they last an hour). */
export function appAuthorization(
  credentials: AppCredentials,
  { repository, ...place }: AppPlace,
): (call: Call) => Promise<string> {
  const kept = new Map<Purpose, { readonly token: string; readonly until: number }>();

  return async ({ purpose, signal }) => {
    const now = Date.now();
    const known = kept.get(purpose);
    if (known && known.until > now) return known.token;
    const api = apiAt({ ...place, authorize: () => ({ authorization: `Bearer ${appJwt(credentials, now)}` }) });
    const answer = await api.send(
      'POST',
      `/app/installations/${credentials.installationId}/access_tokens`,
      { repositories: [repository], permissions: appPermissions[purpose] },
      { purpose, signal },
    );
    const { token, expires_at } = shaped(place.address, answer, installationToken);
    kept.set(purpose, { token, until: Date.parse(expires_at) - 60_000 });
    return token;
  };
}

/** GitHub takes at most ten minutes, and clocks differ: it begins a minute ago. */
export function appJwt({ appId, privateKey }: AppCredentials, now: number): string {
  const seconds = Math.floor(now / 1000);
  const head = encoded({ alg: 'RS256', typ: 'JWT' });
  const claims = encoded({ iat: seconds - 60, exp: seconds + 540, iss: appId });
  const signature = sign('RSA-SHA256', Buffer.from(`${head}.${claims}`), createPrivateKey(privateKey));
  return `${head}.${claims}.${signature.toString('base64url')}`;
}

function encoded(value: object): string {
  return Buffer.from(JSON.stringify(value)).toString('base64url');
}
