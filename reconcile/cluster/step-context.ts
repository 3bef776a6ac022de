import type { Egress } from '../../manifests/egress/egress.ts';
import type { NameAllowance } from '../../manifests/render/certificate-allowance.ts';
import type { EtcdTls } from '../interfaces/etcd.ts';
import type { EtcdAdmin } from '../interfaces/etcd-admin.ts';
import type { Kube } from '../interfaces/kube.ts';
import type { StepResult } from '../stepping/result.ts';
import type { Holder } from './know/holder.ts';
import type { AskWire } from './observe/certificates/read.ts';

/**
 * Whether the member with this pod address says of itself that it is well: its quorum answers, and no alarm is raised.
 * Anything else, silence included, is `false`; never throws.
 */
export type AskHealth = (address: string, signal: AbortSignal) => Promise<boolean>;

export interface StepContext {
  readonly kube: Kube;
  /** Connects on first use: a pass over clusters of which nothing runs never loads an etcd client. */
  readonly etcd: (tls?: EtcdTls) => Promise<EtcdAdmin>;
  /** What a member presents on the wire. */
  readonly wire: AskWire;
  /** What a member says of itself, so that looks can be skipped where nothing moved. Absent: none is. */
  readonly health?: AskHealth;
  readonly holder: Holder;
  /** What issuers may be asked for besides a cluster's own names. Absent: nothing. */
  readonly nameAllowances?: readonly NameAllowance[];
  /** Where Jobs for backups and restores may go. Absent: what an installation that says nothing allows. */
  readonly egress?: Egress;
  /** Fresh randomness: letters and digits, at least 128 bits. */
  readonly nonce: () => string;
  readonly log: (fields: Readonly<Record<string, unknown>>, message: string) => void;
  /** Prints what would be done and touches nothing. */
  readonly dryRun: boolean;
  /** Clusters that this pass asks nothing, by `<namespace>/<name>`: passes have ended while they were asked. */
  readonly unasked?: ReadonlySet<string>;
  /** Tells that a cluster is about to be asked, until that is over. Absent: all is well. */
  readonly asking?: (cluster: string) => Promise<Disposable>;
  /** Told of each result as soon as it is there: those of others may take long. */
  readonly onStep?: (result: StepResult) => void;
  readonly signal: AbortSignal;
}
