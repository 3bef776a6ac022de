import type { EtcdClusterSpec } from '../../manifests/api/etcd-cluster.ts';
import { adoptionScenarios } from './adoption-scenarios.ts';
import { authScenarios } from './auth-scenarios.ts';
import { backupScenarios } from './backup-scenarios.ts';
import { deadNodes } from './dead-nodes.ts';
import { handScenarios } from './hand-scenarios.ts';
import { healingScenarios, wildByHand } from './healing-scenarios.ts';
import { mixes } from './mixes.ts';
import type { Change } from './model/git.ts';
import { deadlyOption } from './model/kubernetes.ts';
import { healthy, unborn } from './model/worlds.ts';
import { namesScenarios } from './names-scenarios.ts';
import { outageScenarios } from './outage-scenarios.ts';
import { recoveryScenarios, wildRecoveries } from './recovery-scenarios.ts';
import { restoreScenarios } from './restore-scenarios.ts';
import { revisionScenarios } from './revision-scenarios.ts';
import { one, type Scenario } from './scenario.ts';

const holders = { death: 2, late: 1, again: 1 } as const;
const pods = { crash: 2, eviction: 1 } as const;
const disks = { wipe: 1, claim: 1, lost: 1, node: 1 } as const;

function spec(what: string, changes: Partial<EtcdClusterSpec>): Change {
  return { what, spec: changes };
}

function size(replicas: number): Change {
  return spec(replicas === 0 ? 'hibernate (replicas: 0)' : `replicas: ${replicas}`, { replicas });
}

function version(to: string): Change {
  return spec(`version: ${to}`, { version: to });
}

const otherOptions = spec('etcd.snapshotCount: 5000', { etcd: { snapshotCount: 5000 } });
const badOptions = spec('an option that etcd does not know', { etcd: { extraArgs: { [deadlyOption]: 'none' } } });
const goodOptions = spec('the commit is reverted', { etcd: {} });
const larger = spec('storage.size: 2Gi', { storage: { size: '2Gi' } });
const smaller = spec('storage.size: 512Mi', { storage: { size: '512Mi' } });
const suspended = spec('suspend: true', { suspend: true });
const resumed = spec('suspend: false', { suspend: false });

const upgradedAndDeleted: readonly Change[] = [
  version('3.7.3'),
  { what: 'the resource is deleted', resource: 'deleted' },
  { what: 'the resource is applied again, with 3.6.16', resource: 'applied', spec: { version: '3.6.16' } },
];

