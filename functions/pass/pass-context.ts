import type { EtcdBackupSchedule } from '../../manifests/api/etcd-backup-schedule.ts';
import type { EtcdFleet } from '../../manifests/api/etcd-fleet.ts';
import type { BackupResult } from '../../reconcile/backup/step.ts';
import type { ClusterResult } from '../../reconcile/cluster/result.ts';
import type { StepContext } from '../../reconcile/cluster/step-context.ts';
import type { PageLinks } from '../../reconcile/fleet/page-links.ts';
import type { NodePolicyResult } from '../../reconcile/nodes/step.ts';
import type { Reader } from '../read/reader.ts';
import type { ObjectName } from '../tick/options.ts';
import type { FleetResult } from './fleet-pass.ts';
import type { Library } from './load-ahead.ts';

export interface StepAndWaitContext extends StepContext {
  readonly namespace?: string | undefined;
  readonly fleet?: ObjectName | undefined;
  readonly clusters: readonly ObjectName[];
  /** Milliseconds to wait for what the decisions named. */
  readonly waitMs: number;
  /**
   * Asked after each wait, before anything else is done: whether people have stopped everything meanwhile, or a later
   * follow-up goes on.
   */
  readonly isStopped?: () => Promise<boolean>;
  /** Loads what is used later on, before it is. The first use tells of a failure. */
  readonly loadAhead?: (library: Library) => void;
}

export interface PassContext extends StepAndWaitContext {
  readonly followUp: boolean;
  /** With clusters that are named: also tell their fleets how they are. */
  readonly tellFleets?: boolean;
  /** Called when everything is done but the checks of requests: a roll-out waits for no review. */
  readonly onNews?: (news: PassNews) => Promise<void>;
  /** Where the Jobs are made that reboot nodes. Absent: the component node-reboots is not installed. */
  readonly rebootsIn?: string | undefined;
  /** When everything must be over, in milliseconds since the epoch. */
  readonly deadline: number;
  /** What reads repositories, and is used for other passes too. Absent: this one has its own. */
  readonly reader?: Reader;
  /** Where commit statuses lead; absent: nowhere. */
  readonly links?: PageLinks | undefined;
}

export interface PassResult extends PassNews {
  /** Schedules of backups, as they were listed before their steps. */
  readonly schedules?: readonly EtcdBackupSchedule[];
  readonly fleets: readonly { readonly fleet: EtcdFleet; readonly result: FleetResult }[];
}

/** What the follow-up must know. */
export interface PassNews {
  readonly clusters: readonly ClusterResult[];
  readonly backups: readonly BackupResult[];
  /** Node policies, where there are any. */
  readonly nodes?: readonly NodePolicyResult[];
  /** Another step would be worth taking, soon. */
  readonly workRemains: boolean;
  /** Whether anything was done: what others have seen before that is no longer all there is. */
  readonly moved: boolean;
  /** When something is due that no follow-up waits for: a schedule's backup, or the end of a Job that takes long. */
  readonly nextLook?: Date;
  /** Whether something failed that may succeed when repeated, or another invocation was at it. */
  readonly unsettled: boolean;
}
