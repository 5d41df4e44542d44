import { useQuery } from '@tanstack/react-query';
import { Scissors } from 'lucide-react';
import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import { toolUseQuery } from '../../api/records.ts';
import { ask, pathOf } from '../../api/client.ts';
import { queryClient, serverQuery } from '../../api/queries.ts';
import type { ServerDetails } from '../../api/types.ts';
import { useAction } from '../../lib/action.ts';
import { count } from '../../lib/format.ts';
import { problemAt } from '../../lib/problems.ts';
import { Button } from '../../ui/button.tsx';
import { FormError } from '../../ui/failure.tsx';
import { TextField } from '../../ui/field.tsx';
import { toast } from '../../ui/toast.tsx';
import { isLarge, offered, partsOf, withParts } from './parts.ts';

interface LargeResultsProps {
  readonly server: string;
  /** The server's own name of it. */
  readonly tool: string;
}

/** Results in parts (docs/large-results.md): offered where results were large, and shown where it is set. */
export function LargeResults({ server, tool }: LargeResultsProps) {
  const { t } = useTranslation();
  const { data: details } = useQuery(serverQuery(server));
  const { data: use } = useQuery(toolUseQuery(server, tool));
  const set = partsOf(details?.config, tool);
  const largest = Math.ceil((use?.groups?.[0]?.largest ?? 0) / 4);
  const [typed, setTyped] = useState<string>();
  const save = useParts(server, tool, () => setTyped(undefined));
  if (set === undefined && typed === undefined && !isLarge(largest)) return null;
  const text = typed ?? (set === undefined ? '' : String(set));
  return (
    <section aria-label={t('parts.title')} className="flex flex-col gap-2">
      <p className="text-sm font-medium">{t('parts.title')}</p>
      {isLarge(largest) && <p className="text-sm">{t('parts.were', { tokens: count(largest) })}</p>}
      {set === undefined && typed === undefined ? (
        <div>
          <Button icon={Scissors} onClick={() => setTyped(String(offered))}>
            {t('parts.offer')}
          </Button>
        </div>
      ) : (
        <form
          className="flex flex-wrap items-end gap-2"
          onSubmit={(event) => {
            event.preventDefault();
            if (!save.isPending) save.mutate(text === '' ? undefined : Number(text));
          }}
        >
          <TextField
            label={t('parts.most')}
            hint={t('parts.mostHint')}
            error={problemAt(save.error, 'maxResultTokens')}
            inputMode="numeric"
            value={text}
            onChange={(event) => setTyped(event.target.value.replace(/\D/g, ''))}
          />
          <Button type="submit" busy={save.isPending} disabled={typed === undefined}>
            {t('common.save')}
          </Button>
          {typed !== undefined && (
            <Button look="quiet" onClick={() => setTyped(undefined)}>
              {t('common.cancel')}
            </Button>
          )}
        </form>
      )}
      <FormError error={save.error} />
    </section>
  );
}

/** Sets the limit of one tool; undefined takes it away. */
function useParts(server: string, tool: string, onDone: () => void) {
  const { t } = useTranslation();
  return useAction<number | undefined>({
    quiet: true,
    run: (most) =>
      ask(`/servers${pathOf(server)}/tools${pathOf(tool)}/max-result-tokens`, {
        method: 'PUT',
        body: { maxResultTokens: most ?? null },
      }),
    done: (_, most) => {
      queryClient.setQueryData<ServerDetails>(
        serverQuery(server).queryKey,
        (old) => old?.config && { ...old, config: { ...old.config, tools: withParts(old.config, tool, most) } },
      );
      toast.good(t('common.saved'));
      onDone();
    },
  });
}
