/** What dashboards and alerts use of what etcd itself serves; a test asks a real etcd of each minor for them. */
export const etcdMetrics = {
  etcd_server_has_leader: '1 where this member knows a leader.',
  etcd_server_is_leader: '1 where this member is the leader.',
  etcd_server_leader_changes_seen_total: 'How often this member has seen another leader begin.',
  etcd_server_proposals_failed_total: 'Writes that this member could not bring through.',
  etcd_server_proposals_pending: 'Writes that wait.',
  etcd_server_quota_backend_bytes: 'The quota.',
  etcd_mvcc_db_total_size_in_bytes: 'The database file.',
  etcd_mvcc_db_total_size_in_use_in_bytes: 'Of that: what is in use.',
  etcd_disk_wal_fsync_duration_seconds_bucket: 'How long the log takes to get to the disk.',
  etcd_disk_backend_commit_duration_seconds_bucket: 'How long the database takes to get to the disk.',
  etcd_network_peer_round_trip_time_seconds_bucket: 'From this member to another one and back.',
} as const;

export type EtcdMetric = keyof typeof etcdMetrics;

/** Labels that the PodMonitor puts on each of them, from those of the pod. */
export const etcdLabels = { cluster: 'etcd_cluster', member: 'member' } as const;
