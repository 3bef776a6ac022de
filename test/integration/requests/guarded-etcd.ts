import { Etcd3 } from 'etcd3';
import type { Right } from '../../../reconcile/interfaces/etcd-auth.ts';
import type { Authority } from '../../../reconcile/x509/issue.ts';
import type { TestMember } from '../clients/etcd-members.ts';
import { open, within } from '../clients/etcd-membership-asking.ts';
import { authority, clientLeaf, leaf, startTlsMembers, tlsFor } from '../clients/etcd-tls-members.ts';

/** What etcd's users, roles and rights are. */
export interface Users {
  readonly enabled?: boolean;
  /** The roles of each. */
  readonly users?: Readonly<Record<string, readonly string[]>>;
  readonly roles?: Readonly<Record<string, readonly Right[]>>;
}

/** One voter with TLS: with authentication on, nothing else tells it who we are. */
export interface GuardedEtcd extends AsyncDisposable {
  readonly clusterId: string;
  readonly members: readonly Pick<TestMember, 'name' | 'clientUrl' | 'peerUrl'>[];
  /** Signs what members and clients show. */
  readonly clients: Authority;
  /** Brings it there, whatever it had. @param host the name that its certificate shows to us */
  become(users: Users, host: string): Promise<void>;
}

export async function startGuarded(binary: string): Promise<GuardedEtcd> {
  const clients = await authority('clients');
  await using parts = new AsyncDisposableStack();
  const { members } = parts.use(await startTlsMembers(binary, 1, clients));
  const [member] = members;
  const root = await clientLeaf(clients);
  using etcd = open(tlsFor(members, clients.certificate, root));
  const { clusterId } = await etcd.members([member.url], within(10_000));
  // Through another client: what is tried here must not be its own witness.
  const raw = new Etcd3({
    hosts: member.url,
    faultHandling: {},
    credentials: {
      rootCertificate: Buffer.from(clients.certificate),
      privateKey: Buffer.from(root.key),
      certChain: Buffer.from(root.certificate),
    },
    grpcOptions: { 'grpc.ssl_target_name_override': member.host },
  });
  parts.defer(() => raw.close());
  const started = parts.move();
  return {
    clusterId,
    members: [{ name: member.name, clientUrl: member.url, peerUrl: `https://${member.address}:2380` }],
    clients,
    become: async (wanted, host) => {
      await member.present(await leaf(clients, { commonName: member.name, dnsNames: [member.host, host] }));
      await become(raw.auth, wanted);
    },
    [Symbol.asyncDispose]: () => started.disposeAsync(),
  };
}

const theirs = { Read: 'Read', Write: 'Write', ReadWrite: 'Readwrite' } as const;

async function become(auth: Etcd3['auth'], { enabled = false, users = {}, roles = {} }: Users): Promise<void> {
  await auth.authDisable();
  for (const name of (await auth.userList()).users) await auth.userDelete({ name });
  for (const role of (await auth.roleList()).roles) await auth.roleDelete({ role });
  for (const [name, rights] of Object.entries(roles)) {
    await auth.roleAdd({ name });
    for (const { access, key, rangeEnd } of rights) {
      const [begin, end] = [Buffer.from(key, 'base64'), Buffer.from(rangeEnd, 'base64')];
      await auth.roleGrantPermission({ name, perm: { permType: theirs[access], key: begin, range_end: end } });
    }
  }
  for (const [user, has] of Object.entries(users)) {
    await auth.userAdd({ name: user, options: { no_password: true } });
    for (const role of has) await auth.userGrantRole({ user, role });
  }
  if (enabled) await auth.authEnable();
}
