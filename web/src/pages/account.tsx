import { useMutation, useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import { ApiError, type FactorAsked, send } from '../api/client.ts';
import { groupsQuery, meQuery, queryClient, useMe } from '../api/queries.ts';
import { session } from '../api/session.ts';
import { FactorFields } from '../app/factor-fields.tsx';
import { problemAt } from '../lib/problems.ts';
import { Button } from '../ui/button.tsx';
import { FormError } from '../ui/failure.tsx';
import { TextField } from '../ui/field.tsx';
import { Page, Panel } from '../ui/page.tsx';
import { PasswordStrength } from '../ui/password-strength.tsx';
import { toast } from '../ui/toast.tsx';
import { SecondFactor } from './account-second-factor.tsx';
import { Sessions } from './account-sessions.tsx';

export function Account() {
  const { t } = useTranslation();
  const me = useMe();
  const { data: groups = [] } = useQuery(groupsQuery);
  const names = me.groups.map((id) => groups.find((group) => group.id === id)?.name ?? id);
  const facts = [
    [t('login.username'), me.username],
    [t('account.role'), t(me.isAdmin ? 'account.admin' : 'account.user')],
    ...(me.isAdmin
      ? []
      : [
          [t('account.servers'), me.servers.join(', ') || t('common.none')],
          [t('account.groups'), names.join(', ') || t('common.none')],
        ]),
  ];
  return (
    <Page title={t('account.title')}>
      <div className="grid items-start gap-5 md:grid-cols-2">
        <Panel title={t('account.you')}>
          <dl className="grid grid-cols-[auto_1fr] gap-x-6 gap-y-2 text-sm">
            {facts.map(([name, value]) => (
              <div key={name} className="contents">
                <dt className="text-soft">{name}</dt>
                <dd className="min-w-0 break-words">{value}</dd>
              </div>
            ))}
          </dl>
        </Panel>
        <Panel id="password" title={t('account.change')}>
          <ChangePassword />
        </Panel>
        <Panel id="factor" title={t('factor.title')} className="md:col-span-2">
          <SecondFactor />
        </Panel>
        <Panel id="sessions" title={t('sessions.title')} className="md:col-span-2">
          <Sessions />
        </Panel>
      </div>
    </Page>
  );
}

function ChangePassword() {
  const { t } = useTranslation();
  const me = useMe();
  const [current, setCurrent] = useState('');
  const [next, setNext] = useState('');
  const [again, setAgain] = useState('');
  const [code, setCode] = useState('');
  const [asked, setAsked] = useState<FactorAsked>();
  const different = again !== '' && again !== next;
  const change = useMutation({
    mutationFn: async (passkey: unknown) => {
      const factor = passkey === undefined ? { code } : { challenge: asked?.challenge, passkey };
      const body = { currentPassword: current, newPassword: next, ...(asked && factor) };
      await send('/auth/change-password', { method: 'POST', body, secondCredential: true });
    },
    onSuccess: () => {
      session.begin();
      void queryClient.invalidateQueries(meQuery);
      toast.good(t('account.changed'));
      setAsked(undefined);
      for (const clear of [setCurrent, setNext, setAgain, setCode]) clear('');
    },
    onError(error) {
      setCode('');
      if (error instanceof ApiError && error.asked) setAsked(error.asked);
    },
  });
  const { error } = change;
  const unplaced = error instanceof ApiError && problemAt(error, 'newPassword') !== undefined ? null : error;
  return (
    <form
      className="flex flex-col gap-4"
      onSubmit={(event) => {
        event.preventDefault();
        if (!different) change.mutate(undefined);
      }}
    >
      <TextField
        label={t('account.current')}
        type="password"
        autoComplete="current-password"
        required
        value={current}
        onChange={(event) => setCurrent(event.target.value)}
      />
      <TextField
        label={t('account.next')}
        hint={t('account.nextHint')}
        error={problemAt(error, 'newPassword')}
        type="password"
        autoComplete="new-password"
        required
        value={next}
        onChange={(event) => setNext(event.target.value)}
      />
      <PasswordStrength password={next} username={me.username} />
      <TextField
        label={t('account.again')}
        error={different ? t('account.different') : undefined}
        type="password"
        autoComplete="new-password"
        required
        value={again}
        onChange={(event) => setAgain(event.target.value)}
      />
      {asked && (
        <FactorFields asked={asked} code={code} onCode={setCode} onPasskey={(answer) => change.mutate(answer)} />
      )}
      <FormError error={unplaced} />
      <div>
        <Button look="primary" type="submit" busy={change.isPending}>
          {t('account.change')}
        </Button>
      </div>
    </form>
  );
}
