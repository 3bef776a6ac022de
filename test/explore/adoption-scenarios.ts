import type { Change, Turn } from './model/git.ts';
import type { Consent } from './model/person.ts';
import { besideOthers } from './model/worlds.ts';
import { one, type Scenario } from './scenario.ts';

const approved: Consent = { what: 'a person approves that the others leave', person: 'approves the adoption' };
const deleted: Change = { what: 'the resource is deleted', resource: 'deleted' };
const size = (replicas: number): Change => ({ what: `replicas: ${replicas}`, spec: { replicas } });
const withoutField: Change = { what: 'bootstrap is removed', spec: { bootstrap: {} } };

const backup = { to: { object: 'gs://backups/{{cluster}}/{{timestamp}}.db' }, beforeDeletion: 'Required' } as const;
/** A cluster of others beside one of ours that asks for a backup before its deletion. */
const backedUp = () =>
  besideOthers({ replicas: 1, backup: { ...backup, beforeUpgrade: 'Never' } }, { others: 1, places: 4 });

const holders = { death: 1, late: 1, again: 1 } as const;

/** Leaders are others' at first. */
const toTheirEnd: readonly Scenario[] = [
  adoption('adopt 1 as 1', 1, 1, [approved], { ...holders, second: 1, crash: 1, leader: 1 }, 1),
  adoption('adopt 3 as 1', 3, 1, [approved], { ...holders, crash: 1, leader: 1, lag: 1 }, 1),
  adoption('adopt 1 as 2', 1, 2, [approved], {}, 0, 3),
  adoption('adopt 3 as 2', 3, 2, [approved], {}, 0, 3),
  adoption('adopt 3, and lose disks', 3, 1, [approved], { wipe: 1, lost: 1, status: 1 }, 1),
  adoption('adopt 3, and etcdctl beside it', 3, 1, [approved], { remove: 1, crash: 1, peer: 1, set: 1 }, 1),
  adoption('adopt 1, and delete it meanwhile', 1, 1, [deleted], holders, 1),
  adoption('adopt 1, delete it, and a process ends', 1, 1, [deleted], { crash: 1, leader: 1 }, 1),
  adoption('adopt 3, approve, and delete it', 3, 1, [approved, deleted], { death: 1, late: 1 }, 1),
  adoption('adopt 3, and ask for no members', 3, 1, [size(0), size(1), approved], { death: 1 }, 1),
  adoption('adopt 1, and forget what was there', 1, 1, [withoutField], { death: 1 }, 1),
  adoption('adopt 3, approve, and forget them', 3, 1, [approved, withoutField], { death: 1, leader: 1 }, 1),
  adoption('adopt 1, forget it, and approve', 1, 1, [withoutField, approved], { death: 1, crash: 1 }, 1),
  adoption('adopt 1, forget it, and a process ends', 1, 1, [withoutField, deleted], { crash: 1, leader: 1 }, 1),
  adoption('adopt 1, call it off, and delete it', 1, 1, [withoutField, deleted], { death: 1 }, 1),
  one('adopt 1, and delete it behind a last backup', backedUp, [deleted], { death: 1, backupFails: 1 }, 1),
  one('adopt 1, call it off, and delete it behind a backup', backedUp, [withoutField, deleted], { backupFails: 1 }, 1),
  one('adopt 1, approve, and delete it behind a backup', backedUp, [approved, deleted], { death: 1, crash: 1 }, 1),
];

/** Too many states for a search to its end: the nearest are searched, as many as the time lets. */
const asFarAsItGoes: readonly Scenario[] = [
  adoption('take over 3 as 1, in trouble twice', 3, 1, [approved], { ...holders, crash: 1, leader: 1, lag: 1 }, 2),
  adoption('take over 1 as 3', 1, 3, [approved], { ...holders, leader: 1 }, 1),
  adoption('take over 3 as 3', 3, 3, [approved], { death: 1, crash: 1 }, 1),
  adoption('take over 3, and lose disks twice', 3, 1, [approved], { wipe: 2, claim: 1, lost: 1, status: 1 }, 2),
  adoption('take over 3 as 2, and delete it meanwhile', 3, 2, [deleted], { death: 1, leader: 1 }, 1),
];

/** Clusters of others that are taken over. `npm run explore -- --scenario adopt` searches the first to their end. */
export const adoptionScenarios: readonly Scenario[] = [...toTheirEnd, ...asFarAsItGoes];

function adoption(
  name: string,
  others: number,
  replicas: number,
  changes: readonly Turn[],
  faults: Scenario['faults'],
  atMost: number,
  /** Of ours: one that is replaced needs another, and each makes for more states. */
  places = 4,
): Scenario {
  return one(name, () => besideOthers({ replicas }, { others, places }), changes, faults, atMost);
}
