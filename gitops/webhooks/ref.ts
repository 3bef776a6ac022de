/** What a ref points to before it is made and after it is deleted. */
export const noCommit = '0'.repeat(40);

/** Whether a full ref name, as deliveries tell it, is what a fleet follows: `main`, `v1.0` or `refs/…`. */
export function isSameRef(followed: string, full: string): boolean {
  if (followed.startsWith('refs/')) return followed === full;
  return [`refs/heads/${followed}`, `refs/tags/${followed}`, `refs/${followed}`].includes(full);
}

/** Whether a branch, told as `main` or as `refs/heads/main`, is what a fleet follows. */
export function isSameBranch(followed: string, branch: string): boolean {
  return isSameRef(followed, branch.startsWith('refs/') ? branch : `refs/heads/${branch}`);
}
