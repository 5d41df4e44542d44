import type { Change } from '../lib/changes.ts';

interface BeforeAfterProps {
  readonly changes: readonly Change[];
  readonly before: string;
  readonly after: string;
  /** The words for a value that was not, or is not there; without them it is left out. */
  readonly nothing?: string;
}

/** What differs, a value at a time: as it was, and as it is. */
export function BeforeAfter({ changes, before: was, after: is, nothing }: BeforeAfterProps) {
  return (
    <ul className="flex flex-col gap-2">
      {changes.map(({ path, before, after }) => (
        <li key={JSON.stringify(path)} className="border-line rounded-lg border text-xs">
          <p className="text-soft border-line border-b px-3 py-1.5 font-mono wrap-anywhere">{path.join(' › ')}</p>
          <Value label={was} sign="−" value={before} nothing={nothing} className="bg-bad-wash" />
          <Value label={is} sign="+" value={after} nothing={nothing} className="bg-good-wash" />
        </li>
      ))}
    </ul>
  );
}

interface ValueProps {
  readonly label: string;
  /** For readers who do not tell the colours apart. */
  readonly sign: string;
  readonly value: string | undefined;
  readonly nothing: string | undefined;
  readonly className: string;
}

function Value({ label, sign, value, nothing, className }: ValueProps) {
  if (value === undefined && nothing === undefined) return null;
  return (
    <p className={`flex gap-2 px-3 py-1.5 last:rounded-b-lg ${className}`}>
      <span aria-hidden className="font-mono">
        {sign}
      </span>
      <span className="sr-only">{label}: </span>
      {value === undefined ? (
        <span className="text-soft">{nothing}</span>
      ) : (
        <span className="min-w-0 font-mono wrap-anywhere whitespace-pre-wrap">{shown(value)}</span>
      )}
    </p>
  );
}

/** What is not seen is what texts hide behind. */
function shown(value: string): string {
  return value.replace(
    /[\u200B-\u200F\u202A-\u202E\u2060-\u2069\uFEFF\u00AD]|[\u{E0000}-\u{E007F}]/gu,
    (hidden) => `[U+${(hidden.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, '0')}]`,
  );
}
