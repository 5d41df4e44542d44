import { Link, useNavigate } from '@tanstack/react-router';
import { Ellipsis, FlaskConical, LogIn, Pencil, RotateCw, Trash2 } from 'lucide-react';
import { useTranslation } from 'react-i18next';
import type { ServerSummary } from '../../api/types.ts';
import { boot } from '../../boot.ts';
import { short } from '../../lib/format.ts';
import { Badge } from '../../ui/badge.tsx';
import { Button, IconButton } from '../../ui/button.tsx';
import { Menu, MenuItem, MenuLine } from '../../ui/menu.tsx';
import { Switch } from '../../ui/switch.tsx';
import { useDeleteServer, useReloadServer, useSignIn, useToggleServer } from './actions.ts';
import { conditionOf } from './condition.ts';
import { EditLink, Status, Timing } from './status.tsx';
import { whatIsWrong, whatToDo } from './why.tsx';

interface ServerRowProps {
  readonly server: ServerSummary;
  /** It was just added. */
  readonly isNew?: boolean;
  /** Its tools that fit what is searched for. */
  readonly foundTools?: readonly string[] | undefined;
}

/** A server in the list: what it is, how it is, what can be done about it. */
export function ServerRow({ server, isNew = false, foundTools = [] }: ServerRowProps) {
  const { t } = useTranslation();
  const { name, description, status, error, enabled, managed, tools, oauth, unsetVariables = [] } = server;
  const toggle = useToggleServer();
  const signIn = useSignIn();
  const changeable = managed && !boot.readonly;
  return (
    <div className="hover:bg-hover/50 flex items-center gap-3 px-4 py-2.5 sm:gap-4">
      <div className="min-w-0 flex-1">
        <div className="flex flex-wrap items-center gap-x-2.5 gap-y-1">
          <Link
            to="/servers/$name"
            params={{ name }}
            className="touch min-w-0 rounded-sm font-medium break-words hover:underline"
          >
            {name}
          </Link>
          <Status server={server} />
          {isNew && <Badge tone="accent">{t('servers.made')}</Badge>}
          <span className="text-soft text-xs">
            <Timing server={server} />
          </span>
        </div>
        <p className="text-soft truncate text-sm">
          {foundTools.length > 0 ? (
            <code className="text-xs">{foundTools.slice(0, 20).join(', ')}</code>
          ) : error !== null && status !== 'connected' ? (
            <span className="text-bad">{[whatIsWrong(server), whatToDo(server)].filter(Boolean).join(' · ')}</span>
          ) : unsetVariables.length > 0 ? (
            <span className="text-warn">{t('servers.unset', { names: unsetVariables.join(', ') })}</span>
          ) : (
            (description ?? server.type)
          )}
        </p>
      </div>
      <div className="text-soft hidden text-right text-xs whitespace-nowrap tabular-nums sm:block">
        {tools.total > 0 && (
          <>
            <div>{t('servers.toolCount', { enabled: tools.enabled, total: tools.total })}</div>
            <div>{t('common.tokens', { tokens: short(tools.tokens) })}</div>
          </>
        )}
      </div>
      {status === 'oauth_required' && (changeable || (oauth?.perUser === true && !boot.readonly)) && (
        <Button icon={LogIn} busy={signIn.isPending} onClick={() => signIn.start(name)}>
          {t('servers.signIn')}
        </Button>
      )}
      {changeable && conditionOf(server) === 'unusable' && (
        <span className="hidden sm:inline">
          <EditLink name={name}>{t('servers.correct')}</EditLink>
        </span>
      )}
      {changeable && (
        <>
          <Switch
            label={t('servers.enable', { name })}
            checked={enabled}
            onChange={(next) => toggle.mutate({ name, enabled: next })}
          />
          <ServerMenu name={name} enabled={enabled} />
        </>
      )}
    </div>
  );
}

function ServerMenu({ name, enabled }: { readonly name: string; readonly enabled: boolean }) {
  const { t } = useTranslation();
  const navigate = useNavigate();
  const reload = useReloadServer();
  const remove = useDeleteServer();
  return (
    <Menu trigger={<IconButton icon={Ellipsis} label={t('common.actions', { name })} />}>
      <MenuItem icon={FlaskConical} onSelect={() => void navigate({ to: '/tools', search: { server: name } })}>
        {t('servers.play')}
      </MenuItem>
      <MenuItem icon={RotateCw} disabled={!enabled} onSelect={() => reload.mutate(name)}>
        {t('servers.reload')}
      </MenuItem>
      <MenuItem
        icon={Pencil}
        onSelect={() => void navigate({ to: '/servers/$name', params: { name }, search: { tab: 'config' } })}
      >
        {t('common.edit')}
      </MenuItem>
      <MenuLine />
      <MenuItem icon={Trash2} danger onSelect={() => void remove(name)}>
        {t('common.delete')}
      </MenuItem>
    </Menu>
  );
}
