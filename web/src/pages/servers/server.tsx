import { useQuery } from '@tanstack/react-query';
import { getRouteApi, Link, useNavigate } from '@tanstack/react-router';
import { ChevronLeft, FlaskConical, LockKeyhole, LogIn, LogOut, Play, RotateCw, Trash2 } from 'lucide-react';
import { useTranslation } from 'react-i18next';
import { ApiError } from '../../api/client.ts';
import { serverQuery } from '../../api/queries.ts';
import type { ServerDetails } from '../../api/types.ts';
import { NotFound } from '../../app/dead-ends.tsx';
import { boot } from '../../boot.ts';
import { Button, buttonClass, IconButton } from '../../ui/button.tsx';
import { Failure } from '../../ui/failure.tsx';
import { Loading, Page } from '../../ui/page.tsx';
import { Switch } from '../../ui/switch.tsx';
import { TabPanel, Tabs } from '../../ui/tabs.tsx';
import { ConnectPanel } from '../groups/connect.tsx';
import { useDeleteServer, useReloadServer, useSignIn, useSignOut, useToggleServer } from './actions.ts';
import { conditionOf } from './condition.ts';
import { Configuration } from './configuration.tsx';
import { Prompts, Resources } from './items.tsx';
import { KeptPayloads } from './kept-payloads.tsx';
import { LogTail } from './log-tail.tsx';
import { Output, whatIsWrong, whatToDo } from './why.tsx';
import { EditLink, Status, Timing } from './status.tsx';
import { ToolList } from './tool-list.tsx';

const route = getRouteApi('/shell/servers/$name');

export function ServerPage() {
  const { name } = route.useParams();
  const server = useQuery(serverQuery(name));
  if (server.error instanceof ApiError && server.error.status === 404) return <NotFound />;
  if (server.data) return <Shown key={name} server={server.data} />;
  return (
    <Page title={name}>
      {server.error ? <Failure error={server.error} retry={() => void server.refetch()} /> : <Loading rows={6} />}
    </Page>
  );
}

function Shown({ server }: { readonly server: ServerDetails }) {
  const { t } = useTranslation();
  const { name, description, unsetVariables = [] } = server;
  return (
    <Page
      title={name}
      heading={
        <span className="flex flex-wrap items-center gap-x-2.5 gap-y-1">
          <Link to="/servers" aria-label={t('nav.servers')} className="touch text-soft hover:text-ink -ml-1 rounded-md">
            <ChevronLeft size={20} aria-hidden />
          </Link>
          {name}
          <Status server={server} />
        </span>
      }
      lead={description}
      actions={<Actions server={server} />}
    >
      {server.credentials?.configured === false && (
        <p role="status" className="bg-warn-wash text-warn rounded-lg px-4 py-3 text-sm">
          {t('servers.ownMissing')}
        </p>
      )}
      <KeptPayloads server={server} />
      <Trouble server={server} />
      {unsetVariables.length > 0 && (
        <div
          role="status"
          className="bg-warn-wash text-warn flex flex-wrap items-center gap-3 rounded-lg px-4 py-3 text-sm"
        >
          <div className="min-w-0 flex-1 basis-60">
            <p className="font-medium wrap-anywhere">{t('servers.unset', { names: unsetVariables.join(', ') })}</p>
            <p>{t('servers.unsetFix')}</p>
          </div>
          {server.status === 'connected' && server.configRestricted !== true && !boot.readonly && (
            <EditLink name={name}>{t('servers.configure')}</EditLink>
          )}
        </div>
      )}
      <Content server={server} />
    </Page>
  );
}

