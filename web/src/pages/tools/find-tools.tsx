import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import type { KeyboardEvent } from 'react';
import { useTranslation } from 'react-i18next';
import { foundToolsQuery } from '../../api/queries.ts';
import type { ServerNames } from '../../api/types.ts';
import { useDelayed } from '../../lib/delayed.ts';
import { many } from '../../lib/format.ts';
import { matches } from '../../lib/search.ts';
import { Failure } from '../../ui/failure.tsx';
import { Loading } from '../../ui/page.tsx';

/** More than these are found by more words. */
const mostFound = 100;

interface Found {
  readonly server: string;
  readonly tool: string;
  readonly title: string | undefined;
  readonly description: string | undefined;
}

/** Names and titles first, then what is found by its description; of each, the server that is open first. */
function inOrder(q: string, servers: readonly ServerNames[], open: string | undefined): Found[] {
  const found = servers
    .filter(({ enabled }) => enabled)
    .flatMap(({ name: server, tools, titles = {}, descriptions = {} }) =>
      tools.map((tool) => ({ server, tool, title: titles[tool], description: descriptions[tool] })),
    );
  const rank = ({ server, tool, title }: Found): number =>
    (tool.toLowerCase() === q.trim().toLowerCase() ? 0 : matches(q, tool, title) ? 2 : 4) + (server === open ? 0 : 1);
  return found
    .map((each) => [rank(each), each] as const)
    .sort(([a], [b]) => a - b)
    .map(([, each]) => each);
}

interface FoundToolsProps {
  readonly q: string;
  /** The server whose tools are shown otherwise. */
  readonly open?: string | undefined;
  /** One of them is followed. */
  readonly onFollow: (server: string, tool: string) => void;
}

/** The tools of all servers that fit: by name, title, description, or the name of their server. */
export function FoundTools({ q, open, onFollow }: FoundToolsProps) {
  const { t } = useTranslation();
  const asked = useDelayed(q.trim().slice(0, 200), 120);
  const { data, error, refetch } = useQuery({ ...foundToolsQuery(asked), placeholderData: keepPreviousData });
  if (error) return <Failure error={error} retry={() => void refetch()} />;
  if (!data) return <Loading rows={5} />;
  const found = inOrder(asked, data, open);
  if (found.length === 0) return <p className="text-soft p-4 text-sm">{t('common.nothingFound')}</p>;
  return (
    <>
      <p role="status" className="text-soft border-line border-b px-4 py-1.5 text-xs">
        {t('play.toolCount', many(found.length))}
      </p>
      <ul aria-label={t('play.tools')} className="divide-line divide-y">
        {found.slice(0, mostFound).map(({ server, tool, title, description }) => (
          <li key={`${server} ${tool}`}>
            <Link
              to="/tools"
              search={{ server, tool }}
              onClick={() => onFollow(server, tool)}
              data-found
              className="hover:bg-hover/50 block px-4 py-2 focus-visible:-outline-offset-2"
            >
              <span className="block text-sm font-medium break-words">{title ?? tool}</span>
              <span className="text-soft block truncate text-xs">
                {server} · <code>{tool}</code>
              </span>
              {description !== undefined && <span className="text-soft block truncate text-xs">{description}</span>}
            </Link>
          </li>
        ))}
      </ul>
    </>
  );
}

/** Arrows go from the search to what it found and back, and Enter in the search follows the first. */
export function moveThroughFound(event: KeyboardEvent<HTMLElement>): void {
  const { key, target, currentTarget } = event;
  const found = [...currentTarget.querySelectorAll<HTMLElement>('[data-found]')];
  const at = found.findIndex((each) => each === target);
  if (key === 'Enter' && at === -1 && target instanceof HTMLInputElement) found[0]?.click();
  if (key !== 'ArrowDown' && key !== 'ArrowUp') return;
  const next = key === 'ArrowDown' ? at + 1 : at - 1;
  const search = currentTarget.querySelector('input');
  (next < 0 ? search : found[next])?.focus();
  event.preventDefault();
}
