/** A Kubernetes quantity: `8Gi`, `500m`, `1e3`, or a plain number. */
export type Quantity = string | number;

const grammar =
  /^(?<number>[+-]?(?:\d+(?:\.\d*)?|\.\d+))(?:(?<suffix>[KMGTPE]i|[numkMGTPE])|[eE](?<exponent>[+-]?\d{1,2}))?$/;

const factors: Readonly<Record<string, number>> = {
  n: 1e-9,
  u: 1e-6,
  m: 1e-3,
  k: 1e3,
  M: 1e6,
  G: 1e9,
  T: 1e12,
  P: 1e15,
  E: 1e18,
  Ki: 2 ** 10,
  Mi: 2 ** 20,
  Gi: 2 ** 30,
  Ti: 2 ** 40,
  Pi: 2 ** 50,
  Ei: 2 ** 60,
};

/**
 * The value in the quantity's own unit (bytes, cores). A double is exact up to 8 Pi bytes, which no etcd volume
 * reaches.
 * @throws {RangeError} when it is not a quantity
 */
export function parseQuantity(quantity: Quantity): number {
  if (typeof quantity === 'number') {
    if (Number.isFinite(quantity)) return quantity;
    throw notAQuantity(quantity);
  }
  const { number, suffix, exponent } = (quantity.length <= 64 ? grammar.exec(quantity)?.groups : undefined) ?? {};
  if (number === undefined) throw notAQuantity(quantity);
  if (exponent !== undefined) return Number(`${number}e${exponent}`);
  return Number(number) * (suffix === undefined ? 1 : (factors[suffix] ?? Number.NaN));
}

export function isQuantity(value: unknown): value is Quantity {
  if (typeof value === 'number') return Number.isFinite(value);
  return typeof value === 'string' && value.length <= 64 && grammar.test(value);
}

function notAQuantity(value: Quantity): RangeError {
  return new RangeError(`${JSON.stringify(value)} is not a quantity like 8Gi, 500m or 1000000`);
}

/** Negative when `a` is smaller. @throws {RangeError} when one is not a quantity. */
export function compareQuantities(a: Quantity, b: Quantity): number {
  return parseQuantity(a) - parseQuantity(b);
}
