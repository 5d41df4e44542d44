import { useNavigate } from '@tanstack/react-router';
import { type ClipboardEvent, useState } from 'react';
import { useTranslation } from 'react-i18next';
import { ask } from '../../api/client.ts';
import { useMe } from '../../api/queries.ts';
import { useAction } from '../../lib/action.ts';
import { problemAt } from '../../lib/problems.ts';
import { Dialog } from '../../ui/dialog.tsx';
import { TextField } from '../../ui/field.tsx';
import { toast } from '../../ui/toast.tsx';
import { TabPanel, Tabs } from '../../ui/tabs.tsx';
import { AddBundle } from './add-bundle.tsx';
import { AddFromRegistry } from './add-from-registry.tsx';
import { AddPasted } from './add-pasted.tsx';
import { configOf, emptyDraft, type NewServer } from './config.ts';
import { fieldPaths, ServerFields } from './server-fields.tsx';
import { DialogForm } from '../../ui/dialog-form.tsx';

interface AddServerProps {
  /** `form`, `paste`, `bundle` or `registry`. */
  readonly way: string;
  readonly onWay: (way: string) => void;
  readonly onClose: () => void;
}

/** No value that a field takes looks like it: values may be JSON too. */
const settingsOfClients = /^\s*\{[^]*"(?:mcpServers|servers|context_servers|mcp_servers)"\s*:/;

export function AddServer({ way, onWay, onClose }: AddServerProps) {
  const { t } = useTranslation();
  const me = useMe();
  const [server, setServer] = useState<NewServer>({
    name: '',
    draft: me.isAdmin ? emptyDraft : { ...emptyDraft, type: 'streamable-http' },
  });
  const [pasted, setPasted] = useState({ text: '', times: 0 });
  const ways = me.isAdmin ? (['form', 'paste', 'bundle', 'registry'] as const) : (['form', 'registry'] as const);
  const shown = ways.find((each) => each === way) ?? 'form';
  /** Settings of another client that are pasted anywhere in the dialog go where they are read. */
  const takePasted = (event: ClipboardEvent) => {
    const text = event.clipboardData.getData('text');
    const intoField = event.target instanceof HTMLInputElement || event.target instanceof HTMLTextAreaElement;
    if (!me.isAdmin || (intoField && (shown === 'paste' || !settingsOfClients.test(text)))) return;
    event.preventDefault();
    setPasted({ text, times: pasted.times + 1 });
    onWay('paste');
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
            {shown === 'form' && <AddByHand server={server} onChange={setServer} onClose={onClose} />}
            {shown === 'paste' && (
              <AddPasted
                key={pasted.times}
                text={pasted.text}
                isWhole={pasted.times > 0}
                onText={(text) => setPasted({ ...pasted, text })}
                onClose={onClose}
              />
            )}
            {shown === 'bundle' && <AddBundle onClose={onClose} />}
            {shown === 'registry' && (
              <AddFromRegistry
                programs={me.isAdmin}
                onTake={(taken) => {
                  setServer(taken);
                  onWay('form');
                }}
              />
            )}
          </TabPanel>
        </Tabs>
      </div>
    </Dialog>
  );
}

interface AddByHandProps {
  readonly server: NewServer;
  readonly onChange: (server: NewServer) => void;
  readonly onClose: () => void;
}

function AddByHand({ server: { name, draft }, onChange, onClose }: AddByHandProps) {
  const { t } = useTranslation();
  const me = useMe();
  const navigate = useNavigate();
  const add = useAction({
    run: () => ask('/servers', { method: 'POST', body: { name, config: configOf(draft) } }),
    done: () => {
      toast.good(t('servers.form.added', { name: name.trim() }));
      onClose();
      void navigate({ to: '/servers/$name', params: { name: name.trim() } });
    },
    quiet: true,
  });
  return (
    <DialogForm
      submit={t('common.add')}
      onSubmit={() => add.mutate()}
      busy={add.isPending}
      error={add.error}
      known={fieldPaths}
      onCancel={onClose}
    >
      <TextField
        label={t('servers.form.name')}
        hint={t('servers.form.nameHint')}
        error={problemAt(add.error, 'name')}
        required
        autoFocus
        autoCapitalize="none"
        spellCheck={false}
        value={name}
        onChange={(event) => onChange({ name: event.target.value, draft })}
      />
      <ServerFields
        draft={draft}
        onChange={(next) => onChange({ name, draft: next })}
        error={add.error}
        programs={me.isAdmin}
      />
    </DialogForm>
  );
}
