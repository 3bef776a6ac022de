/** Where in the installation a value goes. */
export interface Place {
  /** `*`: every object. */
  readonly kind: string;
  readonly name: string;
  /** RFC 6901. */
  readonly at: string;
  /**
   * `in-place`: its default is what stands there. `where-set`: nothing is there unless it is set. `among`: its entries
   * are added to those of the map or list, if there is one.
   */
  readonly as: 'in-place' | 'where-set' | 'among';
}

/** Keys and names that a value may not have, beside those that stand in its places. */
interface Reserved {
  readonly prefix: string;
  /** What to do, as the end of a sentence. */
  readonly instead: string;
}

export interface Value {
  readonly path: string;
  /** One or two sentences, for values.yaml and the reference. */
  readonly about: string;
  readonly schema: object;
  /** Of a value whose places don't say it. */
  readonly default?: unknown;
  readonly places?: readonly Place[];
  /** What a template takes it from, as an argument; without it, the value alone. */
  readonly source?: string;
  readonly reserved?: readonly Reserved[];
  /** The one thing that it may be, and why: people know the value from other charts. */
  readonly fixed?: { readonly to: string | boolean; readonly why: string };
}
