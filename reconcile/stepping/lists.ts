import type { KubeObject } from '../interfaces/kube.ts';

export interface Listed<Item extends KubeObject = KubeObject> {
  readonly items: readonly Item[];
  readonly resourceVersion: string;
}

export type Lister = () => Promise<Listed>;

/** The lists of one pass: what one kind has listed serves the others, until a step has made it old. */
export interface Lists {
  /** As last listed in this pass, old or not; none where it was not. */
  known<Item extends KubeObject>(kind: string): readonly Item[];
  /** As it was kept, else listed. @throws {KubeError} */
  of<Item extends KubeObject>(kind: string): Promise<Listed<Item>>;
  /** Listed now, and not kept. @throws {KubeError} */
  fresh<Item extends KubeObject>(kind: string): Promise<Listed<Item>>;
  keep(kind: string, listed: Listed): void;
  /** A step changed what it lists. */
  forget(kind: string): void;
}

/** The items of a kind are what its own lister lists: the table says so, and the compiler can't. */
export function createLists(listers: ReadonlyMap<string, Lister>): Lists {
  const kept = new Map<string, Promise<Listed>>();
  const last = new Map<string, Listed>();

  async function listed(kind: string): Promise<Listed> {
    const lister = listers.get(kind);
    if (!lister) throw new TypeError(`there is no kind ${kind}`);
    return lister();
  }

  function of(kind: string): Promise<Listed> {
    const found = kept.get(kind) ?? listed(kind);
    kept.set(kind, found);
    void found.then(
      (one) => last.set(kind, one),
      () => kept.delete(kind),
    );
    return found;
  }

  return {
    known: <Item>(kind: string) => (last.get(kind)?.items ?? []) as readonly KubeObject[] as readonly Item[],
    of: <Item extends KubeObject>(kind: string) => of(kind) as Promise<Listed<KubeObject>> as Promise<Listed<Item>>,
    fresh: <Item extends KubeObject>(kind: string) => listed(kind) as Promise<Listed<Item>>,
    keep: (kind, one) => {
      kept.set(kind, Promise.resolve(one));
      last.set(kind, one);
    },
    forget: (kind) => void kept.delete(kind),
  };
}
