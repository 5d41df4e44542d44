import type { LogFields, Logger } from '../../core/logger.ts';
import { mask } from '../../core/mask.ts';
import type { OpenedFor } from './owner.ts';

/** Shorter ones are left: to replace every "abc" would damage texts and protect nothing. */
const leastChars = 4;

/** Takes values that belong to one caller out of what a server says: it may repeat what it was sent. */
export function hiding(values: readonly string[], clean: (text: string) => string = (text) => text) {
  const forms = values
    .filter((value) => value.length >= leastChars)
    .flatMap((value) => [value, JSON.stringify(value).slice(1, -1), encodeURIComponent(value)])
    .toSorted((a, b) => b.length - a.length);
  if (forms.length === 0) return clean;
  return (text: string): string => forms.reduce((shown, form) => shown.replaceAll(form, mask), clean(text));
}

/** What of one caller a connection was opened with: its server may repeat that as long as the connection lives. */
export function valuesOf({ headers, own }: OpenedFor): string[] {
  return [headers, own?.env, own?.headers, own?.args].flatMap((values) => Object.values(values ?? {}));
}

/** A logger whose entries go through `clean`. */
export function cleanLog(log: Logger, clean: (text: string) => string): Logger {
  const fieldsOf = (fields: LogFields | undefined): LogFields | undefined =>
    fields &&
    Object.fromEntries(
      Object.entries(fields).map(([key, value]) => [key, typeof value === 'string' ? clean(value) : value]),
    );
  const at =
    (level: keyof Logger): Logger['info'] =>
    (message, fields) =>
      log[level](clean(message), fieldsOf(fields));
  return { debug: at('debug'), info: at('info'), warn: at('warn'), error: at('error') };
}
