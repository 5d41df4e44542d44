/**
 * A time to wait, as the hub's sentences have it (`20 seconds`, `a minute`, `5 minutes`), in the language of this BCP
 * 47 tag. Any other text is given back as it is.
 */
export function timeIn(tag: string, time: string): string {
  const [, count, unit] = /^(a|\d{1,9}) (second|minute)s?$/.exec(time) ?? [];
  if (count === undefined || unit === undefined) return time;
  const words = new Intl.NumberFormat(tag, { style: 'unit', unit, unitDisplay: 'long' });
  return words.format(count === 'a' ? 1 : Number(count));
}
