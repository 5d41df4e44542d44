import { type ClipboardEvent, useState } from 'react';
import { useTranslation } from 'react-i18next';
import { useMe } from '../../api/queries.ts';
import { Dialog } from '../../ui/dialog.tsx';
import { TabPanel, Tabs } from '../../ui/tabs.tsx';
import { AddBundle } from './add-bundle.tsx';
import { AddByHand } from './add-by-hand.tsx';
import { AddPasted } from './add-pasted.tsx';
import type { NewServer } from './asks.ts';
import { emptyDraft } from './config.ts';
import { isSettings, recognise } from './recognise.ts';

/** What there is already when the dialog opens. */
export interface Begun {
  readonly server?: NewServer;
  /** Settings of a client. */
  readonly text?: string;
  /** A bundle. */
  readonly file?: File;
}

interface AddServerProps {
  /** `form`, `paste` or `bundle`. */
  readonly way: string;
  readonly begun?: Begun;
  readonly onWay: (way: string) => void;
  readonly onClose: () => void;
}

export function AddServer({ way, begun = {}, onWay, onClose }: AddServerProps) {
  const { t } = useTranslation();
  const me = useMe();
  const [filled, setFilled] = useState({
    server: begun.server ?? { name: '', draft: me.isAdmin ? emptyDraft : { ...emptyDraft, type: 'auto' as const } },
    times: 0,
  });
  const [pasted, setPasted] = useState({ text: begun.text ?? '', times: begun.text === undefined ? 0 : 1 });
  const ways = me.isAdmin ? (['form', 'paste', 'bundle'] as const) : (['form'] as const);
  const shown = ways.find((each) => each === way) ?? 'form';
  /** What is pasted beside the fields, or is more than a value wherever it is pasted, goes where it belongs. */
  const takePasted = (event: ClipboardEvent) => {
    const text = event.clipboardData.getData('text');
    const field = fieldOf(event.target);
    if (field === 'value' && (shown === 'paste' || !isSettings(text))) return;
    const found = recognise(text);
    if (field === 'name' && (!found || found.kind === 'registry')) return;
    if (found?.kind === 'url' || (found?.kind === 'command' && me.isAdmin)) {
      setFilled({ server: found.server, times: filled.times + 1 });
      onWay('form');
    } else if (me.isAdmin) {
      setPasted({ text, times: pasted.times + 1 });
      onWay('paste');
    } else return;
    event.preventDefault();
  };
  return (
    <Dialog open wide title={t('servers.add')} onClose={onClose}>
      <div className="contents" onPaste={takePasted}>
        <Tabs
          label={t('servers.add')}
          value={shown}
          onChange={onWay}
          tabs={ways.map((value) => ({ value, label: t(`servers.ways.${value}`) }))}
          className="flex min-h-0 flex-1 flex-col"
          listClass="px-5 pt-1"
        >
          <TabPanel value={shown} className="flex min-h-0 flex-1 flex-col">
            {shown === 'form' && (
              <AddByHand
                key={filled.times}
                server={filled.server}
                onChange={(server) => setFilled({ ...filled, server })}
                onClose={onClose}
              />
            )}
            {shown === 'paste' && (
              <AddPasted
                key={pasted.times}
                text={pasted.text}
                isWhole={pasted.times > 0}
                onText={(text) => setPasted({ ...pasted, text })}
                onClose={onClose}
              />
            )}
            {shown === 'bundle' && <AddBundle file={begun.file} onClose={onClose} />}
          </TabPanel>
        </Tabs>
      </div>
    </Dialog>
  );
}

/** An address is no name: what is pasted into that field may still be a server. */
function fieldOf(target: EventTarget): 'name' | 'value' | undefined {
  if (target instanceof HTMLTextAreaElement) return 'value';
  if (!(target instanceof HTMLInputElement)) return undefined;
  return target.name === 'server-name' ? 'name' : 'value';
}
