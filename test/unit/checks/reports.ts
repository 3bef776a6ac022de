import type { CheckReport } from '../../../manifests/api/check-report.ts';

export function reportWith(more: Partial<CheckReport> = {}): CheckReport {
  return {
    fleet: { namespace: 'platform', name: 'production' },
    head: 'a'.repeat(40),
    target: 'b'.repeat(40),
    targetBranch: 'main',
    state: 'success',
    description: 'orders: 3.5.35→3.6.16, 9 steps',
    problems: [],
    problemCount: 0,
    inherited: [],
    warnings: [],
    deletions: [],
    clusters: [],
    ...more,
  };
}
