import { CircleAlert, CircleCheck, TriangleAlert } from 'lucide-react';
import { useTranslation } from 'react-i18next';
import { ApiError } from '../../api/client.ts';
import type { JsonObject } from '../../api/types.ts';
import { problemIn } from '../../i18n/hub-texts.ts';
import { duration } from '../../lib/format.ts';
import { isObject } from '../../lib/json.ts';
import { Code } from '../../ui/copy.tsx';
import { useErrorText } from '../../ui/failure.tsx';
import { JsonView } from '../../ui/json-view.tsx';
import { Panel } from '../../ui/page.tsx';
import type { CallState, ToolResult } from './call.ts';
import { endOf } from './call-end.ts';

type Ended = Extract<CallState, { kind: 'done' | 'failed' }>;

/** What came of a call: content of every kind, or why not and what to do. */
export function Outcome({ state }: { readonly state: Ended }) {
  const { t } = useTranslation();
  const time = <span className="text-soft text-xs tabular-nums">{duration(state.ms)}</span>;
  if (state.kind === 'failed') {
    return (
      <Panel
        title={
          <Heading
            tone="bad"
            text={t(`play.ended.${endOf(state.error instanceof ApiError ? state.error.status : 500)}`)}
          />
        }
        actions={time}
      >
        <Refused error={state.error} />
      </Panel>
    );
  }
  const { result } = state;
  return (
    <Panel
      title={<Heading tone={result.isError ? 'warn' : 'good'} text={t(result.isError ? 'play.failed' : 'play.ok')} />}
      lead={result.isError ? t('play.failedText') : undefined}
      actions={time}
    >
      <Result result={result} />
    </Panel>
  );
}

const icons = { good: CircleCheck, warn: TriangleAlert, bad: CircleAlert };
const colours = { good: 'text-good', warn: 'text-warn', bad: 'text-bad' };

function Heading({ tone, text }: { readonly tone: keyof typeof icons; readonly text: string }) {
  const Icon = icons[tone];
  return (
    <span className="flex items-center gap-2">
      <Icon size={16} aria-hidden className={colours[tone]} />
      {text}
    </span>
  );
}

const explained = ['0', '400', '404', '502', '503', '504'] as const;

function Refused({ error }: { readonly error: unknown }) {
  const { t } = useTranslation();
  const words = useErrorText();
  const status = error instanceof ApiError ? explained.find((each) => each === String(error.status)) : undefined;
  const problems = error instanceof ApiError ? error.problems : [];
  return (
    <div role="alert" className="flex flex-col gap-2 text-sm">
      <p className="break-words">{words(error)}</p>
      {status !== undefined && <p className="text-soft">{t(`play.why.${status}`)}</p>}
      {problems.length > 0 && (
        <ul className="list-disc pl-5">
          {problems.map((problem) => (
            <li key={`${problem.path} ${problem.message}`}>
              <code className="text-xs">{problem.path}</code> {problemIn(problem) ?? problem.message}
            </li>
          ))}
        </ul>
      )}
    </div>
  );
}

function Result({ result }: { readonly result: ToolResult }) {
  const { t } = useTranslation();
  const { content, structuredContent } = result;
  return (
    <div className="flex flex-col gap-3">
      {structuredContent !== undefined && <JsonView label={t('play.structured')} value={structuredContent} />}
      {content.map((block, index) => (
        // Blocks have no name but their place.
        <Block key={index} block={block} />
      ))}
      {content.length === 0 && structuredContent === undefined && (
        <p className="text-soft text-sm">{t('play.empty')}</p>
      )}
      <details>
        <summary className="text-soft rounded-sm text-xs font-medium">{t('play.raw')}</summary>
        <Code className="mt-2" label={t('play.raw')} text={JSON.stringify(result, null, 2)} />
      </details>
    </div>
  );
}

function Labelled({ label, children }: { readonly label: string; readonly children: React.ReactNode }) {
  return (
    <div>
      <p className="text-soft mb-1 text-xs font-medium">{label}</p>
      {children}
    </div>
  );
}

function Block({ block }: { readonly block: JsonObject }) {
  const { t } = useTranslation();
  const mime = typeof block['mimeType'] === 'string' ? block['mimeType'] : '';
  const data = typeof block['data'] === 'string' ? block['data'] : undefined;
  switch (block['type']) {
    case 'text':
      return <Text text={String(block['text'])} />;
    case 'image':
      if (data === undefined || !/^image\/[\w.+-]+$/.test(mime)) break;
      return (
        <img
          src={`data:${mime};base64,${data}`}
          alt={t('play.image')}
          className="border-line max-h-96 max-w-full self-start rounded-lg border bg-white"
        />
      );
    case 'audio':
      if (data === undefined || !/^audio\/[\w.+-]+$/.test(mime)) break;
      return (
        <audio controls src={`data:${mime};base64,${data}`} aria-label={t('play.audio')} className="w-full max-w-md" />
      );
    case 'resource': {
      const resource = isObject(block['resource']) ? block['resource'] : {};
      return (
        <Labelled label={`${t('play.resource')}: ${String(resource['uri'])}`}>
          {typeof resource['text'] === 'string' ? <Text text={resource['text']} /> : <Json value={resource} />}
        </Labelled>
      );
    }
    case 'resource_link':
      return (
        <Labelled label={t('play.resource')}>
          <code className="text-xs break-all">{String(block['uri'])}</code>{' '}
          <span className="text-soft text-xs">
            {typeof block['description'] === 'string' ? block['description'] : ''}
          </span>
        </Labelled>
      );
  }
  return <Json value={block} />;
}

/** Many tools answer with JSON in a text. */
function Text({ text }: { readonly text: string }) {
  const { t } = useTranslation();
  const parsed = jsonIn(text);
  if (parsed === undefined) return <Code wrap label={t('play.text')} text={text} />;
  return <JsonView label={t('play.text')} value={parsed} text={text} />;
}

function Json({ value }: { readonly value: unknown }) {
  const { t } = useTranslation();
  return <JsonView label={t('play.text')} value={value} />;
}

function jsonIn(text: string): unknown {
  if (!/^\s*[[{]/.test(text) || text.length > 200_000) return undefined;
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return undefined;
  }
}
