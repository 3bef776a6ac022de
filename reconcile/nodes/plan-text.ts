import type { NodePlan } from './foresee.ts';

/** The plan of a node policy, for a person: a title, a line for each reboot in turn, and one for each that waits. */
export function nodePlanLines({ policy, reboots, left }: NodePlan): {
  readonly title: string;
  readonly lines: readonly string[];
} {
  const title = `node policy ${policy}  ${reboots.length} ${reboots.length === 1 ? 'reboot' : 'reboots'}`;
  const lines = reboots.map(({ node, why, notBefore, pods, leaders, members }, index) => {
    const parts = [
      ...(notBefore === undefined ? [] : [`not before ${notBefore}`]),
      ...(pods > 0 ? [`${pods} ${pods === 1 ? 'pod leaves' : 'pods leave'}`] : []),
      ...(leaders.length > 0 ? [`leadership of ${leaders.join(', ')}`] : []),
      ...(members.length > 0 ? [`down meanwhile: ${members.join(', ')}`] : []),
    ];
    return `${index + 1}. ${node} (${why})${parts.length > 0 ? `: ${parts.join('; ')}` : ''}`;
  });
  return { title, lines: [...lines, ...left.map(({ reason, message }) => `${reason}: ${message}`)] };
}
