import { useQuery } from '@tanstack/react-query';
import { Check, EyeOff, Pin as PinIcon } from 'lucide-react';
import { useTranslation } from 'react-i18next';
import { ask, pathOf } from '../../api/client.ts';
import type { Pin } from '../../api/types.ts';
import { boot } from '../../boot.ts';
import { useAction } from '../../lib/action.ts';
import { count, dateTime } from '../../lib/format.ts';
import { BeforeAfter } from '../../ui/before-after.tsx';
import { Badge, type Tone } from '../../ui/badge.tsx';
import { Button } from '../../ui/button.tsx';
import { confirm } from '../../ui/confirm.tsx';
import { Failure } from '../../ui/failure.tsx';
import { Empty, Loading, Page, Panel } from '../../ui/page.tsx';
import { changesOf } from '../../lib/changes.ts';
import { pinsQuery } from './queries.ts';

/** As many as are drawn at once; the rest comes when these are decided. */
const shownMost = 200;

/** What servers changed, held against what was approved: for admins. */
export function Pins() {
  const { t } = useTranslation();
  const found = useQuery(pinsQuery);
  const pins = found.data ?? [];
  const servers = [...new Set(pins.map(({ server }) => server))];
  return (
    <Page title={t('nav.pins')} lead={t('pins.lead')}>
      {found.error ? (
        <Failure error={found.error} retry={() => void found.refetch()} />
      ) : !found.data ? (
        <Loading />
      ) : pins.length === 0 ? (
        <div className="panel">
          <Empty icon={PinIcon} title={t('pins.emptyTitle')} text={t('pins.emptyText')} />
        </div>
      ) : (
        servers.map((server) => (
          <OfServer key={server} server={server} pins={pins.filter((pin) => pin.server === server)} />
        ))
      )}
    </Page>
  );
}

type Decision = 'approve' | 'reject';

function useDecision(server: string) {
  return useAction<{ readonly decision: Decision; readonly pins: readonly Pin[] }>({
    run: ({ decision, pins }) =>
      ask(`/pins${pathOf(server, decision)}`, {
        method: 'POST',
        body: { items: pins.map(({ kind, name, hash }) => ({ kind, name, hash })) },
      }),
  });
}

function OfServer({ server, pins }: { readonly server: string; readonly pins: readonly Pin[] }) {
  const { t } = useTranslation();
  const decide = useDecision(server);
  const open = pins.filter(({ state }) => state !== 'rejected');
  const approveAll = async () => {
    const title = t('pins.approveAllTitle', { server });
    const text = t('pins.approveAllText', { number: count(open.length), count: open.length });
    if (await confirm({ title, text, action: t('pins.approveAll') }))
      decide.mutate({ decision: 'approve', pins: open });
  };
  const actions = open.length > 1 && !boot.readonly && (
    <Button icon={Check} busy={decide.isPending} onClick={() => void approveAll()}>
      {t('pins.approveAll')}
    </Button>
  );
  return (
    <Panel title={server} flush actions={actions}>
      <ul className="divide-line divide-y">
        {pins.slice(0, shownMost).map((pin) => (
          <Waiting key={`${pin.kind} ${pin.name}`} pin={pin} />
        ))}
      </ul>
      {pins.length > shownMost && (
        <p className="text-soft border-line border-t px-4 py-3 text-xs">
          {t('pins.more', { number: count(pins.length - shownMost), count: pins.length - shownMost })}
        </p>
      )}
    </Panel>
  );
}

const risks: Record<Pin['risk'], Tone> = { none: 'plain', low: 'warn', high: 'bad' };

function Waiting({ pin }: { readonly pin: Pin }) {
  const { t } = useTranslation();
  const { server, kind, name, state, risk, reasons, since } = pin;
  const decide = useDecision(server);
  const act = (decision: Decision) => decide.mutate({ decision, pins: [pin] });
  return (
    <li className="flex flex-col gap-2 px-4 py-3" aria-label={`${t(`pins.kinds.${kind}`)} ${name}`}>
      <p className="flex flex-wrap items-center gap-2 text-sm font-medium wrap-anywhere">
        <span className="text-soft font-normal">{t(`pins.kinds.${kind}`)}</span> {name}
        <Badge>{t(`pins.states.${state}`)}</Badge>
        {risk !== 'none' && <Badge tone={risks[risk]}>{t(`pins.risks.${risk}`)}</Badge>}
      </p>
      {reasons.length > 0 && (
        <ul className="text-soft list-disc pl-5 text-xs">
          {reasons.map((reason) => (
            <li key={reason}>{reason}</li>
          ))}
        </ul>
      )}
      <Difference pin={pin} />
      <p className="text-soft text-xs">{t('pins.since', { time: dateTime(since) })}</p>
      {!boot.readonly && (
        <div className="flex flex-wrap gap-2">
          <Button look="primary" icon={Check} busy={decide.isPending} onClick={() => act('approve')}>
            {t('pins.approve')}
          </Button>
          {state !== 'rejected' && state !== 'gone' && (
            <Button icon={EyeOff} disabled={decide.isPending} onClick={() => act('reject')}>
              {t('pins.reject')}
            </Button>
          )}
        </div>
      )}
    </li>
  );
}

/** What differs, a value at a time; of what is new all of it. */
function Difference({ pin: { before, now } }: { readonly pin: Pin }) {
  const { t } = useTranslation();
  const changes = changesOf({ before, after: now }).filter((one) => one.before !== one.after);
  return changes.length > 0 && <BeforeAfter changes={changes} before={t('pins.before')} after={t('pins.now')} />;
}
