import { useMutation, useQuery } from '@tanstack/react-query';
import { RotateCw } from 'lucide-react';
import { useTranslation } from 'react-i18next';
import { ask, get } from '../../api/client.ts';
import { boot } from '../../boot.ts';
import { count } from '../../lib/format.ts';
import { Badge, type Tone } from '../../ui/badge.tsx';
import { Button } from '../../ui/button.tsx';
import { Failure, useErrorText } from '../../ui/failure.tsx';
import { Loading, Panel } from '../../ui/page.tsx';
import { toast } from '../../ui/toast.tsx';

/** `GET /smart-routing/performance`, as far as it is shown. */
interface Performance {
  readonly config: { readonly provider: string; readonly model: string | null };
  readonly vectorStore: { readonly place: string };
  readonly coverage: {
    readonly tools: number;
    readonly embeddedTools: number;
    readonly missingIndexServers: readonly string[];
  };
  readonly service: { readonly state: 'working' | 'builtin' | 'degraded'; readonly problem: string | null };
  readonly reindexing: boolean;
}

const tones: Record<Performance['service']['state'], Tone> = { working: 'good', builtin: 'good', degraded: 'warn' };
const places = ['builtin', 'memory', 'database', 'file'] as const;

/** How far the index is, and making it anew. */
export function IndexPanel() {
  const { t } = useTranslation();
  const words = useErrorText();
  const state = useQuery({
    queryKey: ['smart-performance'],
    queryFn: ({ signal }) => get<Performance>('/smart-routing/performance', signal),
    refetchInterval: ({ state: { data } }) => (data?.reindexing === true ? 1_000 : 5_000),
  });
  const reindex = useMutation({
    mutationFn: () => ask('/smart-routing/reindex', { method: 'POST' }),
    onSuccess: ({ message }) => toast.good(message ?? t('smart.reindexed')),
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
        <State performance={state.data} />
      ) : (
        <Loading rows={2} />
      )}
    </Panel>
  );
}

function State({ performance: { config, vectorStore, coverage, service } }: { readonly performance: Performance }) {
  const { t } = useTranslation();
  const { tools, embeddedTools, missingIndexServers } = coverage;
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
      {service.problem !== null && <p className="text-warn break-words">{service.problem}</p>}
      <progress aria-label={text} className="accent-accent h-2 w-full" value={done} max={Math.max(1, tools)} />
      <p className="text-soft text-xs">
        {text} · {t('smart.place')}: {place ? t(`smart.places.${place}`) : vectorStore.place}
      </p>
      {!isBuiltin && missingIndexServers.length > 0 && (
        <p className="text-warn text-xs break-words">{t('smart.missing', { names: missingIndexServers.join(', ') })}</p>
      )}
    </div>
  );
}
