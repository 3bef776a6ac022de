import type { NodePlan } from './foresee.ts';

/** The plan of a node policy, for a person: a title, a line for each reboot in turn, and one for each that waits. */
export function nodePlanLines({ policy, reboots, left, unforeseen, ...times }: NodePlan): {
  readonly title: string;
  readonly lines: readonly string[];
} {
  const title = `node policy ${policy}  ${reboots.length} ${reboots.length === 1 ? 'reboot' : 'reboots'}`;
  const lines = reboots.map(({ node, why, notBefore, pods, leaders, members }, index) => {
    const parts = [
      ...(notBefore === undefined ? [] : [`not before ${notBefore}`]),
      ...(pods > 0 ? [`${pods} ${pods === 1 ? 'pod leaves' : 'pods leave'}`] : []),
      ...(leaders.length > 0 ? [`leadership of ${leaders.join(', ')}`] : []),
      ...(members.length > 0 ? [`${oneLess(times)}: ${members.join(', ')}`] : []),
    ];
    return `${index + 1}. ${node} (${why})${parts.length > 0 ? `: ${parts.join('; ')}` : ''}`;
  });
  const conditions = reboots.length > 0 ? unforeseen : [];
  return { title, lines: [...lines, ...conditions, ...left.map(({ reason, message }) => `${reason}: ${message}`)] };
}

/** A figure where one was measured; else only what is sure. */
function oneLess({ oneLessSeconds, timeout }: Pick<NodePlan, 'oneLessSeconds' | 'timeout'>): string {
  const time =
    oneLessSeconds === undefined
      ? `until the node is back (no reboot was timed yet; after ${timeout / 60_000} min it is told as stuck)`
      : `for about ${oneLessSeconds} s, as the last time`;
  return `one member less ${time}`;
}
