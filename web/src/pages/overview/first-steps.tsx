import { Link } from '@tanstack/react-router';
import { Circle, CircleCheck } from 'lucide-react';
import { useTranslation } from 'react-i18next';
import type { ClientSeen, Me, ServerSummary } from '../../api/types.ts';
import { boot } from '../../boot.ts';
import { Button, buttonClass } from '../../ui/button.tsx';
import { Panel } from '../../ui/page.tsx';

/** What comes with the hub (`src/settings/sample.ts`). */
const samples = new Set(['filesystem', 'memory', 'everything']);

/** The first steps of a user, with what the hub sees done. */
export function stepsOf(
  me: Me,
  servers: readonly ServerSummary[] | undefined,
  clients: readonly ClientSeen[],
  calls: readonly { readonly principal: string }[],
) {
  // Those of users come from the playground.
  const hasCalled = clients.some((each) => each.hasCalled) || calls.some(({ principal }) => principal !== 'user');
  return [
    ...(me.passwordIsInitial === undefined && me.passwordIsWeak === undefined && !me.isAdmin
      ? []
      : [{ name: 'password' as const, isDone: me.passwordIsInitial !== true && me.passwordIsWeak !== true }]),
    { name: 'connect' as const, isDone: clients.length > 0 || hasCalled },
    { name: 'call' as const, isDone: hasCalled },
    ...(me.isAdmin && !boot.readonly
      ? [{ name: 'server' as const, isDone: servers?.some(({ name }) => !samples.has(name)) === true }]
      : []),
  ];
}

type Steps = ReturnType<typeof stepsOf>;

/** What to do first on a new hub. Each step is ticked by what the hub sees, while one looks. */
export function Checklist({ steps, onPutAway }: { readonly steps: Steps; readonly onPutAway: () => void }) {
  const { t } = useTranslation();
  const next = steps.find(({ isDone }) => !isDone);
  return (
    <Panel
      flush
      title={t(next ? 'first.title' : 'first.allDone')}
      lead={t('first.lead', { done: steps.filter(({ isDone }) => isDone).length, all: steps.length })}
      actions={
        <Button look={next ? 'quiet' : 'primary'} onClick={onPutAway}>
          {t('first.putAway')}
        </Button>
      }
    >
      <ol className="divide-line divide-y" aria-live="polite">
        {steps.map(({ name, isDone }) => (
          <li key={name} className="flex flex-wrap items-center gap-x-3 gap-y-2 px-4 py-3">
            {isDone ? (
              <CircleCheck size={20} aria-hidden className="text-good shrink-0" />
            ) : (
              <Circle size={20} aria-hidden className="text-soft shrink-0" />
            )}
            <div className="min-w-0 flex-1 basis-48 text-sm">
              <p className="font-medium">
                {t(`first.${name}`)}
                {isDone && <span className="sr-only"> {t('first.done')}</span>}
              </p>
              <p className="text-soft">{t(`first.${name}Text`)}</p>
            </div>
            {!isDone && <StepLink name={name} isNext={name === next?.name} />}
          </li>
        ))}
      </ol>
    </Panel>
  );
}

function StepLink({ name, isNext }: { readonly name: Steps[number]['name']; readonly isNext: boolean }) {
  const { t } = useTranslation();
  const look = buttonClass(isNext ? 'primary' : 'plain');
  if (name === 'server')
    return (
      <Link to="/servers" search={{ add: 'form' }} className={look}>
        {t('servers.add')}
      </Link>
    );
  if (name === 'password')
    return (
      <Link to="/account" className={look}>
        {t('account.change')}
      </Link>
    );
  // Its call comes by itself: while there is no client, the way to it is that of the step before.
  return name === 'connect' ? (
    <Link to="/account/connect" className={look}>
      {t('connect.title')}
    </Link>
  ) : null;
}
