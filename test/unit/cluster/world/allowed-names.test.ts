import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { EtcdClusterSpec } from '../../../../manifests/api/etcd-cluster.ts';
import type { EtcdPeer } from '../../../../manifests/api/etcd-peer.ts';
import type { Secret } from '../../../../manifests/kube-types.ts';
import {
  type CertManagerCertificate,
  certificateResource,
} from '../../../../manifests/render/cert-manager-certificate.ts';
import { type LeafPlan, memberLeaves } from '../../../../manifests/render/certificate-names.ts';
import { annotations } from '../../../../manifests/render/names.ts';
import { resources } from '../../../../reconcile/interfaces/kube.ts';
import { conditionOf } from '../../../../reconcile/objects/conditions.ts';
import { issueLeaf } from '../../../../reconcile/x509/issue.ts';
import { leafData } from '../../../../reconcile/x509/secret-data.ts';
import { secretData, secretNamed } from '../../../support/world/applications.ts';
import { type CertManager, certManagerIn } from '../../../support/world/cert-manager.ts';
import { assertOneCluster, type Converged, tickUntilConverged } from '../../../support/world/converge.ts';
import { crashesIn, killer, sample } from '../../../support/world/crash.ts';
import type { Faults } from '../../../support/world/invocation.ts';
import type { Process } from '../../../support/world/state.ts';
import { leafIn, partyOf, whyNotClient, whyNotPeers } from '../../../support/world/tls.ts';
import { createWorld, namespace, type World } from '../../../support/world/world.ts';

/** One issuer for all leaves, which other tenants may ask as well: members let in what has the cluster's own names. */

const issuerRef = { name: 'company', kind: 'ClusterIssuer' } as const;
const healing = { podGracePeriod: '20s', memberGracePeriod: '40s' } as const;
const domain = 'orders.shop.etcd-ratchet.invalid';

function named(clientNames: readonly string[] = [], replicas = 3): Partial<EtcdClusterSpec> {
  const certManager = { issuerRef, allowedNames: 'Own', ...(clientNames.length > 0 && { clientNames }) } as const;
  return { replicas, healing, tls: { mode: 'CertManager', certManager, rotationOverlap: '30s' } };
}

interface Stage {
  readonly world: World;
  readonly certManager: CertManager;
}

const births = new Map<string, Promise<Stage>>();

/** Born once; each test has a fork. */
async function running(spec = named()): Promise<Stage> {
  const key = JSON.stringify(spec);
  const first = births.get(key) ?? born(spec);
  births.set(key, first);
  const { world, certManager } = await first;
  const fork = world.fork();
  return { world: fork, certManager: certManager.fork(fork) };
}

async function born(spec: Partial<EtcdClusterSpec>, faults: Faults = {}): Promise<Stage> {
  const world = createWorld();
  await world.apply(spec);
  const stage = { world, certManager: certManagerIn(world) };
  await settled(stage, { faults });
  world.state.watchful = true;
  return stage;
}

async function settled({ world, certManager }: Stage, pace: { faults?: Faults; slow?: boolean } = {}) {
  const meanwhile = () => certManager.attend();
  const end = await tickUntilConverged(world, { limit: 400, meanwhile, ...pace });
  assert.equal(end.reason, 'Converged', end.trail.join('\n'));
  return end;
}

const actsOf = ({ steps }: Converged) => steps.map(({ action }) => action);
const issued = (name: string) => `${name}-issued`;
const membersOf = ({ processes }: World): readonly Process[] => [...processes.values()];

/** What the issuer signs for another tenant. */
async function strangers(stage: Stage, names: readonly string[]) {
  const { world, certManager } = stage;
  const notBefore = new Date(Math.floor(world.now() / 1000) * 1000 - 600e3);
  const plan: LeafPlan = {
    purpose: 'server',
    authority: 'client',
    secretName: 'theirs',
    commonName: 'root',
    dnsNames: names,
    ipAddresses: [],
    usages: ['serverAuth', 'clientAuth'],
  };
  const signer = await certManager.authority('company');
  const leaf = await issueLeaf(plan, signer, { notBefore, notAfter: new Date(notBefore.getTime() + 86_400e3) });
  return leafData(leaf, [signer.certificate]);
}

