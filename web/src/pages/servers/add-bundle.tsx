import { useNavigate } from '@tanstack/react-router';
import { FileArchive } from 'lucide-react';
import { useEffect, useEffectEvent, useState } from 'react';
import { useTranslation } from 'react-i18next';
import { ApiError, ask } from '../../api/client.ts';
import { useAction } from '../../lib/action.ts';
import { cx } from '../../lib/cx.ts';
import { Button } from '../../ui/button.tsx';
import { confirm } from '../../ui/confirm.tsx';
import { DialogBody, DialogFooter } from '../../ui/dialog.tsx';
import { toast } from '../../ui/toast.tsx';
import { BundleValues, type Uploaded } from './bundle-values.tsx';
import { Problems } from '../../ui/failure.tsx';

interface Upload {
  readonly file: File;
  readonly values?: Readonly<Record<string, unknown>>;
  readonly replace?: boolean;
}

interface AddBundleProps {
  /** It was dropped on the page already. */
  readonly file: File | undefined;
  readonly onClose: () => void;
}

/** An MCPB bundle, dropped or chosen; then the values it asks for. It leads to the server that it made. */
export function AddBundle({ file: dropped, onClose }: AddBundleProps) {
  const { t } = useTranslation();
  const navigate = useNavigate();
  const [asking, setAsking] = useState<{ file: File; uploaded: Uploaded }>();
  const upload = useAction<Upload, { data: Uploaded }>({
    run: ({ file, values, replace = false }) => {
      const body = new FormData();
      if (values) body.append('userConfig', JSON.stringify(values));
      body.append('mcpbFile', file);
      return ask<Uploaded>(`/mcpb/upload${replace ? '?replace=true' : ''}`, { method: 'POST', body });
    },
    done: ({ data }, { file, values }) => {
      const asks = Object.keys(data.manifest.user_config ?? {}).length > 0;
      if (asks && !values) return setAsking({ file, uploaded: data });
      show('servers.bundle.done', data.server.name);
    },
    quiet: true,
  });
  const show = (said: 'servers.bundle.done' | 'servers.bundle.waiting', name: string) => {
    toast.good(t(said, { name }));
    void navigate({ to: '/servers/$name', params: { name } });
  };
  const take = (file: File) => {
    setAsking(undefined);
    send(file);
  };
  const send = (file: File) => upload.mutate({ file }, { onError: (error) => void replaceAfter(error, file) });
  const replaceAfter = async (error: unknown, file: File) => {
    if (!(error instanceof ApiError) || error.status !== 409) return;
    const title = t('servers.bundle.replaceTitle', { name: file.name });
    const yes = await confirm({ title, text: t('servers.bundle.replaceText'), action: t('servers.bundle.replace') });
    if (yes) upload.mutate({ file, replace: true });
  };
  const takeDropped = useEffectEvent(() => {
    if (dropped) send(dropped);
  });
  useEffect(() => takeDropped(), []);
  if (asking) {
    const { file, uploaded } = asking;
    return (
      <BundleValues
        uploaded={uploaded}
        busy={upload.isPending}
        error={upload.error}
        onSave={(values) => upload.mutate({ file, values, replace: true })}
        onLater={() => {
          const waits = uploaded.requiredConfig.length > 0;
          show(waits ? 'servers.bundle.waiting' : 'servers.bundle.done', uploaded.server.name);
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
