import i18next from 'i18next';

/** Numbers and times in the language of the page, as they are written where its reader lives. */

const formats = new Map<string, Intl.NumberFormat | Intl.DateTimeFormat | Intl.RelativeTimeFormat>();

function kept<T extends Intl.NumberFormat | Intl.DateTimeFormat | Intl.RelativeTimeFormat>(
  key: string,
  make: (language: string) => T,
): T {
  const id = `${i18next.language} ${key}`;
  const found = (formats.get(id) as T | undefined) ?? make(locale());
  formats.set(id, found);
  return found;
}

/** The browser's own kind of the language: `en` is `en-GB` for who reads that. */
function locale(): string {
  const { language } = i18next;
  return navigator.languages.find((tag) => tag === language || tag.startsWith(`${language}-`)) ?? language;
}

export function count(value: number): string {
  return kept('count', (language) => new Intl.NumberFormat(language)).format(value);
}

/** For texts that differ by number: the number that chooses one, and how it is written. */
export function many(value: number): { readonly count: number; readonly number: string } {
  return { count: value, number: count(value) };
}

/** Whole, so that it is seen to move, as far as it is short: 99,999; then 120K, 3.4M. */
export function short(value: number): string {
  if (value < 100_000) return count(value);
  const options = { notation: 'compact', maximumFractionDigits: 1 } as const;
  return kept('short', (language) => new Intl.NumberFormat(language, options)).format(value);
}

export function percent(share: number): string {
  const options = { style: 'percent', maximumFractionDigits: 1 } as const;
  return kept('percent', (language) => new Intl.NumberFormat(language, options)).format(share);
}

/** How well something fits, from 0 to 1: 0.57. */
export function score(value: number): string {
  const options = { minimumFractionDigits: 2, maximumFractionDigits: 2 };
  return kept('score', (language) => new Intl.NumberFormat(language, options)).format(value);
}

/** Milliseconds as people read them: 4 ms, 1.2 s, 3 min. */
export function duration(ms: number): string {
  if (ms < 1_000) return `${decimal(ms, ms < 10 ? 1 : 0)} ms`;
  if (ms < 60_000) return `${decimal(ms / 1_000)} s`;
  return `${decimal(ms / 60_000, 0)} min`;
}

export function bytes(value: number): string {
  const unit = i18next.language === 'fr' ? 'o' : 'B';
  if (value < 1_024) return `${count(value)} ${unit}`;
  if (value < 1_024 ** 2) return `${decimal(value / 1_024)} k${unit}`;
  return `${decimal(value / 1_024 ** 2)} M${unit}`;
}

function decimal(value: number, digits: 0 | 1 = 1): string {
  const options = { maximumFractionDigits: digits };
  return kept(`decimal ${digits}`, (language) => new Intl.NumberFormat(language, options)).format(value);
}

/** Whether a time is within so many milliseconds from now, or past. */
export function isWithin(time: string, ms: number): boolean {
  return isPast(time, Date.now() + ms);
}

export function isPast(time: string, now = Date.now()): boolean {
  return Date.parse(time) <= now;
}

export function dateTime(time: string | number | Date): string {
  const options = { dateStyle: 'medium', timeStyle: 'medium' } as const;
  return kept('dateTime', (language) => new Intl.DateTimeFormat(language, options)).format(new Date(time));
}

export function date(time: string | number | Date): string {
  return kept('date', (language) => new Intl.DateTimeFormat(language, { dateStyle: 'medium' })).format(new Date(time));
}

export function clockTime(time: string | number | Date): string {
  const options = { hour: '2-digit', minute: '2-digit', second: '2-digit', hour12: false } as const;
  return kept('clock', (language) => new Intl.DateTimeFormat(language, options)).format(new Date(time));
}

/** The time of day; with the day, unless that is today. */
export function logTime(time: string | number | Date): string {
  const at = new Date(time);
  if (at.toDateString() === new Date().toDateString()) return clockTime(at);
  const options = { month: 'short', day: 'numeric' } as const;
  const day = kept('day', (language) => new Intl.DateTimeFormat(language, options)).format(at);
  return `${day} ${clockTime(at)}`;
}

/** For the edge of a chart: the time of day, or the day where the whole is longer than a day or two. */
export function shortTime(time: string | number | Date, spanMs: number): string {
  const long = spanMs > 2 * 86_400_000;
  const options = long
    ? ({ month: 'short', day: 'numeric' } as const)
    : ({ hour: '2-digit', minute: '2-digit' } as const);
  return kept(long ? 'day' : 'minute', (language) => new Intl.DateTimeFormat(language, options)).format(new Date(time));
}

/** A day in a list of days: Tue 24 Nov. */
export function dayName(time: string | number | Date): string {
  const options = { weekday: 'short', day: 'numeric', month: 'short' } as const;
  return kept('dayName', (language) => new Intl.DateTimeFormat(language, options)).format(new Date(time));
}

/** The hub puts texts of several lines into one; here they are several again. */
export function inLines(text: string): string {
  return text.replaceAll(/ ?↵ ?/g, '\n');
}

const units = [
  ['second', 60],
  ['minute', 60],
  ['hour', 24],
  ['day', 30],
  ['month', 12],
] as const;

/** 3 minutes ago, in 5 seconds. */
export function relative(time: string | number | Date, now = Date.now()): string {
  let value = (new Date(time).getTime() - now) / 1_000;
  const words = kept('relative', (language) => new Intl.RelativeTimeFormat(language, { numeric: 'auto' }));
  for (const [unit, most] of units) {
    if (Math.abs(value) < most) return words.format(Math.round(value), unit);
    value /= most;
  }
  return words.format(Math.round(value), 'year');
}
