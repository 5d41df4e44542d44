import { MessageSquareText, Paperclip } from 'lucide-react';
import { useTranslation } from 'react-i18next';
import { ask, pathOf } from '../../api/client.ts';
import { serverQuery } from '../../api/queries.ts';
import type { Prompt, Resource, ServerDetails } from '../../api/types.ts';
import { boot } from '../../boot.ts';
import { guess, useAction } from '../../lib/action.ts';
import { Empty } from '../../ui/page.tsx';
import { Switch } from '../../ui/switch.tsx';
import { VirtualList } from '../../ui/virtual-list.tsx';

type Kind = 'prompts' | 'resources';

function useSwitch(server: string, kind: Kind) {
  return useAction<{ key: string; enabled: boolean }>({
    run: ({ key, enabled }) =>
      ask(`/servers${pathOf(server)}/${kind}${pathOf(key)}/toggle`, { method: 'POST', body: { enabled } }),
    at: ({ key, enabled }) => [
      guess<ServerDetails>(serverQuery(server).queryKey, (old) => ({
        ...old,
        prompts: old.prompts.map((item) =>
          kind === 'prompts' && item.originalName === key ? { ...item, enabled } : item,
        ),
        resources: old.resources.map((item) =>
          kind === 'resources' && keyOf(item) === key ? { ...item, enabled } : item,
        ),
      })),
    ],
  });
}

function keyOf({ uri, uriTemplate }: Resource): string {
  return uri ?? uriTemplate ?? '';
}

export function Prompts({ server }: { readonly server: ServerDetails }) {
  const { t } = useTranslation();
  const toggle = useSwitch(server.name, 'prompts');
  if (server.prompts.length === 0) {
    return <Nothing icon={MessageSquareText} title={t('servers.noPrompts')} />;
  }
  return (
    <Items<Prompt>
      label={t('servers.tabs.prompts')}
      items={server.prompts}
      changeable={server.configRestricted !== true}
      keyOf={({ originalName }) => originalName}
      more={({ arguments: parameters = [] }) => parameters.map(({ name }) => name).join(', ')}
      onSwitch={(key, enabled) => toggle.mutate({ key, enabled })}
    />
  );
}

interface ResourcesProps {
  readonly server: ServerDetails;
  readonly resources: readonly Resource[];
}

export function Resources({ server, resources }: ResourcesProps) {
  const { t } = useTranslation();
  const toggle = useSwitch(server.name, 'resources');
  if (resources.length === 0) return <Nothing icon={Paperclip} title={t('servers.noResources')} />;
  return (
    <Items<Resource>
      label={t('servers.tabs.resources')}
      items={resources}
      changeable={server.configRestricted !== true}
      keyOf={keyOf}
      more={({ name = '', mimeType = '' }) => [name, mimeType].filter(Boolean).join(' · ')}
      onSwitch={(key, enabled) => toggle.mutate({ key, enabled })}
    />
  );
}

function Nothing(props: Parameters<typeof Empty>[0]) {
  return (
    <div className="panel">
      <Empty {...props} />
    </div>
  );
}

interface ItemsProps<T> {
  readonly label: string;
  readonly items: readonly T[];
  readonly changeable: boolean;
  readonly keyOf: (item: T) => string;
  readonly more: (item: T) => string;
  readonly onSwitch: (key: string, enabled: boolean) => void;
}

function Items<T extends Prompt | Resource>({ label, items, changeable, keyOf, more, onSwitch }: ItemsProps<T>) {
  const { t } = useTranslation();
  return (
    <div className="panel">
      <VirtualList
        label={label}
        items={items}
        keyOf={keyOf}
        height={56}
        render={(item) => (
          <div className="flex items-center gap-3 px-4 py-2">
            <div className="min-w-0 flex-1">
              <code className="text-[0.8125rem] break-all">{keyOf(item)}</code>
              <p className="text-soft text-xs break-words">
                {[item.description, more(item)].filter(Boolean).join(' · ')}
              </p>
            </div>
            {changeable && !boot.readonly && (
              <Switch
                label={t('servers.enableTool', { name: keyOf(item) })}
                checked={item.enabled}
                onChange={(on) => onSwitch(keyOf(item), on)}
              />
            )}
          </div>
        )}
      />
    </div>
  );
}
