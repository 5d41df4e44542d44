import { Bookmark, Code2, Play, Square, Terminal } from 'lucide-react';
import { lazy, Suspense, useState } from 'react';
import { useTranslation } from 'react-i18next';
import { useMe } from '../../api/queries.ts';
import type { JsonObject, Tool } from '../../api/types.ts';
import { useFirstFocus } from '../../lib/focus.ts';
import { useNow } from '../../lib/now.ts';
import { dateTime, duration } from '../../lib/format.ts';
import { Button } from '../../ui/button.tsx';
import { CopyButton } from '../../ui/copy.tsx';
import { Panel } from '../../ui/page.tsx';
import { type CallState, useCall } from './call.ts';
import { appOf } from './app-host.ts';
import { ArgumentFields, useArguments } from './arguments.tsx';
import { clientText, curlText } from './as-text.ts';
import { Earlier, SaveExample, useKept } from './earlier.tsx';
import { Messages } from './messages.tsx';
import { Outcome } from './outcome.tsx';
import { Asked } from './questions.tsx';
import type { Replay } from './replay.ts';

/** Few tools have one. */
const App = lazy(() => import('./app-frame.tsx').then(({ App }) => ({ default: App })));

interface CallToolProps {
  readonly server: string;
  readonly tool: Tool;
  /** It was chosen just now: its first field, or the button that runs it, gets the focus. */
  readonly takesFocus: boolean;
  /** A recorded call that is to be made again. */
  readonly replay: Replay | undefined;
}

/** A tool: its arguments as a form or as JSON, and what it answers. */
export function CallTool({ server, tool, takesFocus, replay }: CallToolProps) {
  const { t } = useTranslation();
  const { username } = useMe();
  const form = useFirstFocus(takesFocus);
  const { originalName, title, description, enabled } = tool;
  const fields = useArguments(tool.inputSchema, replay?.kind === 'filled' ? replay.args : undefined);
  const [isNaming, setNaming] = useState(false);
  const kept = useKept(username, `${server} ${originalName}`, fields.schema);
  const { state, messages, run, cancel, answer } = useCall(server, originalName);
  const app = appOf(tool);
  const error = state.kind === 'failed' ? state.error : null;
  const call = async (value: JsonObject) => {
    const ok = await run(value);
    if (ok !== undefined) kept.note(value, ok);
  };
  return (
    <div className="flex min-w-0 flex-col gap-5">
      <Panel
        title={<code className="text-sm break-all">{originalName}</code>}
        lead={title}
        actions={<Button onClick={fields.toggle}>{t(fields.json === undefined ? 'play.json' : 'play.form')}</Button>}
      >
        <form
          ref={form}
          className="flex flex-col gap-4"
          onSubmit={(event) => {
            event.preventDefault();
            if (fields.value) void call(fields.value);
          }}
        >
          <Description text={description} />
          {replay && <Replayed replay={replay} />}
          {!enabled && <p className="bg-warn-wash text-warn rounded-md px-3 py-2 text-sm">{t('play.off')}</p>}
          <ArgumentFields fields={fields} error={error} />
          <div className="flex flex-wrap items-center gap-2">
            <Button look="primary" type="submit" icon={Play} busy={state.kind === 'running' || state.kind === 'asked'}>
              {t('play.run')}
            </Button>
            {state.kind === 'running' && (
              <Button icon={Square} onClick={cancel}>
                {t('play.cancel')}
              </Button>
            )}
            <span className="-mx-3 flex basis-full flex-wrap sm:mx-0 sm:ml-auto sm:basis-auto">
              {kept.isKept && fields.hasFields && (
                <Button look="quiet" icon={Bookmark} onClick={() => setNaming(true)}>
                  {t('play.saveExample')}
                </Button>
              )}
              <CopyButton
                icon={Terminal}
                label={t('play.copyCurl')}
                text={curlText(server, originalName, fields.shown)}
              />
              <CopyButton
                icon={Code2}
                label={t('play.copyClient')}
                text={clientText(server, originalName, fields.shown)}
              />
            </span>
          </div>
          {isNaming && <SaveExample kept={kept} args={fields.shown} onDone={() => setNaming(false)} />}
          {!kept.isKept && <p className="text-soft text-xs">{t('play.notKept')}</p>}
        </form>
      </Panel>
      <div role="status" aria-live="polite" className="empty:-mt-5">
        {state.kind === 'running' && <Running state={state} />}
        {state.kind === 'cancelled' && (
          <p className="panel text-soft p-4 text-sm">{t(state.givenUp ? 'play.givenUp' : 'play.cancelled')}</p>
        )}
      </div>
      {state.kind === 'asked' && (
        <Asked key={messages.length} server={server} questions={state.questions} onAnswer={answer} />
      )}
      {(state.kind === 'done' || state.kind === 'failed') && <Outcome state={state} />}
      {state.kind === 'done' && app !== undefined && (
        <Suspense fallback={null}>
          <App key={state.since} server={server} uri={app} args={state.args} result={{ ...state.result }} />
        </Suspense>
      )}
      <Messages messages={messages} />
      <Earlier kept={kept} onFill={fields.fill} />
    </div>
  );
}

/** What of a recorded call is in the form, or why nothing is. */
function Replayed({ replay }: { readonly replay: Replay }) {
  const { t } = useTranslation();
  const text =
    replay.kind === 'filled'
      ? t(replay.hasMasked ? 'play.replay.masked' : 'play.replay.filled', { time: dateTime(replay.at) })
      : t(`play.replay.${replay.why}`);
  return (
    <p role="status" className="bg-hover rounded-md px-3 py-2 text-sm">
      {text}
    </p>
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
