import { useQuery } from '@tanstack/react-query';
import { LockKeyhole } from 'lucide-react';
import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import { ask, pathOf } from '../api/client.ts';
import { credentialsQuery } from '../api/queries.ts';
import type { UserCredential } from '../api/types.ts';
import { boot } from '../boot.ts';
import { useAction } from '../lib/action.ts';
import { relative } from '../lib/format.ts';
import { problemAt } from '../lib/problems.ts';
import { Badge } from '../ui/badge.tsx';
import { Button } from '../ui/button.tsx';
import { confirm } from '../ui/confirm.tsx';
import { Failure, FormError } from '../ui/failure.tsx';
import { TextField } from '../ui/field.tsx';
import { Empty, Loading, Page, Panel } from '../ui/page.tsx';
import { toast } from '../ui/toast.tsx';

/** What users set for themselves at servers with a `credentialTemplate`: one form for each. */
export function Credentials() {
  const { t } = useTranslation();
  const servers = useQuery(credentialsQuery);
  return (
    <Page title={t('nav.credentials')} lead={t('credentials.lead')}>
      {servers.error ? (
        <Failure error={servers.error} retry={() => void servers.refetch()} />
      ) : !servers.data ? (
        <Loading />
      ) : servers.data.length === 0 ? (
        <div className="panel">
          <Empty icon={LockKeyhole} title={t('credentials.emptyTitle')} text={t('credentials.emptyText')} />
        </div>
      ) : (
        <div className="grid items-start gap-5 md:grid-cols-2">
          {servers.data.map((server) => (
            <ServerCredentials key={server.name} server={server} />
          ))}
        </div>
      )}
    </Page>
  );
}

function ServerCredentials({ server }: { readonly server: UserCredential }) {
  const { t } = useTranslation();
  const { name, description, slots, configured, configuredSlots, updatedAt } = server;
  const [values, setValues] = useState<Readonly<Record<string, string>>>({});
  const path = `/credentials${pathOf(name)}`;
  const save = useAction({
    run: () => ask(path, { method: 'PUT', body: { values } }),
    quiet: true,
    done: () => {
      setValues({});
      toast.good(t('credentials.saved', { name }));
    },
  });
  const remove = useAction({
    run: () => ask(path, { method: 'DELETE' }),
    done: () => toast.good(t('credentials.removed', { name })),
  });
  const askFirst = async () => {
    const title = t('credentials.removeTitle', { name });
    if (await confirm({ title, text: t('credentials.removeText'), action: t('credentials.remove') })) remove.mutate();
  };
  const placeOf = (key: string): string => `values[${JSON.stringify(key)}]`;
  const isPlaced = slots.some(({ key }) => problemAt(save.error, placeOf(key)) !== undefined);
  return (
    <Panel title={name}>
      <form
        className="flex flex-col gap-4"
        onSubmit={(event) => {
          event.preventDefault();
          save.mutate();
        }}
      >
        <p className="text-soft flex flex-wrap items-center gap-2 text-sm">
          <Badge tone={configured ? 'good' : 'warn'}>{t(configured ? 'credentials.set' : 'credentials.missing')}</Badge>
          {description}
        </p>
        {slots.map(({ key, label, name: slot }) => (
          <TextField
            key={key}
            type="password"
            autoComplete="off"
            required
            disabled={boot.readonly}
            label={label ?? slot}
            hint={<code>{key}</code>}
            error={problemAt(save.error, placeOf(key))}
            value={values[key] ?? ''}
            onChange={(event) => setValues({ ...values, [key]: event.target.value })}
          />
        ))}
        {updatedAt !== null && (
          <p className="text-soft text-xs">{t('credentials.since', { time: relative(updatedAt) })}</p>
        )}
        {!isPlaced && <FormError error={save.error} />}
        {!boot.readonly && (
          <div className="flex justify-end gap-2">
            {configuredSlots.length > 0 && (
              <Button aria-label={t('credentials.removeOf', { name })} onClick={() => void askFirst()}>
                {t('credentials.remove')}
              </Button>
            )}
            <Button type="submit" look="primary" busy={save.isPending} aria-label={t('credentials.saveOf', { name })}>
              {t('credentials.save')}
            </Button>
          </div>
        )}
      </form>
    </Panel>
  );
}
