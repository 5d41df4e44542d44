import { useMutation } from '@tanstack/react-query';
import { useEffect, useState } from 'react';
import { useTranslation } from 'react-i18next';
import { ask } from '../../api/client.ts';
import type { ImportAnswer, ImportedServer } from '../../api/types.ts';
import { useAction } from '../../lib/action.ts';
import { Badge } from '../../ui/badge.tsx';
import { Button } from '../../ui/button.tsx';
import { DialogBody, DialogFooter } from '../../ui/dialog.tsx';
import { Check, TextAreaField } from '../../ui/field.tsx';
import { toast } from '../../ui/toast.tsx';
import { many } from '../../lib/format.ts';
import { Problems } from '../../ui/failure.tsx';

interface AddPastedProps {
  readonly text: string;
  /** It was pasted elsewhere in the dialog, and is looked at without a click. */
  readonly isWhole: boolean;
  readonly onText: (text: string) => void;
  readonly onClose: () => void;
}

/** Servers out of what another client has, looked at before they are added. */
export function AddPasted({ text, isWhole, onText, onClose }: AddPastedProps) {
  const { t } = useTranslation();
  const [left, setLeft] = useState<ReadonlySet<string>>(new Set());
  const look = useMutation({
    mutationFn: (text: string) => ask<ImportAnswer>('/servers/import?dryRun=true', { method: 'POST', body: { text } }),
    onSuccess: () => setLeft(new Set()),
  });
  const [whole] = useState(isWhole ? text : undefined);
  const { mutate } = look;
  useEffect(() => {
    if (whole !== undefined) mutate(whole);
  }, [whole, mutate]);
  const found = look.data?.data;
  const names = (found?.servers ?? [])
    .filter(({ name, status }) => status === 'ready' && !left.has(name))
    .map(({ name }) => name);
  const add = useAction({
    run: () => ask('/servers/import', { method: 'POST', body: { text, names } }),
    done: () => {
      toast.good(t('servers.paste.done', many(names.length)));
      onClose();
    },
    quiet: true,
  });
  const turn = (name: string, take: boolean) => {
    const next = new Set(left);
    if (take) next.delete(name);
    else next.add(name);
    setLeft(next);
  };
  return (
    <>
      <DialogBody>
        <TextAreaField
          code
          autoFocus
          label={t('servers.paste.label')}
          hint={t('servers.paste.hint')}
          rows={8}
          value={text}
          onChange={(event) => {
            onText(event.target.value);
            look.reset();
            // What was pasted is whole: there is nothing to wait for.
            if ((event.nativeEvent as InputEvent).inputType === 'insertFromPaste') look.mutate(event.target.value);
          }}
        />
        <Problems error={look.error ?? add.error} known={[]} />
        {found && <Found answer={found} left={left} onTurn={turn} />}
      </DialogBody>
      <DialogFooter>
        <Button onClick={onClose}>{t('common.cancel')}</Button>
        {found ? (
          <Button look="primary" busy={add.isPending} disabled={names.length === 0} onClick={() => add.mutate()}>
            {t('servers.paste.add', many(names.length))}
          </Button>
        ) : (
          <Button look="primary" busy={look.isPending} disabled={text.trim() === ''} onClick={() => look.mutate(text)}>
            {t('servers.paste.look')}
          </Button>
        )}
      </DialogFooter>
    </>
  );
}

interface FoundProps {
  readonly answer: ImportAnswer;
  readonly left: ReadonlySet<string>;
  readonly onTurn: (name: string, take: boolean) => void;
}

function Found({ answer: { format, servers, notes, problems }, left, onTurn }: FoundProps) {
  const remarks = [...problems, ...notes].map(({ path, message }) => `${path} ${message}`.trim());
  return (
    <div className="flex flex-col gap-2">
      <p className="text-soft text-xs">
        <Badge>{format}</Badge>
      </p>
      <ul className="border-line divide-line divide-y rounded-lg border">
        {servers.map((server) => (
          <li key={server.name} className="px-3 py-2">
            <FoundServer server={server} taken={!left.has(server.name)} onTurn={(take) => onTurn(server.name, take)} />
          </li>
        ))}
      </ul>
      {remarks.length > 0 && (
        <ul className="text-warn list-disc pl-5 text-xs">
          {remarks.map((remark) => (
            <li key={remark}>{remark}</li>
          ))}
        </ul>
      )}
    </div>
  );
}

interface FoundServerProps {
  readonly server: ImportedServer;
  readonly taken: boolean;
  readonly onTurn: (take: boolean) => void;
}

function FoundServer({ server, taken, onTurn }: FoundServerProps) {
  const { t } = useTranslation();
  const { name, status, message, config, requiredConfig } = server;
  const ready = status === 'ready';
  return (
    <Check
      label={<span className="font-medium">{name}</span>}
      aria-label={t('servers.paste.take', { name })}
      checked={ready && taken}
      disabled={!ready}
      onChange={(event) => onTurn(event.target.checked)}
      hint={
        <>
          <code className="break-all">{summaryOf(config)}</code>
          {!ready && (
            <span className="text-bad block">{status === 'exists' ? t('servers.paste.exists') : message}</span>
          )}
          {requiredConfig.length > 0 && (
            <span className="text-warn block">
              {t('servers.paste.needs', { names: requiredConfig.map(({ key }) => key).join(', ') })}
            </span>
          )}
        </>
      }
    />
  );
}

/** Where it is, or what is started. */
function summaryOf(config: ImportedServer['config']): string {
  const { url, command, args } = config;
  if (typeof url === 'string') return url;
  const words = [command, ...(Array.isArray(args) ? (args as unknown[]) : [])];
  return words.filter((word) => typeof word === 'string').join(' ');
}
