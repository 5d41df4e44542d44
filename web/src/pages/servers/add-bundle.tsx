import { FileArchive } from 'lucide-react';
import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import { ApiError, ask } from '../../api/client.ts';
import type { RequiredConfig } from '../../api/types.ts';
import { useAction } from '../../lib/action.ts';
import { cx } from '../../lib/cx.ts';
import { Button } from '../../ui/button.tsx';
import { confirm } from '../../ui/confirm.tsx';
import { DialogBody, DialogFooter } from '../../ui/dialog.tsx';
import { Check, TextField } from '../../ui/field.tsx';
import { toast } from '../../ui/toast.tsx';
import { Problems } from './configuration.tsx';

interface Uploaded {
  readonly server: { readonly name: string };
  readonly requiredConfig: readonly RequiredConfig[];
}

interface Upload {
  readonly file: File;
  readonly values?: Readonly<Record<string, unknown>>;
  readonly replace?: boolean;
}

/** An MCPB bundle, dropped or chosen; then the values it asks for. */
export function AddBundle({ onClose }: { readonly onClose: () => void }) {
  const { t } = useTranslation();
  const [asking, setAsking] = useState<{ file: File; uploaded: Uploaded }>();
  const upload = useAction<Upload, { data: Uploaded }>({
    run: ({ file, values, replace = false }) => {
      const body = new FormData();
      if (values) body.append('userConfig', JSON.stringify(values));
      body.append('mcpbFile', file);
      return ask<Uploaded>(`/mcpb/upload${replace ? '?replace=true' : ''}`, { method: 'POST', body });
    },
    done: ({ data }, { file, values }) => {
      if (data.requiredConfig.length > 0 && !values) return setAsking({ file, uploaded: data });
      toast.good(t('servers.bundle.done', { name: data.server.name }));
      onClose();
    },
    quiet: true,
  });
  const take = (file: File) => {
    setAsking(undefined);
    upload.mutate({ file }, { onError: (error) => void replaceAfter(error, file) });
  };
  const replaceAfter = async (error: unknown, file: File) => {
    if (!(error instanceof ApiError) || error.status !== 409) return;
    const title = t('servers.bundle.replaceTitle', { name: file.name });
    const yes = await confirm({ title, text: t('servers.bundle.replaceText'), action: t('servers.bundle.replace') });
    if (yes) upload.mutate({ file, replace: true });
  };
  if (asking) {
    const { file, uploaded } = asking;
    return (
      <Values
        uploaded={uploaded}
        busy={upload.isPending}
        error={upload.error}
        onSave={(values) => upload.mutate({ file, values, replace: true })}
        onLater={() => {
          toast.good(t('servers.bundle.waiting', { name: uploaded.server.name }));
          onClose();
        }}
      />
    );
  }
  return (
    <>
      <DialogBody>
        <Drop busy={upload.isPending} onFile={take} />
        <Problems error={upload.error} known={[]} />
      </DialogBody>
      <DialogFooter>
        <Button onClick={onClose}>{t('common.cancel')}</Button>
      </DialogFooter>
    </>
  );
}

function Drop({ busy, onFile }: { readonly busy: boolean; readonly onFile: (file: File) => void }) {
  const { t } = useTranslation();
  const [over, setOver] = useState(false);
  const first = (files: FileList | null) => {
    const file = files?.[0];
    if (file) onFile(file);
  };
  return (
    <label
      onDragOver={(event) => {
        event.preventDefault();
        setOver(true);
      }}
      onDragLeave={() => setOver(false)}
      onDrop={(event) => {
        event.preventDefault();
        setOver(false);
        first(event.dataTransfer.files);
      }}
      className={cx(
        'flex cursor-pointer flex-col items-center gap-2 rounded-xl border-2 border-dashed px-6 py-12 text-center focus-within:outline-2',
        over ? 'border-accent bg-accent-wash' : 'border-edge',
        busy && 'animate-breathe',
      )}
    >
      <FileArchive size={26} aria-hidden className="text-soft" />
      <span className="text-sm font-medium">{t('servers.bundle.drop')}</span>
      <input
        type="file"
        accept=".mcpb,.dxt"
        className="sr-only"
        onChange={(event) => {
          first(event.target.files);
          event.target.value = '';
        }}
      />
    </label>
  );
}

function textOf(value: unknown): string {
  return typeof value === 'string' || typeof value === 'number' ? String(value) : '';
}

interface ValuesProps {
  readonly uploaded: Uploaded;
  readonly busy: boolean;
  readonly error: unknown;
  readonly onSave: (values: Readonly<Record<string, unknown>>) => void;
  readonly onLater: () => void;
}

/** The bundle's `user_config` as a form. */
function Values({ uploaded: { server, requiredConfig }, busy, error, onSave, onLater }: ValuesProps) {
  const { t } = useTranslation();
  const [values, setValues] = useState<Readonly<Record<string, unknown>>>(() =>
    Object.fromEntries(
      requiredConfig.map(({ key, type, default: first }) => [key, first ?? (type === 'boolean' ? false : '')]),
    ),
  );
  const set = (key: string, value: unknown) => setValues({ ...values, [key]: value });
  return (
    <form
      className="flex min-h-0 flex-1 flex-col"
      onSubmit={(event) => {
        event.preventDefault();
        onSave(Object.fromEntries(Object.entries(values).filter(([, value]) => value !== '')));
      }}
    >
      <DialogBody>
        <p className="font-medium">{t('servers.bundle.needs', { name: server.name })}</p>
        {requiredConfig.map(({ key, title, type, description, sensitive }) =>
          type === 'boolean' ? (
            <Check
              key={key}
              label={title}
              hint={description}
              checked={values[key] === true}
              onChange={(event) => set(key, event.target.checked)}
            />
          ) : (
            <TextField
              key={key}
              label={title}
              hint={description}
              required
              type={sensitive ? 'password' : type === 'number' ? 'number' : 'text'}
              autoComplete="off"
              step="any"
              value={textOf(values[key])}
              onChange={(event) => set(key, type === 'number' ? Number(event.target.value) : event.target.value)}
            />
          ),
        )}
        <Problems error={error} known={[]} />
      </DialogBody>
      <DialogFooter>
        <Button onClick={onLater}>{t('servers.bundle.later')}</Button>
        <Button look="primary" type="submit" busy={busy}>
          {t('servers.bundle.finish')}
        </Button>
      </DialogFooter>
    </form>
  );
}
