import { useEffect, useRef } from 'react';
import { useTranslation } from 'react-i18next';
import { cx } from '../../lib/cx.ts';
import { Field } from '../../ui/field.tsx';
import { offsetOf, type TextProblem } from './problems.ts';

interface PolicyTextProps {
  readonly value: string;
  /** Undefined: it is only shown. */
  readonly onChange: ((text: string) => void) | undefined;
  /** The same list as long as it is about the same answer: the cursor goes to the first of another one. */
  readonly problems: readonly TextProblem[];
}

/** Of a line, in rem: the numbers beside the text stand at its lines. */
const lineHeight = 1.25;

/** A text of Cedar with the numbers of its lines. Tab leaves it, as any field. */
export function PolicyText({ value, onChange, problems }: PolicyTextProps) {
  const { t } = useTranslation();
  const numbers = useRef<HTMLDivElement>(null);
  const area = useRef<HTMLTextAreaElement>(null);
  useEffect(() => {
    const [first] = problems;
    if (!first || !area.current) return;
    const at = offsetOf(area.current.value, first);
    area.current.focus();
    area.current.setSelectionRange(at, at);
  }, [problems]);
  const count = value.split('\n').length;
  const error = problems.map((problem) => t('policies.problem', { ...problem })).join('\n');
  return (
    <Field
      label={t('policies.text')}
      hint={onChange && t('policies.textHint')}
      error={error === '' ? undefined : error}
      className="[&_p]:whitespace-pre-line"
    >
      {(bind) => (
        <div className="border-edge bg-raised has-focus-visible:outline-accent-ink flex overflow-hidden rounded-md border shadow-xs has-focus-visible:outline-2">
          <div
            aria-hidden
            className="bg-hover text-soft relative shrink-0 overflow-hidden"
            style={{ width: `${Math.max(2, String(count).length) + 1.5}ch` }}
          >
            <div ref={numbers} className="absolute inset-x-0 top-0 py-1.5 text-right font-mono text-xs leading-5">
              {problems.map(({ line }) => (
                <div
                  key={line}
                  className="bg-bad absolute inset-x-0 h-5 opacity-30"
                  style={{ top: `calc(0.375rem + ${(line - 1) * lineHeight}rem)` }}
                />
              ))}
              <div className="relative px-1 whitespace-pre">
                {Array.from({ length: count }, (_, index) => index + 1).join('\n')}
              </div>
            </div>
          </div>
          <textarea
            ref={area}
            rows={14}
            wrap="off"
            spellCheck={false}
            autoCapitalize="none"
            autoComplete="off"
            readOnly={!onChange}
            value={value}
            onChange={(event) => onChange?.(event.target.value)}
            onScroll={({ currentTarget }) => {
              if (numbers.current) numbers.current.style.transform = `translateY(${-currentTarget.scrollTop}px)`;
            }}
            className={cx(
              'text-ink min-w-0 flex-1 resize-y bg-transparent px-2 py-1.5 font-mono text-xs leading-5 outline-none',
              'pointer-coarse:text-sm pointer-coarse:leading-5',
            )}
            {...bind}
          />
        </div>
      )}
    </Field>
  );
}
