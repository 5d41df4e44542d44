import { useMutation, useQuery } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { useEffect, useState } from 'react';
import { useTranslation } from 'react-i18next';
import { ask } from '../../api/client.ts';
import { serverNamesQuery } from '../../api/queries.ts';
import type { ImportAnswer, ImportedServer } from '../../api/types.ts';
import { problemIn } from '../../i18n/hub-texts.ts';
import { useAction } from '../../lib/action.ts';
import { Badge } from '../../ui/badge.tsx';
import { Button } from '../../ui/button.tsx';
import { DialogBody, DialogFooter } from '../../ui/dialog.tsx';
import { Check, TextAreaField, TextField } from '../../ui/field.tsx';
import { toast } from '../../ui/toast.tsx';
import { many } from '../../lib/format.ts';
import { Problems } from '../../ui/failure.tsx';
import { freeName } from './asks.ts';
import { type Choices, isTaken, noChoices, turned, withValue } from './import-choices.ts';

interface AddPastedProps {
  readonly text: string;
  /** It was pasted elsewhere in the dialog, and is looked at without a click. */
  readonly isWhole: boolean;
  readonly onText: (text: string) => void;
  readonly onClose: () => void;
}

/** Servers out of what another client has, looked at and completed before they are added. */
export function AddPasted({ text, isWhole, onText, onClose }: AddPastedProps) {
  const { t } = useTranslation();
  const navigate = useNavigate();
  const [choices, setChoices] = useState<Choices>(noChoices);
  const look = useMutation({
    mutationFn: (text: string) => ask<ImportAnswer>('/servers/import?dryRun=true', { method: 'POST', body: { text } }),
    onSuccess: () => setChoices(noChoices),
  });
  const [whole] = useState(isWhole ? text : undefined);
  const { mutate } = look;
  useEffect(() => {
    if (whole !== undefined) mutate(whole);
  }, [whole, mutate]);
  const found = look.data?.data;
  const names = (found?.servers ?? []).filter((server) => isTaken(server, choices)).map(({ name }) => name);
  const add = useAction({
    run: () => {
      const { values } = choices;
      const rename = Object.fromEntries(Object.entries(choices.rename).map(([name, other]) => [name, other.trim()]));
      return ask<ImportAnswer>('/servers/import', { method: 'POST', body: { text, names, rename, values } });
    },
    done: ({ data: { servers } }) => {
      const made = servers.filter(({ status }) => status === 'created').map(({ name }) => name);
      toast.good(t('servers.paste.done', many(made.length)));
      const [first] = made;
      if (first !== undefined && made.length === 1) void navigate({ to: '/servers/$name', params: { name: first } });
      else void navigate({ to: '/servers', search: { made: made.join(',') } });
    },
    quiet: true,
  });
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
        {found && <Found answer={found} choices={choices} onChoose={setChoices} />}
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
  readonly choices: Choices;
  readonly onChoose: (choices: Choices) => void;
}

function Found({ answer: { format, servers, notes, problems }, choices, onChoose }: FoundProps) {
  const remarks = [...problems, ...notes].map((one) => `${one.path} ${problemIn(one) ?? one.message}`.trim());
  return (
    <div className="flex flex-col gap-2">
      <p className="text-soft text-xs">
        <Badge>{format}</Badge>
      </p>
      <ul className="border-line divide-line divide-y rounded-lg border">
        {servers.map((server) => (
          <li key={server.name} className="flex flex-col gap-2 px-3 py-2">
            <FoundServer server={server} choices={choices} onChoose={onChoose} />
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

interface FoundServerProps extends Omit<FoundProps, 'answer'> {
  readonly server: ImportedServer;
}

function FoundServer({ server, choices, onChoose }: FoundServerProps) {
  const { t } = useTranslation();
  const { name, status, config, requiredConfig } = server;
  const taken = isTaken(server, choices);
  const exists = status === 'exists';
  const rename = (to: string) => onChoose({ ...choices, rename: { ...choices.rename, [name]: to } });
  const free = useFreeName(name, exists);
  return (
    <>
      <Check
        label={<span className="font-medium">{name}</span>}
        aria-label={t('servers.paste.take', { name })}
        checked={taken}
        disabled={status === 'invalid' || (exists && !taken)}
        onChange={(event) => onChoose(turned(choices, name, event.target.checked))}
        hint={
          <>
            <code className="break-all">{summaryOf(config)}</code>
            {status === 'invalid' && <span className="text-bad block">{whyNot(server)}</span>}
          </>
        }
      />
      {exists && (
        <div className="flex flex-col items-start gap-2 pl-6">
          <TextField
            className="w-full"
            label={t('servers.paste.otherName')}
            hint={t('servers.paste.exists')}
            optional
            autoCapitalize="none"
            spellCheck={false}
            value={choices.rename[name] ?? ''}
            onChange={({ target: { value } }) => rename(value)}
          />
          {!taken && <Button onClick={() => rename(free)}>{t('servers.form.useName', { name: free })}</Button>}
        </div>
      )}
      {taken && requiredConfig.length > 0 && (
        <fieldset className="flex flex-col gap-2 pl-6">
          <legend className="text-soft mb-1 text-xs">{t('servers.paste.needs')}</legend>
          {requiredConfig.map(({ key, title, description, sensitive }) => (
            <TextField
              key={key}
              label={title || key}
              hint={description || undefined}
              optional
              type={sensitive ? 'password' : 'text'}
              autoComplete="off"
              value={choices.values[name]?.[key] ?? ''}
              onChange={({ target: { value } }) => onChoose(withValue(choices, name, key, value))}
            />
          ))}
        </fieldset>
      )}
    </>
  );
}

function useFreeName(name: string, isAsked: boolean): string {
  const { data: servers } = useQuery({ ...serverNamesQuery, enabled: isAsked });
  return freeName(name, new Set(servers?.map((server) => server.name)));
}

/** In the language of the page what has a name there, each value after its path; else the hub's own sentence. */
function whyNot({ errors = [], message }: ImportedServer): string {
  const words = errors.map((one) => problemIn(one));
  if (words.length === 0 || words.includes(undefined)) return message;
  return errors.map(({ path }, at) => `${path}: ${words[at]}`).join('; ');
}

/** Where it is, or what is started. */
function summaryOf(config: ImportedServer['config']): string {
  const { url, command, args } = config;
  if (typeof url === 'string') return url;
  const words = [command, ...(Array.isArray(args) ? (args as unknown[]) : [])];
  return words.filter((word) => typeof word === 'string').join(' ');
}