async function refusals(stage: Stage, ...names: readonly string[]): Promise<readonly (string | undefined)[]> {
  const party = partyOf(stage.world.state, await strangers(stage, names));
  return membersOf(stage.world).map((member) => whyNotClient(stage.world.state, member, party));
}

const everyMember = [undefined, undefined, undefined];

describe('a cluster that lets in its own names only', () => {
  test('is born with a name in each leaf, and none of them root, of one issuer for all', async () => {
    const { world } = await running();
    assertOneCluster(world, 3);
    const asked = world.kube.stored<CertManagerCertificate>(certificateResource);
    for (const { metadata, spec } of asked) {
      const own = (spec.dnsNames ?? []).filter((name) => name.endsWith('.invalid'));
      const expected = metadata.name.includes('-peer-') ? [`members.${domain}`] : [`clients.${domain}`];
      assert.deepEqual(own, metadata.name.includes('-server-') ? [] : expected, metadata.name);
      assert.notEqual(spec.commonName, 'root');
    }
    assert.equal(asked.length, 9);
    const { message } = conditionOf(world.cluster()?.status, 'CertificatesReady') ?? assert.fail();
    assert.match(message ?? '', /; etcd's HTTP gateway is off/);
  });

  test('refuses a stranger’s certificate of the same issuer, as a client’s and as a member’s', async () => {
    const stage = await running();
    const { state } = stage.world;
    const [member = assert.fail(), other = assert.fail()] = membersOf(stage.world);
    const host = 'orders-1-0.orders-peers.shop.svc';
    for (const names of [[], [host], [`clients.users.shop.etcd-ratchet.invalid`], [`members.${domain}`]]) {
      const why = await refusals(stage, ...names);
      assert.ok(
        why.every((one) => one?.startsWith(`the certificate has none of clients.${domain}`)),
        `${names}: ${why}`,
      );
    }
    assert.ok(member.tls && other.tls);
    for (const names of [[host], [host, `clients.${domain}`]]) {
      const peer = { ...other.tls.peer, files: await strangers(stage, names) };
      const stranger = { ...other, pod: 'shop/orders-1-0', tls: { ...other.tls, peer } };
      for (const [a, b] of [
        [member, stranger],
        [stranger, member],
      ] as const)
        assert.match(whyNotPeers(state, a, b) ?? '', /has none of members\.orders/, String(names));
    }
  });

  test('lets in the stranger to whom the issuer gives the cluster’s own name: issuers must not', async () => {
    const stage = await running();
    assert.deepEqual(await refusals(stage, `clients.${domain}`), everyMember);
    assert.deepEqual(await refusals(stage, `*.${domain}`), everyMember);
  });

  test('takes no leaf of a server as that of a client or a member', async () => {
    const { world } = await running();
    const [member = assert.fail(), other = assert.fail()] = membersOf(world);
    const server = secretData(world, 'orders-1-server-tls');
    assert.match(whyNotClient(world.state, member, partyOf(world.state, server)) ?? '', /for something else/);
    assert.ok(other.tls);
    const stranger = {
      ...other,
      pod: 'shop/orders-1-0',
      tls: { ...other.tls, peer: { ...other.tls.peer, files: server } },
    };
    assert.match(whyNotPeers(world.state, member, stranger) ?? '', /for something else/);
  });

  test('lets clients in by further names, after one restart of each member, as its plan says', async () => {
    const stage = await running();
    const name = 'app.example.com';
    assert.ok((await refusals(stage, name)).every((why) => why !== undefined));
    const { planned } = await stage.world.plan(named([name]));
    await stage.world.apply(named([name]));
    const end = await settled(stage, { slow: true });
    assert.deepEqual(actsOf(end), ['change-template', 'change-template', 'change-template']);
    assert.deepEqual(
      planned?.steps.map(({ action, target }) => [action, target]),
      end.steps.map(({ action, target }) => [action, target]),
    );
    assert.deepEqual(await refusals(stage, name), everyMember);
    await stage.world.apply(named(['b.example.com', name]));
    await settled(stage);
    await stage.world.apply(named([name, 'b.example.com']));
    assert.deepEqual(actsOf(await settled(stage)), [], 'another order is no change');
    await stage.world.apply(named());
    await settled(stage, { slow: true });
    assert.ok((await refusals(stage, name)).every((why) => why !== undefined));
    assertOneCluster(stage.world, 3);
  });

  test('grows from one to three and back', async () => {
    const stage = await running(named([], 1));
    for (const size of [3, 1]) {
      await stage.world.apply(named([], size));
      await settled(stage);
      assertOneCluster(stage.world, size);
    }
  });

  test('is healed when a member loses its volume', async () => {
    const stage = await running();
    stage.world.state.watchful = false;
    stage.world.loseVolume('orders-1');
    await settled(stage);
    assertOneCluster(stage.world, 3);
  });

  test('gets renewed leaves without a restart, and follows another CA of its issuer', async () => {
    const stage = await running();
    const { world, certManager } = stage;
    const starts = new Map(world.starts);
    const names = world.kube.stored<CertManagerCertificate>(certificateResource).map(({ metadata }) => metadata.name);
    certManager.renew(...names);
    await settled(stage);
    assert.deepEqual(world.starts, starts);
    await certManager.replaceAuthority('company');
    certManager.renew(...names);
    await settled(stage);
    const leaf = leafIn(world.state, secretData(world, 'orders-0-peer-tls')) ?? assert.fail();
    assert.equal(leaf.trust.length, 1);
    assert.ok(leaf.dnsNames.includes(`members.${domain}`));
    assertOneCluster(world, 3);
  });

  test('takes no leaf of which its issuer left the name out', async () => {
    for (const name of ['orders-reconciler-tls', 'orders-1-peer-tls']) {
      const stage = await running();
      const { world } = stage;
      const before = secretData(world, name)['tls.crt'];
      const found = secretNamed(world, issued(name)) ?? assert.fail();
      const [peer] = memberLeaves({ namespace, cluster: 'orders' }, 'orders-1');
      const data = await strangers(stage, peer.dnsNames);
      world.kube.seed<Secret>(resources.secrets, { ...found, data });
      world.advance(60 * 86_400);
      const end = await tickUntilConverged(world, { limit: 60 });
      assert.notEqual(end.reason, 'Converged');
      assert.equal(secretData(world, name)['tls.crt'], before, name);
      assertOneCluster(world, 3);
    }
  });

  test('keeps its members as they were born where the spec would have it otherwise, and says so', async () => {
    const stage = await running();
    const starts = new Map(stage.world.starts);
    const any = { ...named(), tls: { mode: 'CertManager', certManager: { issuerRef } } } as const;
    const { planned } = await stage.world.plan(any);
    assert.deepEqual(
      planned?.refusals.map(({ reason, field }) => [reason, field]),
      [['TlsModeRefused', 'spec.tls.certManager.allowedNames']],
    );
    await stage.world.apply(any);
    const end = await tickUntilConverged(stage.world, { meanwhile: () => stage.certManager.attend() });
    assert.equal(end.reason, 'TlsModeRefused', end.trail.join('\n'));
    assert.deepEqual([actsOf(end), stage.world.starts], [[], starts]);
    await stage.world.apply(named());
    await settled(stage);
  });

  test('is what it was when it is applied again, also by a spec that has another mode at first', async () => {
    const issuer = { mode: 'CertManager', certManager: { issuerRef } } as const;
    for (const wrong of [{ mode: 'Managed' }, issuer, { ...issuer, peerSourceAddress: 'Any' }] as const) {
      const stage = await running();
      const { world } = stage;
      world.state.watchful = false;
      await world.remove();
      for (let round = 0; round < 10; round += 1) world.settle();
      await world.apply({ ...named(), tls: wrong });
      const meanwhile = () => stage.certManager.attend();
      await tickUntilConverged(world, { meanwhile, limit: 400 });
      const told = world.cluster()?.status?.refusals?.map(({ reason }) => reason);
      assert.deepEqual(told, ['TlsModeRefused']);
      assert.ok((await refusals(stage)).every((why) => why?.includes('has none of clients')));
      await world.apply(named());
      await settled(stage);
      assert.ok((await refusals(stage)).every((why) => why?.includes('has none of clients')));
      assertOneCluster(world, 3);
    }
  });

  test('keeps its names where its peers are written by someone else', async () => {
    const stage = await running();
    const { world } = stage;
    for (const peer of world.kube.stored<EtcdPeer>(resources.peers))
      world.kube.seed<EtcdPeer>(resources.peers, {
        ...peer,
        spec: { ...peer.spec, tls: { mode: 'CertManager', clientNames: ['root.of.theirs'] } },
      });
    await settled(stage);
    assert.ok((await refusals(stage, 'root.of.theirs')).every((why) => why !== undefined));
    assertOneCluster(world, 3);
  });
});

const anyOf = { mode: 'CertManager', certManager: { issuerRef }, rotationOverlap: '30s' } as const;
const open = (): Partial<EtcdClusterSpec> => ({ ...named(), tls: anyOf });

describe('a cluster that lets in every certificate, and is to let in names', () => {
  test('gets them into its certificates without a restart, and asks a person', async () => {
    const stage = await running(open());
    const { world } = stage;
    const starts = new Map(world.starts);
    const { planned } = await world.plan(named());
    const { approval, end } = await asked(stage);
    assert.deepEqual(
      [...new Set(actsOf(end))],
      [...new Set(planned?.steps.map(({ action }) => action) ?? [])],
      end.trail.join('\n'),
    );
    assert.deepEqual(world.starts, starts);
    assert.match(approval.approves, new RegExp(`clients\\.${domain}, members by members\\.${domain}, and no other`));
    for (const name of ['orders-reconciler-tls', 'orders-client-tls', 'orders-2-peer-tls'])
      assert.ok(
        leafIn(world.state, secretData(world, name))?.dnsNames.some((one) => one.endsWith(domain)),
        name,
      );
    assert.deepEqual(await refusals(stage), everyMember, 'until then it is open');
    const commonName = leafIn(world.state, secretData(world, 'orders-reconciler-tls'))?.subject;
    assert.match(commonName ?? '', /root/, 'etcd may know no other user');
  });

  test('restarts one member after the other once that is approved, and lets in no stranger', async () => {
    const stage = await running(open());
    const { world } = stage;
    const { approval } = await asked(stage, ['a.b.example.com']);
    await annotate(world, approval.value);
    const end = await settled(stage, { slow: true });
    assert.deepEqual(actsOf(end).slice(0, 1), ['take-names']);
    assert.equal(actsOf(end).filter((action) => action === 'change-template').length, 3, end.trail.join('\n'));
    assert.ok((await refusals(stage)).every((why) => why?.includes('has none of clients')));
    assert.deepEqual(await refusals(stage, 'a.b.example.com'), everyMember);
    for (const claim of world.claims()) assert.equal(claim.metadata.annotations?.[annotations.allowedNames], 'Taken');
    await world.apply({ ...named(['a.b.example.com']), replicas: 4 });
    await settled(stage);
    assert.equal(world.claims().at(-1)?.metadata.annotations?.[annotations.allowedNames], 'Taken');
    await world.apply(open());
    const back = await tickUntilConverged(world, { meanwhile: () => stage.certManager.attend(), limit: 400 });
    assert.equal(back.reason, 'TlsModeRefused', back.trail.join('\n'));
  });

  test('takes no approval that is for other names, or whose text another person wrote', async () => {
    const stage = await running(open());
    const { world } = stage;
    const { approval } = await asked(stage);
    for (const given of [`${approval.value}0`, 'c1c1/000000000000', '']) {
      await annotate(world, given);
      const end = await tickUntilConverged(world, { meanwhile: () => stage.certManager.attend() });
      assert.deepEqual([end.reason, actsOf(end)], ['NamesNotApproved', []], end.trail.join('\n'));
    }
    await annotate(world, approval.value);
    await world.apply(named(['a.b.example.com']));
    const end = await tickUntilConverged(world, { meanwhile: () => stage.certManager.attend() });
    assert.deepEqual([end.reason, actsOf(end)], ['NamesNotApproved', []], end.trail.join('\n'));
    assert.match(world.cluster()?.status?.approvals?.[0]?.value ?? '', /^[0-9a-f]+\/[0-9a-f]{12}$/);
    await world.apply(open());
    const back = await settled(stage);
    assert.ok(!actsOf(back).includes('change-template'), back.trail.join('\n'));
  });

  test('is asked about nothing while its issuer leaves the names out', async () => {
    const stage = await running(open());
    const { world, certManager } = stage;
    certManager.answer('hold');
    await world.apply(named());
    await tickUntilConverged(world, { meanwhile: () => certManager.attend(), limit: 60 });
    assert.deepEqual(world.cluster()?.status?.approvals ?? [], []);
    assert.match(
      JSON.stringify(world.cluster()?.status?.refusals),
      /until each of their own certificates has its name.*or remove allowedNames/,
    );
    assertOneCluster(world, 3);
  });

  test('comes to the same end wherever an invocation dies', async () => {
    const first = await running(open());
    const { approval } = await asked(first);
    const moved = async (faults: Faults) => {
      const stage = { world: first.world.fork(), certManager: first.certManager };
      const fork = { ...stage, certManager: first.certManager.fork(stage.world) };
      await annotate(fork.world, approval.value);
      await settled(fork, { faults });
      return fork;
    };
    const writes = killer();
    await moved(writes);
    for (const crash of sample(crashesIn(writes.writes()), 3)) {
      const faults = killer(crash);
      const stage = await moved(faults);
      assert.ok(faults.struck());
      assert.ok((await refusals(stage)).every((why) => why?.includes('has none of clients')));
      assertOneCluster(stage.world, 3, `${crash.when} ${crash.write}`);
    }
  });
});

describe('the record of names on volumes', () => {
  const without = (world: World, ...names: readonly string[]) => {
    for (const claim of world.claims()) {
      const { [annotations.allowedNames]: _, ...rest } = claim.metadata.annotations ?? {};
      if (names.includes(claim.metadata.name))
        world.kube.seed(resources.volumeClaims, { ...claim, metadata: { ...claim.metadata, annotations: rest } });
    }
  };

  test('is written again where a hand took it away, and nothing restarts, or is signed anew', async () => {
    for (const gone of [['orders-1'], ['orders-0', 'orders-1', 'orders-2']]) {
      const stage = await running();
      const { world } = stage;
      const starts = new Map(world.starts);
      without(world, ...gone);
      const end = await settled(stage);
      assert.deepEqual(actsOf(end), ['take-names'], end.trail.join('\n'));
      assert.deepEqual(world.starts, starts);
      assert.ok(world.claims().every(({ metadata }) => metadata.annotations?.[annotations.allowedNames]));
      assert.ok((await refusals(stage)).every((why) => why !== undefined));
    }
  });

  const mark = (world: World, name: string, allowed: 'Own' | 'Taken') => {
    const claim = world.claims().find(({ metadata }) => metadata.name === name) ?? assert.fail(name);
    const given = { ...claim.metadata.annotations, [annotations.allowedNames]: allowed };
    world.kube.seed(resources.volumeClaims, { ...claim, metadata: { ...claim.metadata, annotations: given } });
  };

  test('that a hand adds to one volume of an open cluster locks out no client', async () => {
    for (const asks of [false, true])
      for (const held of [false, true]) {
        const stage = await running(open());
        const { world, certManager } = stage;
        mark(world, 'orders-1', 'Taken');
        const starts = new Map(world.starts);
        certManager.answer(held ? 'hold' : 'issue');
        if (asks) await world.apply(named());
        const end = await tickUntilConverged(world, { meanwhile: () => certManager.attend(), limit: 200 });
        assert.equal(end.reason, asks ? 'NamesNotApproved' : 'Converged', end.trail.join('\n'));
        assert.deepEqual([world.starts, await refusals(stage)], [starts, everyMember], `${asks} ${held}`);
      }
  });

  test('says since when, also where all volumes are lost, and a backup takes their place', async () => {
    const stage = await running(open());
    const { world, certManager } = stage;
    const meanwhile = () => certManager.attend();
    const { approval } = await asked(stage);
    await annotate(world, approval.value);
    await settled(stage, { slow: true });
    world.state.watchful = false;
    const clusterID = world.cluster()?.status?.clusterID ?? assert.fail();
    for (const { metadata } of world.claims()) world.loseVolume(metadata.name);
    const snapshot = { object: 'gs://backups/orders/a.db', sha256: 'ab'.repeat(32), revision: 81_724 };
    await world.apply({ ...named(), rollback: { clusterID, snapshot } });
    await tickUntilConverged(world, { meanwhile, limit: 200 });
    const asks = world.cluster()?.status?.approvals?.find(({ annotation }) => annotation === annotations.rollBack);
    await annotate(world, asks?.value ?? assert.fail(), annotations.rollBack);
    await settled(stage);
    assert.ok(world.claims().every(({ metadata }) => metadata.annotations?.[annotations.allowedNames] === 'Taken'));
    assert.match(leafIn(world.state, secretData(world, 'orders-reconciler-tls'))?.subject ?? '', /root/);
  });

  test('of members that left holds up no birth of another cluster of that name', async () => {
    const stage = await running({ ...open(), volumeRetention: { whenScaled: 'Retain' } });
    const { world, certManager } = stage;
    world.state.watchful = false;
    await world.apply({ ...open(), replicas: 1, volumeRetention: { whenScaled: 'Retain' } });
    await settled(stage);
    await world.remove();
    for (let round = 0; round < 10; round += 1) world.settle();
    world.kube.remove(resources.volumeClaims, namespace, 'orders-0');
    for (const { metadata } of world.claims()) world.kube.remove(resources.configMaps, namespace, metadata.name);
    for (let round = 0; round < 10; round += 1) world.settle();
    await world.apply(named([], 1));
    const end = await tickUntilConverged(world, { meanwhile: () => certManager.attend(), limit: 200 });
    assert.equal(end.reason, 'Converged', end.trail.join('\n'));
    assert.ok((await refusals(stage)).every((why) => why?.includes('has none of clients')));
  });
});

/** The spec has the names, everything that needs no person is done, and a person is asked. */
async function asked(stage: Stage, clientNames: readonly string[] = []) {
  await stage.world.apply(named(clientNames));
  const meanwhile = () => stage.certManager.attend();
  const end = await tickUntilConverged(stage.world, { meanwhile, limit: 400 });
  assert.equal(end.reason, 'NamesNotApproved', end.trail.join('\n'));
  const [approval = assert.fail('nothing is asked'), ...more] = stage.world.cluster()?.status?.approvals ?? [];
  assert.deepEqual(more, []);
  return { approval, end };
}

async function annotate(world: World, text: string, annotation: string = annotations.takeNames): Promise<void> {
  const cluster = world.cluster() ?? assert.fail('no cluster');
  const given = { ...cluster.metadata.annotations, [annotation]: text };
  await world.kube.update(resources.clusters, { ...cluster, metadata: { ...cluster.metadata, annotations: given } });
}

test('the plan of a birth says which names the issuer must sign', async () => {
  const { planned } = await createWorld().plan(named());
  assert.ok(!planned?.steps.some(({ action }) => action === 'take-names'), 'volumes have them from the first moment');
  const asking = planned?.steps.find(({ action }) => action === 'request-certificates');
  assert.match(asking?.message ?? JSON.stringify(planned), new RegExp(`clients\\.${domain}, members\\.${domain}$`));
});

test('an invocation may die at any write of such a birth', async () => {
  const writes = killer();
  await born(named(), writes);
  assert.ok(writes.writes() > 20);
  for (const crash of sample(crashesIn(writes.writes()), 13)) {
    const faults = killer(crash);
    const { world } = await born(named(), faults);
    assert.ok(faults.struck());
    assertOneCluster(world, 3, `${crash.when} ${crash.write}`);
  }
});
