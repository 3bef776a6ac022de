/** More than half. */
export function quorumOf(voters: number): number {
  return Math.floor(voters / 2) + 1;
}
