import { Eye } from 'lucide-react';
import { useMutation, useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import { ask, pathOf } from '../../api/client.ts';
import { serversQuery } from '../../api/queries.ts';
import { systemQuery } from '../../api/system.ts';
import type { BuiltinResource, JsonObject } from '../../api/types.ts';
import { boot } from '../../boot.ts';
import { useAction } from '../../lib/action.ts';
import { problemAt } from '../../lib/problems.ts';
import { Button } from '../../ui/button.tsx';
import { Code } from '../../ui/copy.tsx';
import { DialogForm } from '../../ui/dialog-form.tsx';
import { Dialog } from '../../ui/dialog.tsx';
import { FormError } from '../../ui/failure.tsx';
import { TextAreaField, TextField } from '../../ui/field.tsx';
import { Overtaken } from '../../ui/overtaken.tsx';
import { toast } from '../../ui/toast.tsx';
import { putChanges } from './queries.ts';

interface ResourceFormProps {
  /** As it was when the form was opened. Undefined: a new one. */
  readonly resource: BuiltinResource | undefined;
  /** As the hub has it now. */
  readonly now: BuiltinResource | undefined;
  readonly onClose: () => void;
}

/** A resource of the hub: its address and its text. */
export function ResourceForm({ resource, now, onClose }: ResourceFormProps) {
  const { t } = useTranslation();
  const [draft, setDraft] = useState(() => draftOf(resource));
  const set = (part: Partial<typeof draft>) => setDraft({ ...draft, ...part });
  const save = useAction<JsonObject>({
    quiet: true,
    run: (body) =>
      resource
        ? putChanges(`/resources${pathOf(resource.id)}`, sent(draftOf(resource)), body)
        : ask('/resources', { method: 'POST', body: { ...body, enabled: true } }),
    done: () => {
      toast.good(t('common.saved'));
      onClose();
    },
  });
  const at = (path: string) => problemAt(save.error, path);
  return (
    <Dialog
      open
      wide
      title={resource ? t('own.edit', { name: resource.uri }) : t('own.resources.add')}
      description={t('own.resources.lead')}
      onClose={onClose}
    >
      <DialogForm
        submit={t(resource ? 'common.save' : 'common.add')}
        onSubmit={() => {
          if (!boot.readonly) save.mutate(sent(draft));
        }}
        busy={save.isPending}
        error={save.error}
        known={['uri', 'name', 'description', 'mimeType', 'content']}
        onCancel={onClose}
      >
        <div className="grid items-start gap-4 sm:grid-cols-2">
          <TextField
            label={t('own.uri')}
            hint={t('own.uriHint')}
            error={at('uri')}
            required
            autoCapitalize="none"
            spellCheck={false}
            value={draft.uri}
            onChange={(event) => set({ uri: event.target.value })}
          />
          <TextField
            label={t('own.mimeType')}
            hint={t('own.mimeTypeHint')}
            error={at('mimeType')}
            optional
            autoCapitalize="none"
            spellCheck={false}
            value={draft.mimeType}
            onChange={(event) => set({ mimeType: event.target.value })}
          />
          <TextField
            label={t('own.resourceName')}
            error={at('name')}
            optional
            value={draft.name}
            onChange={(event) => set({ name: event.target.value })}
          />
          <TextField
            label={t('own.description')}
            error={at('description')}
            optional
            value={draft.description}
            onChange={(event) => set({ description: event.target.value })}
          />
        </div>
        <TextAreaField
          label={t('own.content')}
          error={at('content')}
          rows={10}
          value={draft.content}
          onChange={(event) => set({ content: event.target.value })}
        />
        <Overtaken since={resource} now={now} />
        {resource?.enabled && <Read uri={resource.uri} />}
      </DialogForm>
    </Dialog>
  );
}

/** Reads what is saved as a client does: policies, limits and records hold. */
function Read({ uri }: { readonly uri: string }) {
  const { t } = useTranslation();
  const { data: system } = useQuery(systemQuery);
  // Where the endpoint of all servers is off, clients read it on that of a server.
  const isClosed = system?.routing?.enableGlobalRoute === false;
  const { data: servers = [] } = useQuery({ ...serversQuery, enabled: isClosed });
  const server = isClosed ? servers.find(({ enabled }) => enabled)?.name : undefined;
  const read = useMutation({
    mutationFn: () => ask<JsonObject>('/resources/read', { method: 'POST', body: { uri, server } }),
  });
  if (!system || (isClosed && server === undefined)) return null;
  return (
    <div className="flex flex-col gap-2">
      <div>
        <Button icon={Eye} busy={read.isPending} onClick={() => read.mutate()}>
          {t('own.read')}
        </Button>
      </div>
      <FormError error={read.error} />
      {read.data && <Code label={t('own.readAnswer')} text={JSON.stringify(read.data.data, null, 2)} />}
    </div>
  );
}

function draftOf(resource: BuiltinResource | undefined) {
  const { uri = '', name = '', description = '', mimeType = '', content = '' } = resource ?? {};
  return { uri, name, description, mimeType, content };
}

/** `null` takes a member away. */
function sent({ uri, name, description, mimeType, content }: Readonly<Record<string, string>>): JsonObject {
  const orNull = (text = '') => (text.trim() === '' ? null : text);
  return {
    uri,
    content,
    name: orNull(name),
    description: orNull(description),
    mimeType: orNull(mimeType)?.trim() ?? null,
  };
}
