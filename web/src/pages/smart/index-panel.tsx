import { queryOptions, useMutation, useQuery } from '@tanstack/react-query';
import { RotateCw } from 'lucide-react';
import { useTranslation } from 'react-i18next';
import { ask, get } from '../../api/client.ts';
import { boot } from '../../boot.ts';
import { count, relative } from '../../lib/format.ts';
import { useNow } from '../../lib/now.ts';
import { Badge, type Tone } from '../../ui/badge.tsx';
import { Bar } from '../../ui/bar.tsx';
import { Button } from '../../ui/button.tsx';
import { Failure, useErrorText } from '../../ui/failure.tsx';
import { Loading, Panel } from '../../ui/page.tsx';
import { toast } from '../../ui/toast.tsx';

/** `GET /smart-routing/performance`, as far as it is shown. */
export interface Performance {
  readonly config: { readonly provider: string; readonly model: string | null };
  readonly vectorStore: { readonly place: string };
  readonly coverage: {
    readonly tools: number;
    readonly embeddedTools: number;
    readonly missingIndexServers: readonly string[];
    /** Why the service refused tools. */
    readonly refusals: readonly string[];
  };
  readonly service: {
    readonly state: 'working' | 'builtin' | 'degraded';
    readonly problem: string | null;
    readonly nextTrialAt: string | null;
  };
  /** Another model that is being indexed, and takes over when it knows every tool. */
  readonly next: {
    readonly model: string;
    readonly tools: number;
    readonly embeddedTools: number;
    readonly problem: string | null;
  } | null;
  readonly reindexing: boolean;
}

const tones: Record<Performance['service']['state'], Tone> = { working: 'good', builtin: 'good', degraded: 'warn' };
const places = ['builtin', 'memory', 'database', 'file'] as const;

export const performanceQuery = queryOptions({
  queryKey: ['smart-performance'],
  queryFn: ({ signal }) => get<Performance>('/smart-routing/performance', signal),
  refetchInterval: ({ state: { data } }) => (data?.reindexing === true ? 1_000 : 5_000),
});

/** How far the index is, and making it again. */
export function IndexPanel() {
  const { t } = useTranslation();
  const words = useErrorText();
  const state = useQuery(performanceQuery);
  const reindex = useMutation({
    mutationFn: () => ask<{ reindexing: boolean }>('/smart-routing/reindex', { method: 'POST' }),
    onSuccess: ({ data }) => toast.good(t(data.reindexing ? 'smart.stillIndexing' : 'smart.reindexed')),
    onError: (error) => toast.bad(words(error)),
    onSettled: () => void state.refetch(),
  });
  const busy = reindex.isPending || state.data?.reindexing === true;
  return (
    <Panel
      title={t('smart.index')}
      actions={
        !boot.readonly && (
          <Button icon={RotateCw} busy={busy} onClick={() => reindex.mutate()}>
            {t(busy ? 'smart.reindexing' : 'smart.reindex')}
          </Button>
        )
      }
    >
      {state.error ? (
        <Failure error={state.error} retry={() => void state.refetch()} />
      ) : state.data ? (
        <>
          <State performance={state.data} />
          {state.data.next && <Next next={state.data.next} />}
        </>
      ) : (
        <Loading rows={2} />
      )}
    </Panel>
  );
}

function State({ performance: { config, vectorStore, coverage, service } }: { readonly performance: Performance }) {
  const { t } = useTranslation();
  const now = useNow(1_000);
  const { tools, embeddedTools, missingIndexServers, refusals } = coverage;
  const place = places.find((each) => each === vectorStore.place);
  const isBuiltin = service.state === 'builtin';
  const done = isBuiltin ? tools : embeddedTools;
  const text = t('smart.embedded', { done: count(done), all: count(tools) });
  return (
    <div className="flex flex-col gap-2 text-sm">
      <p className="flex flex-wrap items-center gap-2">
        <Badge tone={tones[service.state]}>{t(`smart.states.${service.state}`)}</Badge>
        <span className="text-soft">{config.model}</span>
      </p>
      {service.problem !== null && (
        <p className="text-warn break-words">
          {service.problem}{' '}
          {service.nextTrialAt !== null && t('smart.trial', { when: relative(service.nextTrialAt, now) })}
        </p>
      )}
      <Bar kind="progressbar" label={text} value={done} most={tools} className="h-2 w-full" />
      <p className="text-soft text-xs">
        {text} · {t('smart.place')}: {place ? t(`smart.places.${place}`) : vectorStore.place}
      </p>
      {!isBuiltin && missingIndexServers.length > 0 && (
        <p className="text-warn text-xs break-words">{t('smart.missing', { names: missingIndexServers.join(', ') })}</p>
      )}
      {refusals.length > 0 && (
        <ul aria-label={t('smart.refusals')} className="text-warn list-disc pl-4 text-xs break-words">
          {refusals.map((why) => (
            <li key={why}>{why}</li>
          ))}
        </ul>
      )}
    </div>
  );
}

function Next({ next: { model, tools, embeddedTools, problem } }: { readonly next: NonNullable<Performance['next']> }) {
  const { t } = useTranslation();
  const text = t('smart.next', { model, done: count(embeddedTools), all: count(tools) });
  return (
    <div className="border-line mt-3 flex flex-col gap-2 border-t pt-3 text-xs">
      <p>{text}</p>
      <Bar kind="progressbar" label={text} value={embeddedTools} most={tools} className="h-2 w-full" />
      {problem !== null && <p className="text-warn break-words">{problem}</p>}
    </div>
  );
}
