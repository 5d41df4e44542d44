import { useQuery } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import { ApiError, ask } from '../../api/client.ts';
import { serverNamesQuery, useMe } from '../../api/queries.ts';
import { useAction } from '../../lib/action.ts';
import { problemAt } from '../../lib/problems.ts';
import { Button } from '../../ui/button.tsx';
import { DialogForm } from '../../ui/dialog-form.tsx';
import { TextField } from '../../ui/field.tsx';
import { toast } from '../../ui/toast.tsx';
import { AskedValues } from './asked-values.tsx';
import { freeName, type Given, withGiven, type NewServer } from './asks.ts';
import { configOf } from './config.ts';
import { fieldPaths, ServerFields } from './server-fields.tsx';

interface AddByHandProps {
  readonly server: NewServer;
  readonly onChange: (server: NewServer) => void;
  readonly onClose: () => void;
}

/** A new server in a form: by hand, pasted, or of the catalogue, which asks only for what it cannot know. */
export function AddByHand({ server, onChange, onClose }: AddByHandProps) {
  const { t } = useTranslation();
  const me = useMe();
  const navigate = useNavigate();
  const { name, draft, asks = [], isKnown = false } = server;
  const [given, setGiven] = useState<Given>({});
  const add = useAction({
    run: () => ask('/servers', { method: 'POST', body: { name, config: configOf(withGiven(draft, asks, given)) } }),
    done: () => {
      toast.good(t('servers.form.added', { name: name.trim() }));
      void navigate({ to: '/servers/$name', params: { name: name.trim() } });
    },
    quiet: true,
  });
  const isTaken = add.error instanceof ApiError && add.error.status === 409;
  const fields = (
    <ServerFields
      draft={draft}
      onChange={(draft) => onChange({ ...server, draft })}
      error={add.error}
      programs={me.isAdmin}
    />
  );
  const isWrongInside = fieldPaths.some((path) => path !== 'name' && problemAt(add.error, path) !== undefined);
  return (
    <DialogForm
      submit={t('common.add')}
      onSubmit={() => add.mutate()}
      busy={add.isPending}
      error={add.error}
      known={fieldPaths}
      onCancel={onClose}
    >
      <TextField
        label={t('servers.form.name')}
        hint={t('servers.form.nameHint')}
        error={problemAt(add.error, 'name')}
        name="server-name"
        required
        autoFocus
        autoCapitalize="none"
        spellCheck={false}
        value={name}
        onChange={(event) => onChange({ ...server, name: event.target.value })}
      />
      {isTaken && <OtherName name={name.trim()} onChoose={(other) => onChange({ ...server, name: other })} />}
      <AskedValues asks={asks} given={given} onGive={setGiven} />
      {isKnown ? (
        <details open={isWrongInside || undefined}>
          <summary className="text-soft rounded-sm text-sm font-medium">{t('servers.form.how')}</summary>
          <div className="mt-3 flex flex-col gap-4">{fields}</div>
        </details>
      ) : (
        fields
      )}
    </DialogForm>
  );
}

/** The name is taken: another one is a click away. */
function OtherName({ name, onChoose }: { readonly name: string; readonly onChoose: (name: string) => void }) {
  const { t } = useTranslation();
  const { data: servers } = useQuery(serverNamesQuery);
  const other = freeName(name, new Set(servers?.map((server) => server.name)));
  return (
    <div>
      <Button onClick={() => onChoose(other)}>{t('servers.form.useName', { name: other })}</Button>
    </div>
  );
}
