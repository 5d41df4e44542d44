import { useMutation } from '@tanstack/react-query';
import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import { ApiError, ask } from '../../api/client.ts';
import { useAction } from '../../lib/action.ts';
import { inOrderOf, objectIn } from '../../lib/json.ts';
import { Badge, type Tone } from '../../ui/badge.tsx';
import { Button } from '../../ui/button.tsx';
import { confirm } from '../../ui/confirm.tsx';
import { DiffLines } from '../../ui/diff-lines.tsx';
import { fileClass, SelectField, TextAreaField, Field } from '../../ui/field.tsx';
import { Panel } from '../../ui/page.tsx';
import { toast } from '../../ui/toast.tsx';
import { many } from '../../lib/format.ts';
import { Problems } from '../../ui/failure.tsx';

interface Change {
  readonly kind: 'server' | 'group' | 'user' | 'system';
  readonly name: string;
  readonly change: 'added' | 'changed' | 'removed';
  readonly before?: unknown;
  readonly after?: unknown;
}

interface Outcome {
  readonly changes: readonly Change[];
  /** What stays as it is: the file's values for it are not taken. */
  readonly skipped: readonly {
    readonly kind: 'user' | 'key' | 'section' | 'publication' | 'owner';
    readonly name: string;
  }[];
}

const tones: Record<Change['change'], Tone> = { added: 'good', changed: 'accent', removed: 'bad' };

/** A settings file, looked at change by change before anything is applied. */
export function ImportSettings() {
  const { t } = useTranslation();
  const [text, setText] = useState('');
  const [mode, setMode] = useState('merge');
  const run = async (dryRun: boolean) => {
    const { value, why } = objectIn(text);
    if (!value) throw new ApiError(400, t('servers.form.jsonBad', { why: why ?? '' }));
    const path = `/mcp-settings/import?mode=${mode}${dryRun ? '&dryRun=true' : ''}`;
    return (await ask<Outcome>(path, { method: 'POST', body: value })).data;
  };
  const look = useMutation({ mutationFn: () => run(true) });
  const apply = useAction<void, Outcome>({
    run: () => run(false),
    done: ({ changes }) => {
      toast.good(t('settings.applied', many(changes.length)));
      setText('');
      look.reset();
    },
    quiet: true,
  });
  const change = (next: string) => {
    setText(next);
    look.reset();
    apply.reset();
  };
  const askFirst = async (changes: readonly Change[]) => {
    const removed = changes.filter((each) => each.change === 'removed').length;
    const title = t('settings.removeTitle', many(removed));
    const sure =
      removed === 0 || (await confirm({ title, text: t('settings.removeText'), action: t('common.remove') }));
    if (sure) apply.mutate();
  };
  return (
    <Panel title={t('settings.importTitle')} lead={t('settings.importText')}>
      <div className="flex flex-col gap-4">
        <Field label={t('settings.file')}>
          {(bind) => (
            <input
              type="file"
              accept="application/json,.json"
              className={fileClass}
              onChange={(event) => void event.target.files?.[0]?.text().then(change)}
              {...bind}
            />
          )}
        </Field>
        <TextAreaField
          code
          label={t('settings.paste')}
          rows={8}
          value={text}
          onChange={(event) => change(event.target.value)}
        />
        <SelectField
          label={t('settings.mode')}
          value={mode}
          onChange={(event) => {
            setMode(event.target.value);
            look.reset();
          }}
          options={[
            { value: 'merge', label: t('settings.merge') },
            { value: 'replace', label: t('settings.replace') },
          ]}
        />
        <Problems error={look.error ?? apply.error} known={[]} />
        {look.data && <Result outcome={look.data} />}
        {apply.data && !look.data && (
          <section aria-label={t('settings.done')} className="flex flex-col gap-2">
            <h3 className="text-sm font-medium">{t('settings.done')}</h3>
            <Result outcome={apply.data} />
          </section>
        )}
        <div className="flex flex-wrap gap-2">
          {look.data && look.data.changes.length > 0 ? (
            <Button look="primary" busy={apply.isPending} onClick={() => void askFirst(look.data.changes)}>
              {t('settings.apply', many(look.data.changes.length))}
            </Button>
          ) : (
            <Button busy={look.isPending} disabled={text.trim() === ''} onClick={() => look.mutate()}>
              {t('settings.look')}
            </Button>
          )}
        </div>
      </div>
    </Panel>
  );
}

function Result({ outcome: { changes, skipped } }: { readonly outcome: Outcome }) {
  const { t } = useTranslation();
  return (
    <>
      <Changes changes={changes} />
      {skipped.length > 0 && (
        <details>
          <summary className="rounded-sm text-sm font-medium">
            {t('settings.skipped')} <span className="text-soft tabular-nums">{skipped.length}</span>
          </summary>
          <ul
            tabIndex={0}
            aria-label={t('settings.skipped')}
            className="divide-line mt-1 max-h-56 divide-y overflow-y-auto text-sm"
          >
            {skipped.map(({ kind, name }, index) => (
              // Keys may have the same name.
              <li key={`${kind} ${name} ${index}`} className="py-1.5">
                <span className="font-medium break-all">{name}</span>{' '}
                <span className="text-soft text-xs">{t(`settings.why.${kind}`)}</span>
              </li>
            ))}
          </ul>
        </details>
      )}
    </>
  );
}

/** More differences than this are opened one by one. */
const shownAtOnce = 5;

function Changes({ changes }: { readonly changes: readonly Change[] }) {
  const { t } = useTranslation();
  if (changes.length === 0) return <p className="text-soft text-sm">{t('settings.same')}</p>;
  return (
    <ul className="border-line divide-line divide-y rounded-lg border">
      {changes.map((each) => (
        <li key={`${each.kind} ${each.name}`} className="px-3 py-2">
          <details open={changes.length <= shownAtOnce}>
            <summary className="rounded-sm text-sm">
              <span className="inline-flex flex-wrap items-center gap-2">
                <Badge tone={tones[each.change]}>{t(`settings.change.${each.change}`)}</Badge>
                <span className="text-soft">{t(`settings.kind.${each.kind}`)}</span>
                <span className="font-medium break-all">{each.name}</span>
              </span>
            </summary>
            <Diff change={each} />
          </details>
        </li>
      ))}
    </ul>
  );
}

function Diff({ change: { name, before, after } }: { readonly change: Change }) {
  const { t } = useTranslation();
  return (
    <div className="mt-2">
      <DiffLines
        label={t('settings.diff', { name })}
        before={textOf(before)}
        after={textOf(inOrderOf(before, after))}
      />
    </div>
  );
}

function textOf(value: unknown): string {
  return value === undefined ? '' : JSON.stringify(value, null, 2);
}
