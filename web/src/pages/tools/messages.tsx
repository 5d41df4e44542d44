import { ArrowDownLeft, ArrowUpRight } from 'lucide-react';
import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import { bytes, count, duration } from '../../lib/format.ts';
import { isObject } from '../../lib/json.ts';
import { Code } from '../../ui/copy.tsx';
import { Panel } from '../../ui/page.tsx';
import type { Message } from './call.ts';

/** The messages of a call as an MCP client sends and receives them, in order; nothing while there are none. */
export function Messages({ messages }: { readonly messages: readonly Message[] }) {
  const { t } = useTranslation();
  const [first] = messages;
  if (!first) return null;
  const begun = Date.parse(first.time);
  return (
    <Panel flush title={t('play.messages')} lead={t('play.messagesLead', { number: count(messages.length) })}>
      <ol aria-label={t('play.messages')} className="divide-line max-h-96 divide-y overflow-y-auto" tabIndex={0}>
        {messages.map((message, index) => (
          // Messages have no name but their place.
          <Line key={`${message.time} ${index}`} message={message} ms={Date.parse(message.time) - begun} />
        ))}
      </ol>
    </Panel>
  );
}

function Line({ message: { from, message, bytes: size }, ms }: { readonly message: Message; readonly ms: number }) {
  const { t } = useTranslation();
  const [isOpen, setOpen] = useState(false);
  const Icon = from === 'client' ? ArrowUpRight : ArrowDownLeft;
  const method = message?.['method'];
  const name = typeof method === 'string' ? method : t(message?.['error'] ? 'play.errorAnswer' : 'play.answer');
  return (
    <li>
      <details onToggle={(event) => setOpen(event.currentTarget.open)}>
        <summary className="hover:bg-hover flex items-center gap-2 px-4 py-1.5 text-sm focus-visible:-outline-offset-2 pointer-coarse:min-h-10">
          <Icon size={14} aria-hidden className={from === 'client' ? 'text-accent-ink' : 'text-good'} />
          <span className="sr-only">{t(from === 'client' ? 'play.sent' : 'play.received')}</span>
          <code className="text-xs whitespace-nowrap">{name}</code>
          <span className="text-soft min-w-0 flex-1 truncate text-xs">{said(message)}</span>
          <span className="text-soft text-xs tabular-nums">+{duration(ms)}</span>
        </summary>
        {isOpen && (
          <div className="px-4 pb-3">
            {message === undefined ? (
              <p className="text-soft text-sm">{t('play.longMessage', { size: bytes(size ?? 0) })}</p>
            ) : (
              <Code label={name} text={JSON.stringify(message, null, 2)} />
            )}
          </div>
        )}
      </details>
    </li>
  );
}

/** What a log message or progress says. */
function said(message: Message['message']): string {
  const params = isObject(message?.['params']) ? message['params'] : {};
  const { level, data, progress, total, message: words } = params;
  if (level !== undefined)
    return `${typeof level === 'string' ? level : ''}: ${typeof data === 'string' ? data : JSON.stringify(data)}`;
  if (typeof progress !== 'number') return '';
  return [typeof total === 'number' ? `${progress}/${total}` : progress, words].filter(Boolean).join(' ');
}
