import { getRouteApi, useNavigate } from '@tanstack/react-router';
import { ClipboardPaste, FileArchive, SquarePen } from 'lucide-react';
import { type DragEvent, useEffect, useEffectEvent, useState } from 'react';
import { useTranslation } from 'react-i18next';
import { useMe } from '../../api/queries.ts';
import { boot } from '../../boot.ts';
import { lazily } from '../../lib/lazily.tsx';
import { matches } from '../../lib/search.ts';
import { Button } from '../../ui/button.tsx';
import { Empty, Page } from '../../ui/page.tsx';
import { SearchBox } from '../../ui/search-box.tsx';
import { toast } from '../../ui/toast.tsx';
import type { Begun } from '../servers/add-server.tsx';
import { recognise, type Recognised } from '../servers/recognise.ts';
import { icons, KnownCard } from './card.tsx';
import { categories, type Category, type KnownServer, knownDraft, knownServers } from './known.ts';
import { RegistryResults } from './registry-results.tsx';
import { isForRegistry } from './search.ts';

const route = getRouteApi('/shell/catalog');
const AddServer = lazily(
  () => import('../servers/add-server.tsx').then(({ AddServer }) => AddServer),
  ({ onClose }) => onClose(),
);

/** Every way to a new server: the list that comes with the hub, the registry, and what is pasted or dropped here. */
export function Catalog() {
  const { t } = useTranslation();
  const me = useMe();
  const navigate = useNavigate({ from: '/catalog' });
  const { q = '', category = '', add } = route.useSearch();
  const [begun, setBegun] = useState<Begun>({});
  // Of what is typed only words are kept in the address: the rest may carry a key.
  const [other, setOther] = useState('');
  const text = other === '' ? q : other;
  const narrow = (part: { q?: string; category?: string }) =>
    void navigate({ search: (old) => ({ ...old, ...part }), replace: true });
  const open = (way: string | undefined, next: Begun = {}) => {
    setBegun(next);
    void navigate({ search: (old) => ({ ...old, add: way }) });
  };
  const takeText = (text: string, found: Recognised) => {
    if (found.kind === 'registry') return narrow({ q: found.name, category: '' });
    const isRemote = found.kind === 'url' && !boot.readonly;
    if (!me.isAdmin && !isRemote) return toast.bad(t('catalog.onlyAdmins'));
    if (found.kind === 'settings') open('paste', { text });
    else open('form', { server: found.server });
  };
  const takeFile = (event: DragEvent) => {
    const [file] = event.dataTransfer.files;
    if (!file) return;
    event.preventDefault();
    if (boot.readonly) return;
    if (me.isAdmin) open('bundle', { file });
    else toast.bad(t('catalog.onlyAdmins'));
  };
  usePasted(add === undefined && !boot.readonly, takeText);
  const type = (next: string) => {
    const isWords = next === '' || isForRegistry(next);
    setOther(isWords ? '' : next);
    narrow({ q: isWords ? next : '' });
  };
  const typed = recognise(text);
  return (
    <Page title={t('nav.catalog')} lead={t('catalog.lead')} actions={!boot.readonly && <Ways onOpen={open} />}>
      <div className="contents" onDragOver={allowFiles} onDrop={takeFile}>
        <SearchBox
          label={t('catalog.box')}
          placeholder={t(matchMedia('(max-width: 40rem)').matches ? 'catalog.boxShort' : 'catalog.box')}
          value={text}
          onChange={type}
        />
        {typed && typed.kind !== 'registry' && !boot.readonly && (
          <div className="panel flex flex-wrap items-center gap-3 p-4">
            <p className="min-w-0 flex-1 basis-60 text-sm">{t(`catalog.typed.${typed.kind}`)}</p>
            <Button look="primary" onClick={() => takeText(text, typed)}>
              {t('catalog.takeTyped')}
            </Button>
          </div>
        )}
        <Categories value={category} onChoose={(category) => narrow({ category })} />
        <Known
          q={typed ? '' : text}
          category={category}
          onTake={(server) => open('form', { server: knownDraft(server, (kind) => t(`catalog.kinds.${kind}`)) })}
        />
        <RegistryResults q={q} programs={me.isAdmin} onTake={(server) => open('form', { server })} />
      </div>
      {add !== undefined && (
        <AddServer way={add} begun={begun} onWay={(way) => open(way, begun)} onClose={() => open(undefined)} />
      )}
    </Page>
  );
}

function allowFiles(event: DragEvent): void {
  if (event.dataTransfer.types.includes('Files')) event.preventDefault();
}

/** What is pasted into no field of the page, or is known to be more than words. */
function usePasted(isOn: boolean, onText: (text: string, found: Recognised) => void): void {
  const paste = useEffectEvent((event: ClipboardEvent) => {
    const text = event.clipboardData?.getData('text') ?? '';
    const found = isOn ? recognise(text) : undefined;
    if (!found) return;
    event.preventDefault();
    onText(text, found);
  });
  useEffect(() => {
    const listen = (event: ClipboardEvent) => paste(event);
    document.addEventListener('paste', listen);
    return () => document.removeEventListener('paste', listen);
  }, []);
}

function Ways({ onOpen }: { readonly onOpen: (way: string) => void }) {
  const { t } = useTranslation();
  const { isAdmin } = useMe();
  return (
    <>
      {isAdmin && (
        <>
          <Button icon={ClipboardPaste} onClick={() => onOpen('paste')}>
            {t('servers.ways.paste')}
          </Button>
          <Button icon={FileArchive} onClick={() => onOpen('bundle')}>
            {t('servers.ways.bundle')}
          </Button>
        </>
      )}
      <Button icon={SquarePen} onClick={() => onOpen('form')}>
        {t('catalog.byHand')}
      </Button>
    </>
  );
}

interface CategoriesProps {
  readonly value: string;
  readonly onChoose: (category: string) => void;
}

function Categories({ value, onChoose }: CategoriesProps) {
  const { t } = useTranslation();
  const choices: readonly (Category | '')[] = ['', ...categories];
  return (
    <div role="group" aria-label={t('catalog.category')} className="flex flex-wrap gap-1.5">
      {choices.map((category) => {
        const Icon = category === '' ? undefined : icons[category];
        return (
          <Button
            key={category}
            look={value === category ? 'primary' : 'plain'}
            aria-pressed={value === category}
            {...(Icon && { icon: Icon })}
            onClick={() => onChoose(category)}
          >
            {category === '' ? t('common.all') : t(`catalog.categories.${category}`)}
          </Button>
        );
      })}
    </div>
  );
}

interface KnownProps {
  readonly q: string;
  readonly category: string;
  readonly onTake: (server: KnownServer) => void;
}

function Known({ q, category, onTake }: KnownProps) {
  const { t } = useTranslation();
  const me = useMe();
  const shown = knownServers.filter(
    (server) =>
      (category === '' || server.category === category) &&
      matches(q, server.title, server.name, server.about, t(`catalog.about.${server.name}`, '')),
  );
  return (
    <section className="flex flex-col gap-3">
      <h2 className="text-soft text-xs font-medium">{t('catalog.known', { number: shown.length })}</h2>
      {shown.length === 0 ? (
        <Empty title={t('catalog.noneKnown')} />
      ) : (
        <ul className="grid grid-cols-1 gap-3 sm:grid-cols-2 lg:grid-cols-3" aria-label={t('catalog.knownList')}>
          {shown.map((server) => (
            <KnownCard key={server.name} server={server} programs={me.isAdmin} onTake={onTake} />
          ))}
        </ul>
      )}
    </section>
  );
}
