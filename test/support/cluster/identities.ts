import { randomBytes } from 'node:crypto';

/** Users of the API server besides service accounts; each with a random token of this run. */
export interface Identity {
  readonly user: string;
  readonly groups: readonly string[];
  readonly token: string;
}

export type Identities = Readonly<Record<'admin' | 'controllers' | 'scheduler' | 'node', Identity>>;

export function makeIdentities(): Identities {
  return {
    admin: identity('admin', 'system:masters'),
    // These two are bound to roles of the same name by every API server (bootstrappolicy).
    controllers: identity('system:kube-controller-manager'),
    scheduler: identity('system:kube-scheduler'),
    // It is kubelet, proxy, DNS, CNI and CSI in one.
    node: identity('process-node', 'system:masters'),
  };
}

function identity(user: string, ...groups: string[]): Identity {
  return { user, groups, token: randomBytes(24).toString('base64url') };
}

/** The format of `--token-auth-file`: token, user, uid, and the groups in quotes. */
export function tokenFile(identities: Identities): string {
  return Object.values(identities)
    .map(({ token, user, groups }) => `${token},${user},${user},"${groups.join(',')}"\n`)
    .join('');
}

export interface Access {
  readonly url: string;
  /** PEM. */
  readonly ca: string;
  readonly token: string;
}

export interface Context {
  /** What to verify the server as, where the URL is not one that the certificate names. */
  readonly serverName?: string;
  readonly namespace?: string;
}

export function kubeconfig({ url, ca, token }: Access, { serverName, namespace }: Context = {}): string {
  const cluster = {
    server: url,
    'certificate-authority-data': Buffer.from(ca).toString('base64'),
    ...(serverName === undefined ? {} : { 'tls-server-name': serverName }),
  };
  const config = {
    apiVersion: 'v1',
    kind: 'Config',
    clusters: [{ name: 'local', cluster }],
    users: [{ name: 'local', user: { token } }],
    contexts: [{ name: 'local', context: { cluster: 'local', user: 'local', ...(namespace && { namespace }) } }],
    'current-context': 'local',
  };
  // JSON is YAML.
  return `${JSON.stringify(config, null, 2)}\n`;
}
