import { CircleCheck, TriangleAlert, X } from 'lucide-react';
import { useReducer, useState } from 'react';
import { useTranslation } from 'react-i18next';
import type { JsonObject } from '../../api/types.ts';
import { relative } from '../../lib/format.ts';
import { Button, IconButton } from '../../ui/button.tsx';
import { TextField } from '../../ui/field.tsx';
import { Panel } from '../../ui/page.tsx';
import { toast } from '../../ui/toast.tsx';
import { drop, type Example, hasSecrets, keep, keptOf, takesSecrets, type Tried } from './kept.ts';

export interface Kept {
  readonly examples: readonly Example[];
  readonly tried: readonly Tried[];
  /** False where nothing is kept, because the arguments can hold a secret. */
  readonly isKept: boolean;
  readonly note: (args: JsonObject, ok: boolean) => void;
  readonly save: (example: Example) => boolean;
  readonly remove: (example: Example) => void;
  readonly clear: () => void;
}

/** What this browser keeps of a tool for its user. */
export function useKept(user: string, tool: string, schema: JsonObject): Kept {
  const [, changed] = useReducer((times: number) => times + 1, 0);
  const isKept = !takesSecrets(schema, schema);
  const examples = isKept ? keptOf('examples', user, tool) : [];
  const tried = isKept ? keptOf('tried', user, tool) : [];
  const act = <R,>(done: R): R => {
    changed();
    return done;
  };
  return {
    examples,
    tried,
    isKept,
    note(args, ok) {
      if (!isKept || hasSecrets(args) || Object.keys(args).length === 0) return;
      act(keep('tried', user, tool, { at: Date.now(), ok, args }));
    },
    save: (example) => isKept && !hasSecrets(example.args) && act(keep('examples', user, tool, example)),
    remove: (example) => act(drop('examples', user, tool, example)),
    clear: () => act(tried.forEach((each) => drop('tried', user, tool, each))),
  };
}

interface EarlierProps {
  readonly kept: Kept;
  /** Puts the arguments into the form; nothing is run. */
  readonly onFill: (args: JsonObject) => void;
}

/** Examples and earlier arguments of a tool; nothing while there are none. */
export function Earlier({ kept: { examples, tried, remove, clear }, onFill }: EarlierProps) {
  const { t } = useTranslation();
  if (examples.length === 0 && tried.length === 0) return null;
  return (
    <Panel
      flush
      title={t('play.kept')}
      lead={t('play.keptLead')}
      actions={
        tried.length > 0 && (
          <Button look="quiet" onClick={clear}>
            {t('play.clearTried')}
          </Button>
        )
      }
    >
      <ul aria-label={t('play.kept')} className="divide-line max-h-72 divide-y overflow-y-auto" tabIndex={0}>
        {examples.map((example) => (
          <li key={`example ${example.name}`} className="hover:bg-hover flex items-center gap-2 pr-2">
            <button type="button" className={rowClass} onClick={() => onFill(example.args)}>
              <span className="block truncate text-sm font-medium">{example.name}</span>
              <Arguments args={example.args} />
            </button>
            <IconButton
              icon={X}
              label={t('play.removeExample', { name: example.name })}
              onClick={() => remove(example)}
            />
          </li>
        ))}
        {tried.map(({ at, ok, args }) => {
          const Icon = ok ? CircleCheck : TriangleAlert;
          return (
            <li key={`tried ${at}`} className="hover:bg-hover">
              <button type="button" className={rowClass} onClick={() => onFill(args)}>
                <span className="text-soft flex items-center gap-1.5 text-xs">
                  <Icon size={13} aria-hidden className={ok ? 'text-good' : 'text-warn'} />
                  {t(ok ? 'play.ok' : 'play.notOk')} · {relative(at)}
                </span>
                <Arguments args={args} />
              </button>
            </li>
          );
        })}
      </ul>
    </Panel>
  );
}

const rowClass =
  'block w-full min-w-0 flex-1 px-4 py-2 text-left focus-visible:-outline-offset-2 pointer-coarse:min-h-10';

function Arguments({ args }: { readonly args: JsonObject }) {
  return <code className="block truncate text-xs">{JSON.stringify(args).slice(0, 300)}</code>;
}

interface SaveExampleProps {
  readonly kept: Kept;
  readonly args: JsonObject;
  readonly onDone: () => void;
}

/** Gives the arguments in the form a name. */
export function SaveExample({ kept, args, onDone }: SaveExampleProps) {
  const { t } = useTranslation();
  const [name, setName] = useState('');
  const save = () => {
    if (name.trim() === '') return;
    if (kept.save({ name: name.trim().slice(0, 80), args })) toast.good(t('play.exampleSaved'));
    else toast.bad(t('play.notSaved'));
    onDone();
  };
  return (
    <div className="flex flex-wrap items-end gap-2">
      <TextField
        className="min-w-40 flex-1"
        label={t('play.exampleName')}
        // Saving is not running.
        onKeyDown={(event) => {
          if (event.key !== 'Enter') return;
          event.preventDefault();
          save();
        }}
        autoFocus
        maxLength={80}
        value={name}
        onChange={(event) => setName(event.target.value)}
      />
      <Button onClick={save}>{t('common.save')}</Button>
      <Button look="quiet" onClick={onDone}>
        {t('common.cancel')}
      </Button>
    </div>
  );
}
