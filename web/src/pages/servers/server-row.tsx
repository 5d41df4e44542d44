import { Link, useNavigate } from '@tanstack/react-router';
import { Ellipsis, FlaskConical, LogIn, Pencil, RotateCw, Trash2 } from 'lucide-react';
import { useTranslation } from 'react-i18next';
import type { ServerSummary } from '../../api/types.ts';
import { boot } from '../../boot.ts';
import { cx } from '../../lib/cx.ts';
import { short } from '../../lib/format.ts';
import { Badge } from '../../ui/badge.tsx';
import { Button, IconButton } from '../../ui/button.tsx';
import { Menu, MenuItem, MenuLine } from '../../ui/menu.tsx';
import { Switch } from '../../ui/switch.tsx';
import { useDeleteServer, useReloadServer, useSignIn, useToggleServer } from './actions.ts';
import { conditionOf } from './condition.ts';
import { Figures, FiguresLine, type ServerFigures } from './figures.tsx';
import { ServerIcon } from './server-icon.tsx';
import { EditLink, Status, Timing } from './status.tsx';
import { whatIsWrong, whatToDo } from './why.tsx';

interface ServerRowProps {
  readonly server: ServerSummary;
  /** It was just added. */
  readonly isNew?: boolean;
  /** Its tools that fit what is searched for. */
  readonly foundTools?: readonly string[] | undefined;
  /** Undefined until it is known; null where there was no call. */
  readonly figures: ServerFigures | undefined | null;
  /** In one line. */
  readonly dense: boolean;
  /** Present while several servers are being chosen. */
  readonly choice?: { readonly isChosen: boolean; readonly onChange: (isChosen: boolean) => void } | undefined;
}

/** A server in the list: what it is, how it is, what can be done about it. */
export function ServerRow({ server, isNew = false, foundTools = [], figures, dense, choice }: ServerRowProps) {
  const { t } = useTranslation();
  const { name, status, enabled, managed, tools, oauth } = server;
  const toggle = useToggleServer();
  const signIn = useSignIn();
  const changeable = managed && !boot.readonly;
  return (
    <div className={cx('hover:bg-hover/50 flex items-center gap-3 px-4 sm:gap-4', dense ? 'min-h-10 py-1' : 'py-2.5')}>
      {choice && (
        <label className="flex shrink-0 items-center pointer-coarse:min-h-10">
          <input
            type="checkbox"
            className="accent-accent size-4 pointer-coarse:size-5"
            aria-label={t('servers.choose', { name })}
            disabled={!changeable}
            checked={choice.isChosen}
            onChange={({ target }) => choice.onChange(target.checked)}
          />
        </label>
      )}
      <ServerIcon server={server} small={dense} />
      <div className={cx('min-w-0 flex-1', dense && 'flex items-center gap-3')}>
        <div className={cx('flex items-center gap-x-2.5 gap-y-1', dense ? 'min-w-0' : 'flex-wrap')}>
          <Link
            to="/servers/$name"
            params={{ name }}
            className={cx(
              'touch min-w-0 rounded-sm font-medium hover:underline',
              dense ? 'max-w-60 truncate' : 'break-words',
            )}
          >
            {name}
          </Link>
          <Status server={server} brief={dense} />
          {isNew && <Badge tone="accent">{t('servers.made')}</Badge>}
          {!dense && (
            <span className="text-soft text-xs">
              <Timing server={server} />
            </span>
          )}
        </div>
        <About server={server} foundTools={foundTools} dense={dense} />
        {!dense && <FiguresLine name={name} figures={figures} />}
      </div>
      <Figures name={name} figures={figures} dense={dense} />
      <Tools tools={tools} dense={dense} />
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
          <ServerMenu server={server} />
        </>
      )}
    </div>
  );
}

function Tools({ tools, dense }: { readonly tools: ServerSummary['tools']; readonly dense: boolean }) {
  const { t } = useTranslation();
  return (
    <div className="text-soft hidden text-right text-xs whitespace-nowrap tabular-nums sm:block lg:w-26">
      {tools.total > 0 && (
        <>
          <div>{t('servers.toolCount', { enabled: tools.enabled, total: tools.total })}</div>
          {!dense && <div>{t('common.tokens', { tokens: short(tools.tokens) })}</div>}
        </>
      )}
    </div>
  );
}

/** The tools that were searched for, what is wrong, or what it is. What is wrong is the last to be cut off. */
function About({ server, foundTools, dense }: Required<Pick<ServerRowProps, 'server' | 'foundTools' | 'dense'>>) {
  const isBroken = server.error !== null && server.status !== 'connected';
  const inLine = isBroken ? 'line-clamp-4 wrap-anywhere' : 'truncate';
  return (
    <p className={cx('text-soft text-sm', dense ? 'hidden min-w-0 flex-1 truncate sm:block' : inLine)}>
      <Words server={server} foundTools={foundTools} isBroken={isBroken} />
    </p>
  );
}

interface WordsProps extends Required<Pick<ServerRowProps, 'server' | 'foundTools'>> {
  readonly isBroken: boolean;
}

function Words({ server, foundTools, isBroken }: WordsProps) {
  const { t } = useTranslation();
  const { description, type, unsetVariables = [] } = server;
  if (foundTools && foundTools.length > 0) return <code className="text-xs">{foundTools.slice(0, 20).join(', ')}</code>;
  if (isBroken)
    return <span className="text-bad">{[whatIsWrong(server), whatToDo(server)].filter(Boolean).join(' · ')}</span>;
  if (unsetVariables.length > 0)
    return <span className="text-warn">{t('servers.unset', { names: unsetVariables.join(', ') })}</span>;
  return description ?? type;
}

function ServerMenu({ server: { name, enabled, status } }: { readonly server: ServerSummary }) {
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
        {t(status === 'asleep' ? 'servers.startNow' : 'servers.reload')}
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