function Actions({ server }: { readonly server: ServerDetails }) {
  const { name, enabled, status, configRestricted, oauth, credentials, tools } = server;
  const { t } = useTranslation();
  const navigate = useNavigate();
  const toggle = useToggleServer();
  const reload = useReloadServer();
  const signIn = useSignIn();
  const signOut = useSignOut();
  const ownSignIn = oauth?.perUser === true && !boot.readonly;
  const remove = useDeleteServer(() => void navigate({ to: '/servers' }));
  const changeable = configRestricted !== true && !boot.readonly;
  return (
    <>
      {ownSignIn && oauth.signedIn === true && (
        <Button icon={LogOut} busy={signOut.isPending} onClick={() => signOut.mutate(name)}>
          {t('servers.signOut')}
        </Button>
      )}
      {(changeable || ownSignIn) && status === 'oauth_required' && (
        <Button look="primary" icon={LogIn} busy={signIn.isPending} onClick={() => signIn.start(name)}>
          {t('servers.signIn')}
        </Button>
      )}
      {credentials && (
        <Link to="/account/credentials" className={buttonClass(credentials.configured ? 'plain' : 'primary')}>
          <LockKeyhole size={15} aria-hidden />
          {t('nav.credentials')}
        </Link>
      )}
      {tools.length > 0 && (
        <Link to="/tools" search={{ server: name }} className={buttonClass()}>
          <FlaskConical size={15} aria-hidden />
          {t('servers.play')}
        </Link>
      )}
      {changeable && (
        <>
          <Button icon={status === 'asleep' ? Play : RotateCw} disabled={!enabled} onClick={() => reload.mutate(name)}>
            {t(status === 'asleep' ? 'servers.startNow' : 'servers.reload')}
          </Button>
          <IconButton icon={Trash2} label={t('common.delete')} onClick={() => void remove(name)} />
          <Switch
            label={t('servers.enable', { name })}
            checked={enabled}
            onChange={(next) => toggle.mutate({ name, enabled: next })}
          />
        </>
      )}
    </>
  );
}

/** Why it does not work, and what to do; nothing when it does. */
function Trouble({ server }: { readonly server: ServerDetails }) {
  const { t } = useTranslation();
  const { name, configRestricted } = server;
  const wrong = whatIsWrong(server);
  const condition = conditionOf(server);
  if (condition === 'connected') return null;
  // Also while the hub tries again: a button that goes and comes moves what is below it.
  const isBroken =
    condition === 'unusable' || condition === 'disconnected' || (condition === 'connecting' && wrong !== undefined);
  return (
    <section aria-label={t(`servers.state.${condition}`)} className="panel overflow-hidden">
      <div className="flex flex-col gap-1 p-4">
        {wrong !== undefined && (
          <p className="text-bad line-clamp-6 text-sm font-medium break-words whitespace-pre-line">{wrong}</p>
        )}
        <p className="text-sm">{whatToDo(server) ?? t(`servers.fix.${condition}`)}</p>
        <p className="text-soft text-sm tabular-nums empty:hidden">
          <Timing server={server} />
        </p>
        {configRestricted !== true && !boot.readonly && isBroken && (
          <p className="mt-2">
            <EditLink name={name}>{t(condition === 'unusable' ? 'servers.correct' : 'servers.configure')}</EditLink>
          </p>
        )}
        {condition !== 'disabled' && configRestricted !== true && <Output server={server} />}
      </div>
    </section>
  );
}

function Content({ server }: { readonly server: ServerDetails }) {
  const { t } = useTranslation();
  const { name, tools, prompts, resources, resourceTemplates } = server;
  const { tab = 'tools' } = route.useSearch();
  const navigate = useNavigate({ from: '/servers/$name' });
  const allResources = [...resources, ...resourceTemplates];
  const tabs = [
    { value: 'tools', label: labelOf(t('servers.tabs.tools'), tools.length) },
    { value: 'prompts', label: labelOf(t('servers.tabs.prompts'), prompts.length) },
    { value: 'resources', label: labelOf(t('servers.tabs.resources'), allResources.length) },
    { value: 'config', label: t('servers.tabs.config') },
    { value: 'log', label: t('servers.tabs.log') },
    { value: 'connect', label: t('servers.tabs.connect') },
  ];
  return (
    <Tabs
      label={name}
      value={tab}
      tabs={tabs}
      onChange={(value) => void navigate({ search: { tab: value }, replace: true })}
    >
      <TabPanel value="tools">
        <ToolList server={server} />
      </TabPanel>
      <TabPanel value="prompts">
        <Prompts server={server} />
      </TabPanel>
      <TabPanel value="resources">
        <Resources server={server} resources={allResources} />
      </TabPanel>
      <TabPanel value="config">
        <Configuration key={name} server={server} />
      </TabPanel>
      <TabPanel value="log">
        <div className="panel">
          <LogTail server={name} lines={200} className="h-[60dvh] min-h-64" />
        </div>
      </TabPanel>
      <TabPanel value="connect">
        <ConnectPanel scope={{ server: name }} />
      </TabPanel>
    </Tabs>
  );
}

function labelOf(name: string, number: number) {
  return (
    <>
      {name} <span className="text-soft tabular-nums">{number}</span>
    </>
  );
}
