import { useQuery } from '@tanstack/react-query';
import { useTranslation } from 'react-i18next';
import { ask } from '../../api/client.ts';
import { connectQuery, useMe } from '../../api/queries.ts';
import type { Key } from '../../api/types.ts';
import { boot } from '../../boot.ts';
import { useAction } from '../../lib/action.ts';
import { Failure, Problems } from '../../ui/failure.tsx';
import { Loading } from '../../ui/page.tsx';
import { type Choices, type Part, scopeOf } from './choices.ts';
import { Option, Options } from './option.tsx';

interface ChooseCredentialProps {
  readonly title: string;
  readonly choices: Choices;
  readonly onSet: (part: Part) => void;
  readonly onMade: (key: Key) => void;
}

/** A key that is made for this client, a sign-in, or nothing where the hub asks for nothing. */
export function ChooseCredential({ title, choices, onSet, onMade }: ChooseCredentialProps) {
  const { t } = useTranslation();
  const me = useMe();
  const connect = useQuery(connectQuery({ ...scopeOf(choices), key: true }));
  const make = useAction<void, { data: Key }>({
    run: () => ask<Key>('/auth/keys', { method: 'POST', body: { name: title, ...(me.isAdmin && openingOf(choices)) } }),
    done: ({ data }) => onMade(data),
    quiet: true,
  });
  if (connect.error) return <Failure error={connect.error} retry={() => void connect.refetch()} />;
  if (!connect.data) return <Loading rows={2} />;
  const { keyRequired, signIn, clients } = connect.data;
  const takesKey = clients.some(({ client }) => client === choices.client);
  const option = (credential: 'none' | 'signIn' | 'have') => (
    <Option
      key={credential}
      name={t(`connect.credential.${credential}`)}
      text={t(`connect.credential.${credential}Text`)}
      onChoose={() => onSet({ credential, key: undefined })}
    />
  );
  const key = takesKey && !boot.readonly && (
    <Option
      key="key"
      name={t('connect.credential.key')}
      text={t(make.isPending ? 'connect.credential.making' : 'connect.credential.keyText')}
      disabled={make.isPending}
      onChoose={() => make.mutate()}
    />
  );
  return (
    <div className="flex flex-col gap-3">
      <Options label={t('connect.steps.credential')}>
        {/* Without a credential the hub does not know whose client it is, and shows it to admins alone. */}
        {!keyRequired && me.isAdmin && option('none')}
        {key}
        {!keyRequired && !me.isAdmin && option('none')}
        {keyRequired && signIn && option('signIn')}
        {takesKey && option('have')}
      </Options>
      {boot.readonly && <p className="text-soft text-sm">{t('connect.credential.readonly')}</p>}
      <Problems error={make.error} known={[]} />
    </div>
  );
}

/** A key of the hub that opens no more than the client is to reach. Those of users open what their user reaches. */
function openingOf({ reach, name }: Choices) {
  if (name === undefined) return { accessType: 'all' };
  return reach === 'server'
    ? { accessType: 'servers', allowedServers: [name] }
    : { accessType: 'groups', allowedGroups: [name] };
}
