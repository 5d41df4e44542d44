import { useQuery } from '@tanstack/react-query';
import { useEffect, useRef, useState } from 'react';
import { useTranslation } from 'react-i18next';
import { ask, pathOf } from '../../api/client.ts';
import { serverQuery } from '../../api/queries.ts';
import type { JsonObject } from '../../api/types.ts';
import { boot } from '../../boot.ts';
import { Button } from '../../ui/button.tsx';
import { confirm } from '../../ui/confirm.tsx';
import { Failure } from '../../ui/failure.tsx';
import { Loading, Panel } from '../../ui/page.tsx';
import { createAppHost, htmlIn, isForApps } from './app-host.ts';

interface AppProps {
  readonly server: string;
  readonly uri: string;
  readonly args: JsonObject;
  readonly result: JsonObject;
}

/** The page that a server has for its tool. It is loaded when the user wants to see it: it is a stranger's. */
export function App(props: AppProps) {
  const { t } = useTranslation();
  const [isOpen, setOpen] = useState(false);
  const { server, uri } = props;
  return (
    <Panel
      title={t('play.app.title', { server })}
      lead={t('play.app.lead')}
      actions={<Button onClick={() => setOpen(!isOpen)}>{t(isOpen ? 'play.app.close' : 'play.app.open')}</Button>}
    >
      {isOpen ? <Page {...props} /> : <code className="text-soft text-xs break-all">{uri}</code>}
    </Panel>
  );
}

/** A larger page is no page. */
const mostChars = 4_000_000;

function Page(props: AppProps) {
  const { t } = useTranslation();
  const { server, uri } = props;
  const page = useQuery({
    queryKey: ['app', server, uri],
    queryFn: async ({ signal }) => {
      const body = { uri, server };
      const { data } = await ask<JsonObject>('/resources/read', { method: 'POST', body, signal });
      return data;
    },
    staleTime: 0,
    gcTime: 0,
    meta: { live: false },
  });
  if (page.error) return <Failure error={page.error} retry={() => void page.refetch()} />;
  if (!page.data) return <Loading rows={4} />;
  const html = readHtml(page.data);
  if (html === undefined) return <p className="text-soft text-sm">{t('play.app.noPage')}</p>;
  return <Frame {...props} html={html} />;
}

function readHtml(result: JsonObject): string | undefined {
  try {
    const html = htmlIn(result);
    return html.length > mostChars ? undefined : html;
  } catch {
    return undefined;
  }
}

const heights = { least: 80, most: 720, first: 320 };

/**
 * The frame has an origin of its own (no `allow-same-origin`), and the policy of the page in it comes from the hub
 * (`src/http/dashboard/app-frame.ts`). Only messages of this very window are heard, and only from that origin.
 */
function Frame({ server, uri, args, result, html }: AppProps & { readonly html: string }) {
  const { t, i18n } = useTranslation();
  const frame = useRef<HTMLIFrameElement>(null);
  const [height, setHeight] = useState(heights.first);
  const [isFlooded, setFlooded] = useState(false);
  const { data } = useQuery(serverQuery(server));
  const tools = useRef(data?.tools);
  tools.current = data?.tools;
  useEffect(() => {
    const send = (message: unknown) => frame.current?.contentWindow?.postMessage(message, '*');
    const host = createAppHost({
      hostInfo: { name: 'Tool Hub', version: boot.version },
      context: { displayMode: 'inline', availableDisplayModes: ['inline'], platform: 'web', locale: i18n.language },
      args,
      result,
      send,
      async callTool(name, given) {
        const tool = tools.current?.find(({ originalName }) => originalName === name);
        if (!tool || !isForApps(tool)) throw new Error(`No tool "${name.slice(0, 100)}" for apps.`);
        const text = JSON.stringify(given).slice(0, 600);
        const title = t('play.app.asks', { server, tool: name });
        if (!(await confirm({ title, text, action: t('play.app.call'), isUnexpected: true }))) return undefined;
        const body = { toolName: name, arguments: given };
        return (await ask<JsonObject>(`/tools/call${pathOf(server)}`, { method: 'POST', body })).data;
      },
      resized: (wanted) => setHeight(Math.min(heights.most, Math.max(heights.least, Math.ceil(wanted) || 0))),
      flooded: () => setFlooded(true),
    });
    let isFilled = false;
    const heard = ({ source, origin, data: message }: MessageEvent<unknown>) => {
      if (source === null || source !== frame.current?.contentWindow || origin !== 'null') return;
      if (isFilled) return host.receive(message);
      isFilled = true;
      send({ html });
    };
    window.addEventListener('message', heard);
    return () => window.removeEventListener('message', heard);
    // One page for one answer: what comes later has a frame of its own.
    // oxlint-disable-next-line react-hooks/exhaustive-deps -- see above
  }, [html, server]);
  if (isFlooded) return <p className="text-bad text-sm">{t('play.app.flooded')}</p>;
  return (
    <iframe
      ref={frame}
      title={t('play.app.title', { server })}
      src={`${boot.basePath}/assets/app-frame`}
      sandbox="allow-scripts"
      referrerPolicy="no-referrer"
      data-uri={uri}
      style={{ height }}
      className="border-line w-full rounded-lg border bg-white"
    />
  );
}
