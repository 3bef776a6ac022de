/**
 * Whether two addresses mean the same repository, as far as can be told from outside: the forge names itself as people
 * reach it (`https://git.example.com/team/etcd`, `git@…:team/etcd.git`), and a fleet may reach it by another host or
 * another base path. So the paths decide, and one may end in the other. A delivery is verified by then: what is at
 * stake is one look too many or too few.
 */
export function isSameRepository(a: string, b: string): boolean {
  const [one, other] = [segmentsOf(a), segmentsOf(b)];
  const length = Math.min(one.length, other.length);
  if (length < 2) return false;
  return one.slice(-length).join('/') === other.slice(-length).join('/');
}

/** Lower case: forges find a repository under any. */
function segmentsOf(address: string): readonly string[] {
  const path = URL.parse(address)?.pathname ?? address.replace(/^[^/]*:/, '');
  return path
    .replace(/\.git\/*$/, '')
    .split('/')
    .filter((segment) => segment !== '')
    .map((segment) => decoded(segment).toLowerCase());
}

function decoded(segment: string): string {
  try {
    return decodeURIComponent(segment);
  } catch {
    return segment; // a lone % is part of the name
  }
}
