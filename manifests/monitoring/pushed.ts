/** What an invocation says of itself at its end, where the installation names a collector. */
export interface Pushed {
  readonly help: string;
  /** In UCUM. An annotation in braces is a count of such things. */
  readonly unit: string;
  readonly labels: readonly string[];
}

/**
 * All of them are gauges, of the pass that sent them. A counter of a process that lives for a second starts anew each
 * time; a sum of gauges over a time is what such a counter would have counted (`sum_over_time`).
 */
export const pushed = {
  etcd_ratchet_pass_duration_seconds: {
    help: 'How long the pass took, from its first request to its last report.',
    unit: 's',
    labels: ['trigger', 'outcome'],
  },
  etcd_ratchet_pass_requests: {
    help: 'Requests that it sent: to the API server, to etcd, and questions to Git servers.',
    unit: '{request}',
    labels: ['to'],
  },
  etcd_ratchet_pass_steps: {
    help: 'Steps that it took: of clusters by action, of backups and node policies as such, and how they ended.',
    unit: '{step}',
    labels: ['kind', 'action', 'outcome'],
  },
  etcd_ratchet_pass_clusters: {
    help: 'Clusters that it looked at, by what was decided: act, wait, refuse (a person is needed) or done.',
    unit: '{cluster}',
    labels: ['decision'],
  },
  etcd_ratchet_pass_clusters_without_step: {
    help: 'Clusters that it did not get to: its time was over, they could not be looked at, or their namespace was left out.',
    unit: '{cluster}',
    labels: [],
  },
  etcd_ratchet_pass_fleets: {
    help: 'Fleets that it looked at, by what came of asking Git.',
    unit: '{fleet}',
    labels: ['reading'],
  },
  etcd_ratchet_pass_namespaces_left_out: {
    help: 'Namespaces that got no step, since their objects take too much of the memory that all share.',
    unit: '{namespace}',
    labels: [],
  },
  etcd_ratchet_pass_backup_age_seconds: {
    help: 'Age of the newest good backup of a schedule.',
    unit: 's',
    labels: ['namespace', 'schedule', 'cluster'],
  },
} as const satisfies Readonly<Record<string, Pushed>>;

export type PushedName = keyof typeof pushed;
export type PushedLabels<Name extends PushedName> = Readonly<Record<(typeof pushed)[Name]['labels'][number], string>>;
