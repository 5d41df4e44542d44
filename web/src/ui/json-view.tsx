import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import { cx } from '../lib/cx.ts';
import { count } from '../lib/format.ts';
import { isObject } from '../lib/json.ts';
import { Button } from './button.tsx';
import { Code } from './copy.tsx';
import { rowsIn, type Rows } from './json-rows.ts';

type Mode = 'tree' | 'table' | 'text';

interface JsonViewProps {
  readonly label: string;
  readonly value: unknown;
  /** As it came, where it came as a text: a long number has all its digits there. */
  readonly text?: string;
}

/** A JSON value as a tree, as a table where it is a list of objects, or as text to copy. */
export function JsonView({ label, value, text }: JsonViewProps) {
  const { t } = useTranslation();
  const rows = rowsIn(value);
  const [chosen, setMode] = useState<Mode>();
  const modes: readonly Mode[] = rows ? ['table', 'tree', 'text'] : ['tree', 'text'];
  const mode = modes.find((each) => each === chosen) ?? modes[0];
  return (
    <div>
      <div role="group" aria-label={t('json.as', { name: label })} className="mb-1 flex items-center gap-1">
        <span className="text-soft min-w-0 flex-1 truncate text-xs font-medium">{label}</span>
        {modes.map((each) => (
          <button
            key={each}
            type="button"
            aria-pressed={each === mode}
            onClick={() => setMode(each)}
            className="text-soft aria-pressed:bg-accent-wash aria-pressed:text-accent-ink hover:bg-hover min-h-6 rounded-md px-2 text-xs font-medium pointer-coarse:min-h-10"
          >
            {t(`json.${each}`)}
          </button>
        ))}
      </div>
      {mode === 'text' ? (
        <Code wrap={text !== undefined} label={label} text={text ?? JSON.stringify(value, null, 2)} />
      ) : (
        <div
          role="region"
          aria-label={label}
          tabIndex={0}
          className="border-line bg-page max-h-96 overflow-auto rounded-lg border text-xs leading-relaxed focus-visible:-outline-offset-2"
        >
          {mode === 'table' && rows ? (
            <Table label={label} {...rows} />
          ) : (
            <ul className="p-3">
              <Node value={value} isOpenAtFirst />
            </ul>
          )}
        </div>
      )}
    </div>
  );
}

/** How many members of a list are shown, and how many more with each click. */
const step = 100;
/** A longer text is shown whole as text. */
const mostChars = 2_000;

interface NodeProps {
  /** Its member or place in what is around it. */
  readonly name?: string;
  readonly value: unknown;
  readonly isOpenAtFirst?: boolean;
}

/** What is inside is there once it is opened. */
function Node({ name, value, isOpenAtFirst = false }: NodeProps) {
  const { t } = useTranslation();
  const [isOpen, setOpen] = useState(isOpenAtFirst);
  const [shown, setShown] = useState(step);
  const key = name !== undefined && <span className="text-accent-ink break-all">{name}: </span>;
  if (!isObject(value) && !Array.isArray(value)) {
    return (
      <li className="font-mono wrap-anywhere whitespace-pre-wrap">
        {key}
        <Leaf value={value} />
      </li>
    );
  }
  const members = Object.entries(value);
  const [open, close] = Array.isArray(value) ? ['[', ']'] : ['{', '}'];
  if (members.length === 0) {
    return (
      <li className="font-mono">
        {key}
        {open + close}
      </li>
    );
  }
  return (
    <li>
      <details open={isOpen} onToggle={(event) => setOpen(event.currentTarget.open)}>
        <summary className="rounded-sm font-mono pointer-coarse:min-h-10 pointer-coarse:content-center">
          {key}
          <span className="text-soft">{`${open}${count(members.length)}${close}`}</span>
        </summary>
        {isOpen && (
          <ul className="border-line ml-1 border-l pl-4">
            {members.slice(0, shown).map(([each, inner]) => (
              <Node key={each} name={each} value={inner} isOpenAtFirst={members.length <= 8 && isSmall(inner)} />
            ))}
            {members.length > shown && (
              <li>
                <Button look="quiet" onClick={() => setShown(shown + step)}>
                  {t('json.more', { number: count(members.length - shown) })}
                </Button>
              </li>
            )}
          </ul>
        )}
      </details>
    </li>
  );
}

function isSmall(value: unknown): boolean {
  return typeof value === 'object' && value !== null && Object.keys(value).length <= 5;
}

function Leaf({ value }: { readonly value: unknown }) {
  if (typeof value !== 'string') return <span className="text-warn">{String(value)}</span>;
  return <span>{value.length > mostChars ? `${value.slice(0, mostChars)}…` : value}</span>;
}

function Table({ label, at, columns, rows }: Rows & { readonly label: string }) {
  const { t } = useTranslation();
  const [shown, setShown] = useState(step);
  return (
    <>
      <table className="min-w-full">
        <caption className="sr-only">{at ?? label}</caption>
        <thead>
          <tr>
            {columns.map((name) => (
              <th key={name} scope="col" className="bg-page text-soft sticky top-0 px-3 py-1.5 text-left font-medium">
                {name}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.slice(0, shown).map((row, index) => (
            // Rows have no name but their place.
            <tr key={index} className="border-line border-t">
              {columns.map((name) => (
                <td
                  key={name}
                  className={cx('max-w-72 px-3 py-1 align-top', typeof row[name] === 'number' && 'tabular-nums')}
                >
                  <span className="line-clamp-3 min-w-16 break-words">{cellOf(row[name])}</span>
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
      {rows.length > shown && (
        <p className="p-2">
          <Button look="quiet" onClick={() => setShown(shown + step)}>
            {t('json.more', { number: count(rows.length - shown) })}
          </Button>
        </p>
      )}
    </>
  );
}

function cellOf(value: unknown): string {
  if (value === undefined) return '';
  const text = typeof value === 'string' ? value : JSON.stringify(value);
  return text.length > 300 ? `${text.slice(0, 300)}…` : text;
}
