import { useQuery } from '@tanstack/react-query';
import { Check, EyeOff, Pin as PinIcon } from 'lucide-react';
import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import { ask, pathOf } from '../../api/client.ts';
import { systemQuery, useChangeSystem } from '../../api/system.ts';
import type { Pin } from '../../api/types.ts';
import { boot } from '../../boot.ts';
import { remarkIn } from '../../i18n/hub-texts.ts';
import { useAction } from '../../lib/action.ts';
import { count, dateTime } from '../../lib/format.ts';
import { BeforeAfter } from '../../ui/before-after.tsx';
import { Badge, type Tone } from '../../ui/badge.tsx';
import { Button } from '../../ui/button.tsx';
import { confirm } from '../../ui/confirm.tsx';
import { Failure } from '../../ui/failure.tsx';
import { Select } from '../../ui/select.tsx';
import { Empty, Loading, Page, Panel } from '../../ui/page.tsx';
import { changesOf } from '../../lib/changes.ts';
import { pinsQuery } from './queries.ts';
import { useRowFocus } from './row-focus.ts';

/** As many of a server as are drawn at once. */
const shownAtOnce = 200;

/** Which of them are shown; empty: all. */
interface Filter {
  readonly server: string;
  readonly state: string;
  readonly risk: string;
}

const all: Filter = { server: '', state: '', risk: '' };

/** What servers changed, held against what was approved: for admins. */
export function Pins() {
  const { t } = useTranslation();
  const found = useQuery(pinsQuery);
  const [filter, setFilter] = useState(all);
  const rows = useRowFocus();
  const pins = found.data ?? [];
  const shown = pins.filter(
    ({ server, state, risk }) =>
      (filter.server === '' || filter.server === server) &&
      (filter.state === '' || filter.state === state) &&
      (filter.risk === '' || filter.risk === risk),
  );
  const servers = [...new Set(shown.map(({ server }) => server))];
  return (
    <Page title={t('nav.pins')} lead={t('pins.lead')} actions={<Mode />}>
      {found.error ? (
        <Failure error={found.error} retry={() => void found.refetch()} />
      ) : !found.data ? (
        <Loading />
      ) : pins.length === 0 ? (
        <div className="panel">
          <Empty icon={PinIcon} title={t('pins.emptyTitle')} text={t('pins.emptyText')} />
        </div>
      ) : (
        <div {...rows} className="flex flex-col gap-5">
          <Filters pins={pins} filter={filter} onChange={setFilter} />
          {servers.length === 0 && <p className="text-soft text-sm">{t('pins.noneFits')}</p>}
          {servers.map((server) => (
            <OfServer key={server} server={server} pins={shown.filter((pin) => pin.server === server)} />
          ))}
        </div>
      )}
    </Page>
  );
}

/** What becomes of what servers change, where they have no mode of their own. */
function Mode() {
  const { t } = useTranslation();
  const { data: system } = useQuery(systemQuery);
  const change = useChangeSystem();
  return (
    system && (
      <label className="text-soft flex max-w-full min-w-0 flex-wrap items-center gap-2 text-sm">
        {t('pins.mode')}
        <Select
          value={system.pins?.mode ?? 'warn'}
          disabled={boot.readonly || change.isPending}
          onChange={({ target }) => change.mutate({ pins: { mode: target.value } })}
          options={(['warn', 'hold', 'off'] as const).map((value) => ({ value, label: t(`pins.modes.${value}`) }))}
        />
      </label>
    )
  );
}

interface FiltersProps {
  readonly pins: readonly Pin[];
  readonly filter: Filter;
  readonly onChange: (filter: Filter) => void;
}

function Filters({ pins, filter, onChange }: FiltersProps) {
  const { t } = useTranslation();
  const servers = [...new Set(pins.map(({ server }) => server))];
  const states = [...new Set(pins.map(({ state }) => state))];
  const choices = {
    server: servers.map((value) => ({ value, label: value })),
    state: states.map((value) => ({ value, label: t(`pins.states.${value}`) })),
    risk: (['high', 'low'] as const).map((value) => ({ value, label: t(`pins.risks.${value}`) })),
  };
  return (
    <div className="flex flex-wrap gap-2">
      {(['server', 'state', 'risk'] as const).map((part) => (
        <Select
          key={part}
          aria-label={t(`pins.${part}`)}
          value={filter[part]}
          onChange={({ target }) => onChange({ ...filter, [part]: target.value })}
          options={[{ value: '', label: `${t(`pins.${part}`)}: ${t('pins.any')}` }, ...choices[part]]}
        />
      ))}
    </div>
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
  const [most, setMost] = useState(shownAtOnce);
  const open = pins.filter(({ state }) => state !== 'rejected');
  const hideable = open.filter(({ state }) => state !== 'gone');
  const decideAll = async (decision: Decision, some: readonly Pin[]) => {
    const title = t(`pins.${decision}AllTitle`, { server });
    const text = t(`pins.${decision}AllText`, { number: count(some.length), count: some.length });
    if (await confirm({ title, text, action: t(`pins.${decision}All`) })) decide.mutate({ decision, pins: some });
  };
  const actions = open.length > 1 && !boot.readonly && (
    <>
      {hideable.length > 1 && (
        <Button icon={EyeOff} disabled={decide.isPending} onClick={() => void decideAll('reject', hideable)}>
          {t('pins.rejectAll')}
        </Button>
      )}
      <Button icon={Check} busy={decide.isPending} onClick={() => void decideAll('approve', open)}>
        {t('pins.approveAll')}
      </Button>
    </>
  );
  return (
    <Panel title={server} flush actions={actions}>
      <ul className="divide-line divide-y">
        {pins.slice(0, most).map((pin) => (
          <Waiting key={`${pin.kind} ${pin.name}`} pin={pin} />
        ))}
      </ul>
      {pins.length > most && (
        <p className="border-line border-t px-4 py-3">
          <Button onClick={() => setMost(most + shownAtOnce)}>
            {t('pins.more', { number: count(Math.min(shownAtOnce, pins.length - most)) })}
          </Button>
        </p>
      )}
    </Panel>
  );
}

const risks: Record<Pin['risk'], Tone> = { none: 'plain', low: 'warn', high: 'bad' };

function Waiting({ pin }: { readonly pin: Pin }) {
  const { t } = useTranslation();
  const { server, kind, name, state, risk, reasons, said, since } = pin;
  const decide = useDecision(server);
  const act = (decision: Decision) => decide.mutate({ decision, pins: [pin] });
  return (
    <li className="flex flex-col gap-2 px-4 py-3" tabIndex={-1} aria-label={`${t(`pins.kinds.${kind}`)} ${name}`}>
      <p className="flex flex-wrap items-center gap-2 text-sm font-medium wrap-anywhere">
        <span className="text-soft font-normal">{t(`pins.kinds.${kind}`)}</span> {name}
        <Badge>{t(`pins.states.${state}`)}</Badge>
        {risk !== 'none' && <Badge tone={risks[risk]}>{t(`pins.risks.${risk}`)}</Badge>}
      </p>
      {reasons.length > 0 && (
        <ul className="text-soft list-disc pl-5 text-xs">
          {reasons.map((reason, at) => (
            <li key={reason}>{remarkIn(said[at]) ?? reason}</li>
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
