import type { TFunction } from 'i18next';
import { ExternalLink } from 'lucide-react';
import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import type { Snippet } from '../../api/types.ts';
import { storage } from '../../lib/storage.ts';
import { buttonClass } from '../../ui/button.tsx';
import { Code } from '../../ui/copy.tsx';
import { TabPanel, Tabs } from '../../ui/tabs.tsx';

interface ClientSnippetsProps {
  readonly clients: readonly Snippet[];
  /** The key that goes where the texts say YOUR_ACCESS_KEY. */
  readonly token?: string;
}

/** What each client wants to have pasted; it opens at the client that was looked at last. */
export function ClientSnippets({ clients, token }: ClientSnippetsProps) {
  const { t } = useTranslation();
  const [client, setClient] = useState(storage.get('client') ?? '');
  const chosen = clients.some((each) => each.client === client) ? client : (clients[0]?.client ?? '');
  return (
    <Tabs
      wrap
      label={t('connect.title')}
      value={chosen}
      onChange={(next) => {
        storage.set('client', next);
        setClient(next);
      }}
      tabs={clients.map((each) => ({ value: each.client, label: each.title }))}
    >
      {clients.map((each) => (
        <TabPanel key={each.client} value={each.client}>
          <ClientSnippet snippet={token === undefined ? each : withToken(each, token)} />
        </TabPanel>
      ))}
    </Tabs>
  );
}

/** No link that installs has a key in it: that would stay in the history of the browser. */
export function withToken({ installUrl, ...snippet }: Snippet, token: string): Snippet {
  const { text } = snippet;
  if (!text.includes('YOUR_ACCESS_KEY')) return { ...snippet, ...(installUrl !== undefined && { installUrl }) };
  return { ...snippet, text: text.replaceAll('YOUR_ACCESS_KEY', () => token) };
}

export function ClientSnippet({ snippet }: { readonly snippet: Snippet }) {
  const { t } = useTranslation();
  const { title, language, text, installUrl, command } = snippet;
  return (
    <div className="flex flex-col gap-3">
      <p className="text-soft text-sm break-words">
        {language === 'shell' ? t('connect.inTerminal') : t('connect.where', { where: placeOf(t, snippet) })}
      </p>
      <Code label={t('connect.snippet', { client: title })} text={text} />
      {command !== undefined && (
        <div className="flex flex-col gap-1.5">
          <p className="text-soft text-sm">{t('connect.command')}</p>
          <Code wrap label={t('connect.commandLabel', { client: title })} text={command} />
        </div>
      )}
      {installUrl !== undefined && (
        <div>
          <a href={installUrl} className={buttonClass('primary')}>
            <ExternalLink size={15} aria-hidden />
            {t('connect.install', { client: title })}
          </a>
        </div>
      )}
    </div>
  );
}

/** Where a text belongs. Of some clients the hub says more than the name of a file, in English. */
function placeOf(t: TFunction, { client, where, text }: Snippet): string {
  const [file = ''] = where.split(/,? /, 1);
  if (client === 'cursor') return t('connect.inProject', { file });
  if (client === 'vscode') return t('connect.inCommand', { file });
  return client === 'codex' && text.includes('TOOLHUB_TOKEN') ? t('connect.inVariable', { file }) : where;
}
