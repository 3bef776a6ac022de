const suffixes: Readonly<Record<string, number>> = {
  n: 1e-9,
  u: 1e-6,
  m: 1e-3,
  '': 1,
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

/** A Kubernetes quantity as a number of its unit. @throws RangeError when it is not one. */
export function parseQuantity(text: string | number): number {
  const [, digits, suffix = ''] = /^([+-]?[\d.]+(?:[eE][+-]?\d+)?)([a-zA-Z]*)$/.exec(String(text)) ?? [];
  const factor = suffixes[suffix];
  if (digits === undefined || factor === undefined) throw new RangeError(`${text} is not a quantity`);
  return Number(digits) * factor;
}

/** As kubelet gives a resource to a container: in units of the divisor, rounded up. */
export function inUnits(quantity: string, divisor = '1'): string {
  const unit = parseQuantity(divisor === '0' ? '1' : divisor);
  // 0.1 / 0.001 is a little more than 100 in binary; no quantity has nine digits after the point of such a ratio.
  return String(Math.ceil(Number((parseQuantity(quantity) / unit).toFixed(6))));
}
