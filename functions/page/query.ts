/** What the address of a page asks for besides its object. */
export interface Query {
  /** From 1. */
  readonly page: number;
  /** Only clusters in this state, by its word. */
  readonly state?: string;
  /** The browser loads it again and again, without a script. */
  readonly refreshes: boolean;
}

export const plainQuery: Query = { page: 1, refreshes: false };

/** Seconds. */
export const refreshEvery = 30;

/** What a page does not know is as if it was not asked for. */
export function queryFrom(given: (name: string) => string | undefined): Query {
  const page = given('page') ?? '';
  const state = given('state') ?? '';
  return {
    page: /^[1-9]\d{0,5}$/.test(page) ? Number(page) : 1,
    ...(/^[A-Za-z]{1,64}$/.test(state) && { state }),
    refreshes: given('refresh') !== undefined,
  };
}

/** To the same page, asked otherwise. */
export function hrefOf({ page, state, refreshes }: Query): string {
  const asked = new URLSearchParams({
    ...(state !== undefined && { state }),
    ...(page > 1 && { page: String(page) }),
    ...(refreshes && { refresh: String(refreshEvery) }),
  });
  return `?${asked}`;
}
