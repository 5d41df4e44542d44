import { Code2, Play, Square, Terminal } from 'lucide-react';
import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import type { JsonObject, Tool } from '../../api/types.ts';
import { useFirstFocus } from '../../lib/focus.ts';
import { useNow } from '../../lib/now.ts';
import { problemAt } from '../../lib/problems.ts';
import { duration } from '../../lib/format.ts';
import { Button } from '../../ui/button.tsx';
import { CopyButton } from '../../ui/copy.tsx';
import { TextAreaField } from '../../ui/field.tsx';
import { Panel } from '../../ui/page.tsx';
import { isObject, objectIn } from '../../lib/json.ts';
import { type CallState, useCall } from './call.ts';
import { clientText, curlText } from './as-text.ts';
import { Outcome } from './outcome.tsx';
import { initial, plain } from './schema.ts';
import { ObjectFields } from './schema-field.tsx';

interface CallToolProps {
  readonly server: string;
  readonly tool: Tool;
  /** It was chosen just now: its first field, or the button that runs it, gets the focus. */
  readonly takesFocus: boolean;
}

/** A tool: its arguments as a form or as JSON, and what it answers. */
export function CallTool({ server, tool, takesFocus }: CallToolProps) {
  const { t } = useTranslation();
  const form = useFirstFocus(takesFocus);
  const { originalName, title, description, enabled } = tool;
  const schema = plain(tool.inputSchema ?? {}, tool.inputSchema ?? {});
  const [args, setArgs] = useState<JsonObject>(() => {
    const first = initial(schema, schema);
    return isObject(first) ? first : {};
  });
  const [json, setJson] = useState<string>();
  const parsed = json === undefined ? { value: args } : objectIn(json);
  const { state, run, cancel } = useCall(server, originalName);
  const error = state.kind === 'failed' ? state.error : null;
  const properties = isObject(schema['properties']) ? Object.keys(schema['properties']) : [];
  const given = parsed.value ?? args;
  return (
    <div className="flex min-w-0 flex-col gap-5">
      <Panel
        title={<code className="text-sm break-all">{originalName}</code>}
        lead={title}
        actions={
          <Button
            onClick={() => {
              if (json === undefined) return setJson(JSON.stringify(args, null, 2));
              if (parsed.value) setArgs(parsed.value);
              setJson(undefined);
            }}
          >
            {t(json === undefined ? 'play.json' : 'play.form')}
          </Button>
        }
      >
        <form
          ref={form}
          className="flex flex-col gap-4"
          onSubmit={(event) => {
            event.preventDefault();
            if (parsed.value) void run(parsed.value);
          }}
        >
          <Description text={description} />
          {!enabled && <p className="bg-warn-wash text-warn rounded-md px-3 py-2 text-sm">{t('play.off')}</p>}
          {json !== undefined ? (
            <TextAreaField
              code
              label={t('play.arguments')}
              rows={8}
              error={parsed.value ? undefined : t('play.noJson')}
              value={json}
              onChange={(event) => setJson(event.target.value)}
            />
          ) : properties.length === 0 ? (
            <p className="text-soft text-sm">{t('play.noArguments')}</p>
          ) : (
            <ObjectFields
              schema={schema}
              root={schema}
              value={args}
              onChange={setArgs}
              path="arguments"
              errorAt={(path) => problemAt(error, path)}
              depth={0}
            />
          )}
          <div className="flex flex-wrap items-center gap-2">
            <Button look="primary" type="submit" icon={Play} busy={state.kind === 'running'}>
              {t('play.run')}
            </Button>
            {state.kind === 'running' && (
              <Button icon={Square} onClick={cancel}>
                {t('play.cancel')}
              </Button>
            )}
            <span className="-mx-3 flex basis-full flex-wrap sm:mx-0 sm:ml-auto sm:basis-auto">
              <CopyButton icon={Terminal} label={t('play.copyCurl')} text={curlText(server, originalName, given)} />
              <CopyButton icon={Code2} label={t('play.copyClient')} text={clientText(server, originalName, given)} />
            </span>
          </div>
        </form>
      </Panel>
      <div role="status" aria-live="polite" className="empty:-mt-5">
        {state.kind === 'running' && <Running state={state} />}
        {state.kind === 'cancelled' && <p className="panel text-soft p-4 text-sm">{t('play.cancelled')}</p>}
      </div>
      {(state.kind === 'done' || state.kind === 'failed') && <Outcome state={state} />}
    </div>
  );
}

function Running({ state: { since, progress } }: { readonly state: Extract<CallState, { kind: 'running' }> }) {
  const { t } = useTranslation();
  const now = useNow(100);
  return (
    <div className="panel flex flex-col gap-2 p-4 text-sm">
      <p className="flex justify-between gap-4">
        <span>{progress?.message ?? t('play.running')}</span>
        <span aria-hidden className="text-soft tabular-nums">
          {duration(Math.max(0, now - since))}
        </span>
      </p>
      {progress && (
        <progress
          aria-label={t('play.progress')}
          className="accent-accent h-2 w-full"
          {...(progress.total !== undefined && { value: progress.progress, max: progress.total })}
        />
      )}
    </div>
  );
}

function Description({ text }: { readonly text: string }) {
  const { t } = useTranslation();
  if (text === '') return null;
  return (
    <p
      tabIndex={0}
      role="region"
      aria-label={t('servers.form.description')}
      className="text-soft max-h-40 overflow-y-auto text-sm break-words whitespace-pre-wrap"
    >
      {text}
    </p>
  );
}