export const scenarios: readonly Scenario[] = [
  one('birth of 1', unborn({ replicas: 1 }, 6), [], { ...holders, ...pods, second: 1 }, 2),
  one(
    'birth of 1, clients outside',
    unborn({ replicas: 1, service: { type: 'NodePort' } }, 6),
    [size(3)],
    { death: 1 },
    1,
  ),
  one('birth of 3', unborn({}, 6), [], { death: 1, late: 1, second: 1 }, 1),
  one('birth of 5', unborn({ replicas: 5 }, 6), [], { death: 1 }, 0),
  one('birth of 1, cut short', unborn({ replicas: 1 }, 6), [], { blank: 1, death: 1 }, 2),
  one('birth of 2, cut short', unborn({ replicas: 2 }, 4), [], { blank: 2, crash: 1 }, 3),
  one('birth of 2, other size', unborn({ replicas: 2 }, 6), [larger, size(1)], { death: 1, late: 1 }, 1),
  one(
    'birth of 1, to another minor, deleted, and applied again',
    unborn({ replicas: 1 }, 6),
    upgradedAndDeleted,
    { death: 1 },
    1,
  ),
  one('birth of 3, corrected to 2', unborn({}, 6), [size(2)], { death: 1, late: 1 }, 1),
  one('birth of 5, corrected to 3', unborn({ replicas: 5 }, 6), [size(3)], { death: 1 }, 0),
  one('grow 1 to 3', healthy({ replicas: 1 }, 6), [size(3)], { ...holders, crash: 1, second: 1, lag: 1, leader: 1 }, 2),
  one('grow 3 to 5', healthy({}, 6), [size(5)], { ...holders, crash: 1 }, 1),
  one('shrink 3 to 1', healthy({}, 6), [size(1)], { ...holders, ...pods, leader: 1, second: 1 }, 2),
  one('shrink 5 to 3', healthy({ replicas: 5 }, 6), [size(3)], { ...holders, crash: 1, leader: 1 }, 1),
  one('1 to 3, and back', healthy({ replicas: 1 }, 6), [size(3), size(1)], { death: 1, late: 1, again: 1, wipe: 1 }, 2),
  one('3 to 2, and back', healthy({}, 6), [size(2), size(3)], { death: 1, late: 1, again: 1, status: 1 }, 2),
  one('heal 3', healthy({}, 6), [], { ...disks, ...pods, lag: 1, status: 1 }, 2),
  one('outlive a volume while a node dies', healthy({}, 6), [], { claim: 1, node: 1 }, 2),
  one('heal 3, and who heals it dies', healthy({}, 6), [], { ...disks, ...holders }, 2),
  one('heal 5', healthy({ replicas: 5 }, 9), [], { ...disks }, 2),
  one('heal while it grows', healthy({ replicas: 1 }, 6), [size(3)], { ...disks, crash: 1 }, 2),
  one('heal while it grows, and who adds dies', healthy({}, 6), [size(4)], { ...disks, late: 1 }, 2),
  one('heal while it shrinks', healthy({}, 6), [size(1)], { ...disks, crash: 1 }, 2),
  one('two disks of 3', healthy({}, 6), [], { wipe: 2, lost: 2, claim: 2, crash: 1 }, 3),
  one('by hand', healthy({}, 6), [], { peer: 1, set: 1, configMap: 1, remove: 1, claim: 1, status: 1 }, 2),
  one(
    'by hand, while it shrinks',
    healthy({}, 6),
    [size(2)],
    { peer: 1, set: 1, configMap: 1, remove: 1, death: 1 },
    2,
  ),
  one('all of 1 by hand', healthy({ replicas: 1 }, 4), [], { claim: 1, peer: 1, status: 1 }, 3),
  one('upgrade 3.6 to 3.7', healthy({}, 6), [version('3.7.3')], { ...holders, crash: 1, leader: 1 }, 2),
  one('upgrade, and back', healthy({}, 6), [version('3.7.3'), version('3.6.16')], { death: 1, late: 1, crash: 1 }, 2),
  one('upgrade of 1, deleted, and applied again', healthy({ replicas: 1 }, 6), upgradedAndDeleted, { death: 1 }, 1),
  one(
    'upgrade that soaks, and back',
    healthy({}, 6),
    [spec('version: 3.7.3, to soak', { version: '3.7.3', update: { soak: '24h' } }), version('3.6.16')],
    { death: 1, wipe: 1, crash: 1 },
    2,
  ),
  one(
    'upgrade that soaks, to its end',
    healthy({}, 6),
    [
      spec('version: 3.7.3, to soak', { version: '3.7.3', update: { soak: '24h' } }),
      spec('it soaks no longer', { update: {} }),
    ],
    { late: 1, lost: 1, crash: 1 },
    2,
  ),
  one(
    '3.5 to 3.7 by way of 3.6',
    healthy({ replicas: 2, version: '3.5.35' }, 6),
    [version('3.7.3'), version('3.6.16'), version('3.7.3'), version('3.5.35')],
    { death: 1, crash: 1 },
    1,
  ),
  one('configuration', healthy({}, 6), [otherOptions], { ...holders, ...pods, leader: 1, second: 1 }, 2),
  one('bad configuration, and back', healthy({}, 6), [badOptions, goodOptions], { death: 1, late: 1, crash: 2 }, 2),
  one('configuration of 5', healthy({ replicas: 5 }, 6), [otherOptions], { death: 1, crash: 1 }, 1),
  one(
    'all in one commit',
    healthy({ replicas: 1 }, 6),
    [
      spec('version, options, size and replicas', {
        version: '3.7.3',
        etcd: { snapshotCount: 5000 },
        storage: { size: '2Gi' },
        replicas: 3,
      }),
    ],
    { death: 1, late: 1, crash: 1 },
    1,
  ),
  one('volumes', healthy({}, 6), [larger, smaller], { ...holders, claim: 1 }, 2),
  one('hibernate, and wake', healthy({}, 6), [size(0), size(3)], { ...holders, wipe: 1, status: 1 }, 1),
  one(
    'hibernate, and wake as 1',
    healthy({ replicas: 2 }, 6),
    [size(0), size(1)],
    { ...holders, wipe: 1, claim: 1 },
    2,
  ),
  one('suspend while it grows', healthy({ replicas: 1 }, 6), [size(2), suspended, resumed], { ...holders, wipe: 1 }, 2),
  one(
    'deleted, and applied again',
    healthy({ replicas: 2 }, 6),
    [
      { what: 'the resource is deleted', resource: 'deleted' },
      { what: 'the resource is applied again', resource: 'applied' },
    ],
    { ...holders, claim: 1 },
    2,
  ),
  one(
    'deleted with its volumes',
    healthy({ replicas: 2, volumeRetention: { whenDeleted: 'Delete', whenScaled: 'Delete' } }, 6),
    [
      { what: 'the resource is deleted', resource: 'deleted' },
      { what: 'the resource is applied again', resource: 'applied' },
    ],
    { ...holders },
    2,
  ),
  one(
    'kept volumes',
    healthy({ replicas: 2, volumeRetention: { whenDeleted: 'Retain', whenScaled: 'Retain' } }, 6),
    [size(1), size(2)],
    { death: 1, late: 1 },
    2,
  ),
  ...recoveryScenarios,
  ...restoreScenarios,
  ...revisionScenarios,
  ...backupScenarios,
  ...deadNodes,
  ...adoptionScenarios,
  ...healingScenarios,
  ...handScenarios,
  ...outageScenarios,
  ...namesScenarios,
  ...authScenarios,
  ...mixes,
];

const everything = {
  ...{ death: 3, late: 3, again: 2, second: 2 },
  ...{ crash: 3, eviction: 2, wipe: 2, claim: 2, lost: 1, node: 1, peer: 1, set: 1, configMap: 1, remove: 1 },
  ...{ leader: 3, lag: 3, status: 2, hand: 2, newer: 1, scale: 1 },
};

/** For random walks: too much may happen to search through it. */
export const wild: readonly Scenario[] = [
  one(
    'wild 3',
    healthy({}, 8),
    [size(5), otherOptions, size(2), badOptions, goodOptions, larger, size(3)],
    everything,
    9,
  ),
  one('wild 1', unborn({ replicas: 1 }, 8), [size(3), version('3.7.3'), size(0), size(5), size(1)], everything, 8),
  one(
    'wild 5',
    healthy({ replicas: 5, version: '3.5.35' }, 9),
    [version('3.6.16'), size(3), version('3.5.35'), version('3.7.3'), size(4)],
    everything,
    8,
  ),
  wildByHand(everything),
  ...wildRecoveries,
];
