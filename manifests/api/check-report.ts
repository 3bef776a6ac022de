/** What a check of one change request came to: plain data, as it is kept in a ConfigMap, printed and shown. */
export interface CheckReport {
  readonly fleet: { readonly namespace: string; readonly name: string };
  /** Absent where a commit was checked that no request asks to merge. */
  readonly request?: CheckedRequest;
  /** The commit that is to be merged; 40 hexadecimal digits. */
  readonly head: string;
  /** The commit of the target branch that it was merged with, in memory. */
  readonly target: string;
  readonly targetBranch: string;
  /** `error`: it could not be checked; that says nothing about it. `untouched`: nothing under the path changes. */
  readonly state: 'success' | 'failure' | 'error' | 'untouched';
  /** One line, at most 140 characters: what the commit status says. */
  readonly description: string;
  /** What the request brings with it, by place; the first {@link mostProblems}. */
  readonly problems: readonly CheckProblem[];
  readonly problemCount: number;
  /** Problems that the target branch has as well: no fault of this request. */
  readonly inherited: readonly CheckProblem[];
  /** Allowed, and probably not meant. */
  readonly warnings: readonly CheckProblem[];
  /** What merging would delete, by name. */
  readonly deletions: readonly CheckedDeletion[];
  readonly clusters: readonly CheckedCluster[];
  /** What becomes of anything but clusters, in a sentence each. */
  readonly others?: readonly string[];
  /** The stages in which clusters restart, and of each EtcdNodePolicy that changes, which nodes are rebooted when. */
  readonly sections?: readonly { readonly title: string; readonly lines: readonly string[] }[];
  /** What merging without a merge commit of its own would do, where the fleet asks for signatures. */
  readonly signatures?: string;
  /** Something was left out so that it stays readable, and storable. */
  readonly shortened?: boolean;
}

interface CheckedRequest {
  /** As people say it: `17`. */
  readonly number: string;
  readonly title: string;
  readonly url: string;
  readonly fork: boolean;
  readonly draft: boolean;
}

export interface CheckProblem {
  readonly file: string;
  /** From 1; 0 when the whole file is meant. */
  readonly line: number;
  readonly column: number;
  readonly message: string;
}

export interface CheckedDeletion {
  readonly namespace: string;
  readonly name: string;
  /** Absent: pruned as soon as it is merged. Else why it stays, or what it waits for. */
  readonly kept?: string;
  /** Of a cluster: its data are deleted with it. */
  readonly dataGo?: boolean;
}

/** How often a plan starts a member anew, and how often it takes members or data away for good. */
export interface PlanCosts {
  readonly restarts: number;
  readonly removals: number;
}

/** What one user of etcd may do more, or less, in words. */
export interface RightsChange {
  readonly who: string;
  readonly gains?: string;
  readonly loses?: string;
}

export interface CheckedCluster {
  readonly namespace: string;
  readonly name: string;
  readonly intent: 'keep' | 'update' | 'create' | 'delete';
  /** Changes of its document, as `spec.replicas: 3 → 5`; the first {@link mostFields}. */
  readonly fields?: readonly string[];
  /** Hash of the spec that its document asks for. */
  readonly asks?: string;
  /** Absent where it could not be looked at: then `problem` says why. */
  readonly planned?: {
    readonly summary: string;
    /** Voters that are left while members start anew. */
    readonly risk?: string;
    readonly costs?: PlanCosts;
    /** Of users of etcd; absent: nothing changes for any. */
    readonly rights?: readonly RightsChange[];
    readonly steps: readonly CheckedStep[];
    readonly end: {
      readonly kind: 'done' | 'refused' | 'waits' | 'circles' | 'goes-on';
      readonly reason: string;
      readonly message: string;
      /** Of `refused`. */
      readonly cure?: string;
    };
  };
  readonly problem?: string;
}

export interface CheckedStep {
  readonly action: string;
  readonly target?: string;
  readonly reason: string;
  readonly message: string;
}

export const mostProblems = 100;
export const mostFields = 20;

/** On the ConfigMaps that keep reports; its value is the head's SHA. */
export const checkLabel = 'etcd.ratchet.dev/check';
/** On them as well: the fleet's name. */
export const checkFleetLabel = 'etcd.ratchet.dev/check-fleet';
/** Keys of their data. */
export const checkKeys = { json: 'report.json', markdown: 'report.md' } as const;

/** One for each head of a fleet. */
export function checkName(fleet: string, head: string): string {
  return `${fleet}-check-${head.slice(0, 12)}`;
}
