import { useMutation } from '@tanstack/react-query';
import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import { ask, pathOf } from '../../api/client.ts';
import type { GuardTried, JsonObject } from '../../api/types.ts';
import { objectIn } from '../../lib/json.ts';
import { Code } from '../../ui/copy.tsx';
import { DialogForm } from '../../ui/dialog-form.tsx';
import { Dialog } from '../../ui/dialog.tsx';
import { SelectField, TextAreaField, TextField } from '../../ui/field.tsx';

const samples = { call: '{ "email": "kim@example.com" }', result: '{ "content": [{ "type": "text", "text": "…" }] }' };

/** Asks a guard about a sample; nothing is called. */
export function TryGuard({ name, onClose }: { readonly name: string; readonly onClose: () => void }) {
  const { t } = useTranslation();
  const [on, setOn] = useState<'call' | 'result'>('call');
  const [typed, setTyped] = useState<string>();
  const [server, setServer] = useState('');
  const [tool, setTool] = useState('');
  const text = typed ?? samples[on];
  const { value, why } = objectIn(text);
  const asked = useMutation({
    mutationFn: (sample: JsonObject) =>
      ask<GuardTried>(`/guards${pathOf(name)}/try`, {
        method: 'POST',
        body: { on, server: server.trim(), tool: tool.trim(), sample },
      }),
  });
  const answer = asked.data?.data;
  /** An answer is about the sample that was sent. */
  const changed =
    <E,>(change: (event: E) => void) =>
    (event: E) => {
      change(event);
      asked.reset();
    };
  return (
    <Dialog open title={t('guards.try', { name })} description={t('guards.tryText')} onClose={onClose}>
      <DialogForm
        submit={t('guards.ask')}
        onSubmit={() => value && asked.mutate(value)}
        busy={asked.isPending}
        error={asked.error}
        known={[]}
        cancel={t('common.close')}
        onCancel={onClose}
      >
        <SelectField
          label={t('guards.looksAt')}
          value={on}
          onChange={changed((event) => setOn(event.target.value === 'result' ? 'result' : 'call'))}
          options={[
            { value: 'call', label: t('guards.calls') },
            { value: 'result', label: t('guards.results') },
          ]}
        />
        <div className="grid items-start gap-4 sm:grid-cols-2">
          <TextField
            label={t('guards.server')}
            optional
            spellCheck={false}
            autoCapitalize="none"
            value={server}
            onChange={changed((event) => setServer(event.target.value))}
          />
          <TextField
            label={t('guards.tool')}
            optional
            spellCheck={false}
            autoCapitalize="none"
            value={tool}
            onChange={changed((event) => setTool(event.target.value))}
          />
        </div>
        <TextAreaField
          code
          label={t('guards.sample')}
          error={why === undefined ? undefined : t('servers.form.jsonBad', { why })}
          rows={5}
          value={text}
          onChange={changed((event) => setTyped(event.target.value))}
        />
        {answer && (
          <section role="status" aria-label={t('guards.answer')} className="flex flex-col gap-2 text-sm">
            <p className={answer.decision === 'failed' ? 'text-bad' : 'font-medium'}>
              {t(`guards.decisions.${answer.decision}`)}
            </p>
            {answer.code && <p>{t(`guards.whys.${answer.code}`)}</p>}
            {answer.code === undefined && answer.message !== undefined && (
              <p className="wrap-anywhere">{answer.message}</p>
            )}
            {answer.changed && <Code label={t('guards.answer')} text={JSON.stringify(answer.changed, null, 2)} />}
          </section>
        )}
      </DialogForm>
    </Dialog>
  );
}
