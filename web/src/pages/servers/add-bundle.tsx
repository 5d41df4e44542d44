import { FileArchive } from 'lucide-react';
import { useState } from 'react';
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
      const asks = Object.keys(data.manifest.user_config ?? {}).length > 0;
      if (asks && !values) return setAsking({ file, uploaded: data });
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
      <BundleValues
        uploaded={uploaded}
        busy={upload.isPending}
        error={upload.error}
        onSave={(values) => upload.mutate({ file, values, replace: true })}
        onLater={() => {
          const waits = uploaded.requiredConfig.length > 0;
          toast.good(t(waits ? 'servers.bundle.waiting' : 'servers.bundle.done', { name: uploaded.server.name }));
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
