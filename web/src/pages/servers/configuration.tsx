import { useNavigate } from '@tanstack/react-router';
import type { TFunction } from 'i18next';
import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import { ask, pathOf } from '../../api/client.ts';
import { useMe } from '../../api/queries.ts';
import type { ServerDetails } from '../../api/types.ts';
import { boot } from '../../boot.ts';
import { useAction } from '../../lib/action.ts';
import { count, many } from '../../lib/format.ts';
import { problemAt } from '../../lib/problems.ts';
import { Button } from '../../ui/button.tsx';
import { Code } from '../../ui/copy.tsx';
import { FormError, Problems } from '../../ui/failure.tsx';
import { TextAreaField, TextField } from '../../ui/field.tsx';
import { Panel } from '../../ui/page.tsx';
import { toast } from '../../ui/toast.tsx';
import { ofServer } from './actions.ts';
import { useConfigForm } from './config-form.ts';
import { fieldPaths, ServerFields } from './server-fields.tsx';

/** The configuration of a server, as a form or as JSON, and its name. */
export function Configuration({ server }: { readonly server: ServerDetails }) {
  const { t } = useTranslation();
  const { name, owner, config, configRestricted } = server;
  if (configRestricted === true) {
    return (
      <Panel>
        <p className="text-soft text-sm">{t('servers.restricted', { owner })}</p>
      </Panel>
    );
  }
  if (boot.readonly) return <Code label={t('servers.tabs.config')} text={JSON.stringify(config, null, 2)} />;
  return (
    <div className="grid items-start gap-5 lg:grid-cols-[3fr_2fr]">
      <Panel title={t('servers.tabs.config')}>
        <Form server={server} />
      </Panel>
      <div className="flex flex-col gap-5">
        <Panel title={t('servers.rename')}>
          <Rename name={name} />
        </Panel>
        <About server={server} />
      </div>
    </div>
  );
}

function Form({ server }: { readonly server: ServerDetails }) {
  const { t } = useTranslation();
  const me = useMe();
  const { draft, setDraft, json, setJson, why, turn, save, saving, error, isOvertaken } = useConfigForm(server);
  return (
    <form
      className="flex flex-col gap-4"
      onSubmit={(event) => {
        event.preventDefault();
        save();
      }}
    >
      {json === undefined ? (
        <ServerFields draft={draft} onChange={setDraft} error={error} programs={me.isAdmin} />
      ) : (
        <TextAreaField
          code
          label={t('servers.form.jsonLabel')}
          hint={t('servers.form.jsonHint')}
          error={why === undefined ? undefined : t('servers.form.jsonBad', { why })}
          rows={16}
          value={json}
          onChange={(event) => setJson(event.target.value)}
        />
      )}
      <Problems error={error} known={json === undefined ? fieldPaths : []} />
      {isOvertaken && (
        <p role="status" className="text-warn text-sm">
          {t('servers.form.overtaken')}
        </p>
      )}
      <div className="flex flex-wrap gap-2">
        <Button look="primary" type="submit" busy={saving}>
          {t('common.save')}
        </Button>
        <Button look="quiet" onClick={turn}>
          {t(json === undefined ? 'servers.form.json' : 'servers.form.asForm')}
        </Button>
      </div>
    </form>
  );
}

function Rename({ name }: { readonly name: string }) {
  const { t } = useTranslation();
  const navigate = useNavigate();
  const [next, setNext] = useState(name);
  const rename = useAction({
    run: () => ask(`/servers${pathOf(name)}`, { method: 'PUT', body: { newName: next } }),
    removes: () => (next.trim() === name ? [] : ofServer(name)),
    done: () => {
      toast.good(t('servers.renamed'));
      void navigate({ to: '/servers/$name', params: { name: next.trim() }, search: { tab: 'config' }, replace: true });
    },
    quiet: true,
  });
  return (
    <form
      className="flex flex-col gap-3"
      onSubmit={(event) => {
        event.preventDefault();
        rename.mutate();
      }}
    >
      <TextField
        label={t('servers.newName')}
        error={problemAt(rename.error, 'newName')}
        required
        value={next}
        onChange={(event) => setNext(event.target.value)}
      />
      {problemAt(rename.error, 'newName') === undefined && <FormError error={rename.error} />}
      <div>
        <Button type="submit" disabled={next.trim() === name || next.trim() === ''} busy={rename.isPending}>
          {t('servers.rename')}
        </Button>
      </div>
    </form>
  );
}

/** How much of the machine a program reaches, in words. */
function heldBy(sandbox: NonNullable<ServerDetails['sandbox']> | null, t: TFunction): string {
  if (sandbox === null) return t('servers.sandboxNone');
  const { network, read, write, memoryMb, cpus, processes, unbounded } = sandbox;
  return [
    t(network === 'host' ? 'servers.sandboxWithNetwork' : 'servers.sandboxWithoutNetwork'),
    ...(read.length > 0 ? [t('servers.sandboxReads', { paths: read.join(', ') })] : []),
    ...(write.length > 0 ? [t('servers.sandboxWrites', { paths: write.join(', ') })] : []),
    ...(memoryMb === undefined ? [] : [t('servers.sandboxMemory', { number: count(memoryMb) })]),
    ...(cpus === undefined ? [] : [t('servers.sandboxCpus', many(cpus))]),
    ...(processes === undefined ? [] : [t('servers.sandboxProcesses', many(processes))]),
    ...(unbounded === undefined ? [] : [t(`servers.sandboxUnbounded_${unbounded}`)]),
  ].join(' ');
}

function About({ server }: { readonly server: ServerDetails }) {
  const { t } = useTranslation();
  const { owner, type, version, protocolVersion, instructions, sandbox } = server;
  const facts = [
    [t('servers.owner'), owner],
    [t('servers.type'), type],
    [t('servers.form.sandbox'), sandbox === undefined ? undefined : heldBy(sandbox, t)],
    [t('servers.version'), version],
    [t('servers.protocol'), protocolVersion],
  ] as const;
  return (
    <Panel>
      <dl className="grid grid-cols-[auto_1fr] gap-x-5 gap-y-1.5 text-sm">
        {facts.map(([label, value]) =>
          value === undefined ? null : (
            <div key={label} className="contents">
              <dt className="text-soft">{label}</dt>
              <dd className="min-w-0 break-words">{value}</dd>
            </div>
          ),
        )}
      </dl>
      {instructions !== undefined && (
        <>
          <h3 className="text-soft mt-4 mb-1 text-xs font-medium">{t('servers.instructions')}</h3>
          <p
            tabIndex={0}
            role="region"
            aria-label={t('servers.instructions')}
            className="max-h-48 overflow-y-auto text-xs break-words whitespace-pre-wrap"
          >
            {instructions}
          </p>
        </>
      )}
    </Panel>
  );
}
