/**
 * Pods of Jobs that do not start: when a person is asked, and for what. Codes are those of the scheduler, of kubelet,
 * and of the Job controller's events.
 */

/** A pod that waits for so long does not start by itself. In seconds. */
export const startSeconds = 180;

const cures: readonly (readonly [codes: readonly string[], cure: string])[] = [
  [
    ['FailedMount', 'FailedMapVolume', 'FailedAttachVolume', 'CreateContainerConfigError'],
    'make the Secret, ConfigMap, key or PersistentVolumeClaim that it names in this namespace, or see to its volume',
  ],
  [
    ['ErrImagePull', 'ImagePullBackOff', 'InvalidImageName', 'ErrImageNeverPull'],
    'see that the image exists and that its registry and pull Secret can be reached from the node',
  ],
  [['Unschedulable', 'SchedulingGated'], 'make room on a node, or correct what keeps the pod from all of them'],
  [['FailedCreate'], 'raise the quota, or correct the admission policy, that refuses its pod'],
];

/** The API server refuses the pod: no time makes a difference, and a person is asked at once. */
export function isRefused(code: string): boolean {
  return code === 'FailedCreate';
}

/** An imperative. */
export function cureOfStart(code: string): string {
  const found = cures.find(([codes]) => codes.includes(code));
  return found?.[1] ?? 'correct what it names';
}
